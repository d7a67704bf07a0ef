"""The interval that a share of successes supports."""

from __future__ import annotations

from math import sqrt

Z_95 = 1.959964
"""Quantile of the normal distribution that leaves 2.5 % above it, dimensionless."""


def compute_wilson(n_right: int, n_total: int, z: float = Z_95) -> tuple[float, float]:
    """Return the lower and upper end of Wilson's score interval, dimensionless, 0 to 1.

    Notes
    -----
    E. B. Wilson, Probable inference, the law of succession, and statistical inference,
    JASA 22 (1927); the form is that of Brown, Cai and DasGupta, Statistical Science 16 (2001).
    Without a trial nothing is known: 0 to 1.
    """
    if n_total == 0:
        return 0.0, 1.0
    share = n_right / n_total
    scale = 1 + z * z / n_total
    centre = (share + z * z / (2 * n_total)) / scale
    half = z * sqrt(share * (1 - share) / n_total + z * z / (4 * n_total * n_total)) / scale
    low = 0.0 if n_right == 0 else centre - half
    high = 1.0 if n_right == n_total else centre + half
    return low, high
