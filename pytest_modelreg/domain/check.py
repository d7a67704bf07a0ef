"""A check as asked for: a named measure with a limit. The measures live in ``judge``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

CHECK_NAMES = (
    "rel_l2",
    "max_abs",
    "mean_abs",
    "elementwise",
    "cosine",
    "exact",
    "top1_agreement",
    "topk_overlap",
)
"""Checks that this release applies, in the order in which reports list them."""

DEFAULT_CHECKS: Mapping[str, tuple[str, ...]] = {
    "tensor": ("rel_l2",),
    "regression": ("rel_l2",),
    "classification": ("rel_l2", "top1_agreement"),
}
"""Checks that an output gets without being asked for, by its kind.

``rel_l2`` stands for the check of values; where elements are integers that is ``exact``,
which only the dtype tells.
"""

KINDS = tuple(DEFAULT_CHECKS)
"""Output kinds that this release knows."""

CLASSIFICATION_ONLY = frozenset({"top1_agreement", "topk_overlap"})
"""Checks that need class scores."""


@dataclass(frozen=True, kw_only=True)
class Limit:
    """One check's limit on one output.

    Parameters
    ----------
    name : str
        One of :data:`CHECK_NAMES`.
    value : float or None
        The number after the check's name, in the check's own direction (``rel_l2`` at
        most, ``top1_agreement`` at least). None for checks without a single number
        (``exact``, ``elementwise``) and when only tags carry limits.
    tags : mapping of str to float
        Limits for samples with a tag, judged apart.
    rtol, atol : float or None
        Of ``elementwise`` only: ``|actual - expected| <= atol + rtol * |expected|``.
    source : str
        Where the limit comes from, for the report: ``suite checks``,
        ``outputs.logits.checks``, ``dtype default``, ``kind default``.
    """

    name: str
    value: float | None = None
    tags: Mapping[str, float] = field(default_factory=dict)
    rtol: float | None = None
    atol: float | None = None
    source: str


@dataclass(frozen=True, kw_only=True)
class OutputChecks:
    """What a suite asks of one output, before the dtype's defaults are known.

    Parameters
    ----------
    limits : tuple of Limit
        Written in the suite, narrowest scope already chosen, by name.
    off : frozenset of str
        Checks switched off, defaults included.
    """

    limits: tuple[Limit, ...] = ()
    off: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True)
class CheckPlan:
    """What a case asks of all its outputs.

    Parameters
    ----------
    by_output : mapping of str to OutputChecks
        For the outputs that the suite declares.
    default : OutputChecks
        For every other output the model returns; checks that need class scores are
        already left out of it.
    """

    by_output: Mapping[str, OutputChecks] = field(default_factory=dict)
    default: OutputChecks = field(default_factory=OutputChecks)

    def of(self, output: str) -> OutputChecks:
        """Return what is asked of the output at this path."""
        return self.by_output.get(output, self.default)
