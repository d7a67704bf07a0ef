"""A cause with what was replayed to name it, always in the same fields.

What belongs here: building a :class:`CauseFinding` from a replay, and the words for residuals and
samples. The evidence's fields are those of :func:`make_finding`; what a hypothesis fitted goes into
``constants``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_modelreg.diagnose.inputs.pair import InputPair
from pytest_modelreg.diagnose.traits import find_common_trait
from pytest_modelreg.domain.cause import Cause, CauseFinding

N_LISTED = 20
"""Ids in the evidence: the others are counted."""

_MOST_CERTAIN = 0.99
_AT_POINTS = 0.9  # of the certainty with which whole inputs tell something
_WITHOUT_RIVAL = 0.7  # part of the certainty that does not depend on the runner-up


@dataclass(frozen=True, kw_only=True, eq=False)
class Group:
    """All pairs of one input of the model.

    Parameters
    ----------
    path : str
        The input, empty for a bare tensor.
    pairs : tuple of InputPair
        Every sample.
    affected : tuple of InputPair
        Those that differ.
    n_points : int or None
        How many values of the affected ones are compared, where the golden keeps no more; None where all are.
    """

    path: str
    pairs: tuple[InputPair, ...]
    affected: tuple[InputPair, ...]
    n_points: int | None = None

    @property
    def files(self) -> dict[str, Path]:
        """The samples' files by id, of those that are known."""
        return {pair.sample: pair.file for pair in self.pairs if pair.file is not None}


@dataclass(frozen=True, kw_only=True)
class Residuals:
    """How far the sides are apart before and after a change is undone: rel_l2, dimensionless.

    Parameters
    ----------
    before, after : float
        Without and with it undone.
    runner_up : float
        With the best other hypothesis instead; infinite without one.
    """

    before: float
    after: float
    runner_up: float = math.inf

    @property
    def explained(self) -> float:
        """The part that the change explains, 0 to 1."""
        if not self.before > 0.0 or math.isnan(self.after):
            return 0.0
        if math.isinf(self.before):
            return 1.0 - min(self.after, 1.0)
        return min(max(1.0 - self.after / self.before, 0.0), 1.0)

    @property
    def confidence(self) -> float:
        """How far the replay carries: less where another hypothesis does nearly as well."""
        rival = self.after / self.runner_up if self.runner_up > 0.0 else 1.0
        margin = 1.0 - min(rival, 1.0)
        return round(min(self.explained * (_WITHOUT_RIVAL + (1 - _WITHOUT_RIVAL) * margin), _MOST_CERTAIN), 3)


def make_finding(
    group: Group,
    cause: Cause,
    summary: str,
    residuals: Residuals,
    *,
    hypothesis: str,
    expected: Any,
    actual: Any,
    affected: Sequence[str] | None = None,
    confidence: float | None = None,
    constants: Mapping[str, Any] | None = None,
) -> CauseFinding:
    """Return a finding.

    Parameters
    ----------
    group : Group
        What it is about.
    residuals : Residuals
        Of the replay.
    hypothesis : str
        What was replayed.
    expected, actual : Any
        The setting on the golden's side and on this run's: builtins.
    affected : sequence of str, optional
        Samples that the change touches; all that differ, if not given.
    confidence : float, optional
        Instead of what the residuals say.
    constants : mapping, optional
        What was fitted: builtins.
    """
    samples = list(affected if affected is not None else (pair.sample for pair in group.affected))
    evidence: dict[str, Any] = {
        "hypothesis": hypothesis,
        "expected": expected,
        "actual": actual,
        "residual_before": round_number(residuals.before),
        "residual_after": round_number(residuals.after),
        "n_samples": len(group.pairs),
        "n_affected": len(samples),
        "samples": samples[:N_LISTED],
    }
    if math.isfinite(residuals.runner_up):
        evidence["residual_runner_up"] = round_number(residuals.runner_up)
    trait = find_common_trait(group.files, samples) if len(samples) < len(group.pairs) else None
    if trait:
        evidence["trait"] = trait
        only = f"the only sample with {trait} is" if len(samples) == 1 else f"only samples with {trait} are"
        summary += f"; {only} affected"
    if group.path:
        evidence["input"] = group.path
    if constants:
        evidence["constants"] = dict(constants)
    if confidence is None:
        confidence = residuals.confidence
    if group.n_points is not None:
        evidence["n_points"] = group.n_points
        confidence = round(_AT_POINTS * confidence, 3)
    return CauseFinding(
        cause=cause,
        confidence=confidence,
        summary=f"input {group.path}: {summary}" if group.path else summary,
        evidence=evidence,
    )


def round_number(value: float) -> float | str:
    """Return a number as evidence takes it: JSON has no infinity."""
    return float(f"{value:.4g}") if math.isfinite(value) else str(value)


def describe_residual(value: float) -> str:
    """Return how near a replay comes, as a sentence takes it: ``exactly``, ``to 0.1 %``."""
    if value <= 1e-6:
        return "exactly"
    return f"to {100 * value:.2g} %"


def describe_scope(group: Group) -> str:
    """Return on how many samples something was replayed, and at how many points."""
    n_affected, n_all = len(group.affected), len(group.pairs)
    if group.n_points is not None:
        return f"{group.n_points} points of {n_affected} {'sample' if n_affected == 1 else 'samples'}"
    noun = "sample" if n_affected == 1 else "samples"
    return (
        f"{n_affected} {noun}" if n_affected == n_all else f"the {n_affected} of {n_all} samples that differ"
    )
