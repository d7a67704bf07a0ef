"""The finding of a setting that differs between two recipes, always with the same evidence.

What belongs here: what every comparison of settings tells of the replay behind it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_modelreg.diagnose.inputs.finding import Residuals, describe_residual, make_finding
from pytest_modelreg.diagnose.inputs.sides import Sides
from pytest_modelreg.domain.cause import Cause, CauseFinding


def make_setting_finding(
    sides: Sides,
    cause: Cause,
    hypothesis: str,
    settings: Sequence[str],
    change: str,
    ratio: float | None,
    *,
    affected: list[str] | None = None,
    constants: Mapping[str, Any] | None = None,
) -> CauseFinding:
    """Return a finding; ``ratio`` is how many times more the other side's setting leaves."""
    samples = affected or list(sides.affected)
    made = [each.measure(samples) for each in sides.both]
    photos = f"{len(samples)} photo{'s' if len(samples) > 1 else ''}"
    if sides.group.n_points is not None:
        n_values = sum(sides.golden.side.pictures[sample].values.size for sample in samples)
        photos = f"{n_values} points of {photos}"
    after = max(made)
    return make_finding(
        sides.group,
        cause,
        f"{change}: replayed on {photos}, {settings[0]} gives the golden's inputs "
        f"{describe_residual(made[0])}, {settings[1]} gives today's {describe_residual(made[1])}",
        Residuals(
            before=sides.measure_gap(samples),
            after=after,
            runner_up=float("inf") if ratio is None else max(after, 1e-6) * ratio,
        ),
        hypothesis=hypothesis,
        expected=settings[0],
        actual=settings[1],
        affected=samples,
        constants={
            "replayed_expected": float(f"{made[0]:.3g}"),
            "replayed_actual": float(f"{made[1]:.3g}"),
            **(constants or {}),
        },
    )
