"""A check as asked for: a named measure with a limit. The measures live in ``judge``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pytest_modelreg.domain.output_path import find_entry

CHECK_NAMES = (
    "rel_l2",
    "max_abs",
    "mean_abs",
    "elementwise",
    "cosine",
    "snr_db",
    "exact",
    "kl",
    "top1_agreement",
    "topk_overlap",
    "negative_flips",
    "accuracy_drop",
    "rank_overlap",
    "iou_match",
    "label_agreement",
    "pixel_agreement",
    "miou",
)
"""Checks that this release applies, in the order in which reports list them."""

DEFAULT_CHECKS: Mapping[str, tuple[str, ...]] = {
    "tensor": ("rel_l2",),
    "regression": ("rel_l2",),
    "classification": ("rel_l2", "top1_agreement"),
    "embedding": ("rel_l2", "cosine", "rank_overlap"),
    "detection": ("rel_l2", "iou_match"),
    "multilabel": ("rel_l2", "label_agreement"),
    "segmentation": ("rel_l2", "pixel_agreement", "miou"),
    "tokens": ("rel_l2",),
}
"""Checks that an output gets without being asked for, by its kind.

``rel_l2`` stands for the check of values; where elements are integers that is ``exact``,
which only the dtype tells.
"""

KINDS = tuple(DEFAULT_CHECKS)
"""Output kinds that this release knows."""

CLASSIFICATION_ONLY = frozenset({"kl", "top1_agreement", "topk_overlap", "negative_flips", "accuracy_drop"})
"""Checks that need class scores."""

EMBEDDING_ONLY = frozenset({"rank_overlap"})
"""Checks that need vectors whose neighbours mean something."""

DETECTION_ONLY = frozenset({"iou_match"})
"""Checks that need boxes."""

MULTILABEL_ONLY = frozenset({"label_agreement"})
"""Checks that need a score a label."""

SEGMENTATION_ONLY = frozenset({"pixel_agreement", "miou"})
"""Checks that need a class a pixel."""

KINDS_OF_CHECK: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(CLASSIFICATION_ONLY, ("classification",)),
    **dict.fromkeys(EMBEDDING_ONLY, ("embedding",)),
    **dict.fromkeys(DETECTION_ONLY, ("detection",)),
    **dict.fromkeys(MULTILABEL_ONLY, ("multilabel",)),
    **dict.fromkeys(SEGMENTATION_ONLY, ("segmentation",)),
}
"""The kinds that a check needs, by its name; a check that is not listed fits every kind."""

BOUNDS = ("max", "min", "max_change")
"""What a check of the suite's own, a ``module:fn``, can be held against."""


def fits_kind(check: str, kind: str) -> bool:
    """Return whether a check, by name or as ``module:fn``, can be applied to outputs of a kind."""
    return kind in KINDS_OF_CHECK.get(check, (kind,))


def is_function(check: str) -> bool:
    """Return whether a check is one of the suite's own: a ``module:fn`` instead of a name."""
    return ":" in check


@dataclass(frozen=True, kw_only=True)
class Limit:
    """One check's limit on one output.

    Parameters
    ----------
    name : str
        One of :data:`CHECK_NAMES`, or the ``module:fn`` of a check of the suite's own.
    value : float or None
        The number after the check's name, in the check's own direction (``rel_l2`` at
        most, ``top1_agreement`` at least). None for checks without a single number
        (``exact``, ``elementwise``) and when only tags carry limits.
    tags : mapping of str to float
        Limits for samples with a tag, judged apart.
    rtol, atol : float or None
        Of ``elementwise`` only: ``|actual - expected| <= atol + rtol * |expected|``.
    bound : str or None
        Of a ``module:fn`` only, one of :data:`BOUNDS`: what ``value`` and ``tags`` limit.
    source : str
        Where the limit comes from, for the report: ``suite checks``,
        ``outputs.logits.checks``, ``dtype default``, ``kind default``.
    """

    name: str
    value: float | None = None
    tags: Mapping[str, float] = field(default_factory=dict)
    rtol: float | None = None
    atol: float | None = None
    bound: str | None = None
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
        For the outputs that the suite declares, by output path or pattern.
    default : OutputChecks
        For every other output the model returns; checks that need a kind are already left
        out of it.
    """

    by_output: Mapping[str, OutputChecks] = field(default_factory=dict)
    default: OutputChecks = field(default_factory=OutputChecks)

    def of(self, output: str) -> OutputChecks:
        """Return what is asked of the output at this path."""
        found = find_entry(output, self.by_output)
        return self.default if found is None else found
