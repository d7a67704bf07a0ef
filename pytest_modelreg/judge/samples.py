"""Samples one by one: which drifted, how far, and what each was and is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pytest_modelreg.compare import RowMeasures
from pytest_modelreg.domain.case import OutputSpec
from pytest_modelreg.domain.result import SampleResult
from pytest_modelreg.judge.kinds import KINDS
from pytest_modelreg.judge.output import OutputJudgement
from pytest_modelreg.judge.request import JudgeRequest

N_RENDERED = 20
"""Samples that hold are rendered too while they are among the worst this many."""

N_CHANGED_RENDERED = 1000
"""Samples that drifted or decide otherwise are rendered up to this many, so that a set of 50,000 of
which all drifted costs no more reading than anybody can read."""

N_FURTHER_DIGITS = 6

FloatArray = npt.NDArray[np.float64]
MaskArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True, eq=False)
class SampleStandings:
    """Where every common sample stands; every array has axes (sample,), in this run's order.

    Parameters
    ----------
    ids : tuple of str
        Common samples.
    has_drifted : bool
        Failed a per-sample check, a decision that was not tolerated, or has another shape.
    rel_l2 : float64
        Largest over outputs, dimensionless; infinite for rows of another shape.
    near_tie, has_flipped : bool
        Decisions that changed: within the near-tie bound, and beyond it.
    """

    ids: tuple[str, ...]
    has_drifted: MaskArray
    rel_l2: FloatArray
    near_tie: MaskArray
    has_flipped: MaskArray

    @property
    def drifted(self) -> tuple[str, ...]:
        """Ids of drifted samples, in this run's order."""
        return self._select(self.has_drifted)

    @property
    def near_ties(self) -> tuple[str, ...]:
        """Ids of samples with a near tie."""
        return self._select(self.near_tie)

    @property
    def tolerated_flips(self) -> tuple[str, ...]:
        """Ids of samples whose top class flipped within the limit of flips."""
        return self._select(self.has_flipped & ~self.has_drifted)

    def _select(self, mask: MaskArray) -> tuple[str, ...]:
        return tuple(self.ids[at] for at in np.flatnonzero(mask).tolist())


def rank_samples(ids: tuple[str, ...], judgements: Sequence[OutputJudgement]) -> SampleStandings:
    """Gather the standing of every sample over all outputs that hold a row a sample."""
    n_samples = len(ids)
    standings = SampleStandings(
        ids=ids,
        has_drifted=np.zeros(n_samples, dtype=np.bool_),
        rel_l2=np.zeros(n_samples),
        near_tie=np.zeros(n_samples, dtype=np.bool_),
        has_flipped=np.zeros(n_samples, dtype=np.bool_),
    )
    for judgement in _per_sample(judgements):
        at = judgement.paired.positions
        standings.has_drifted[at] |= judgement.failed
        standings.rel_l2[at] = np.maximum(standings.rel_l2[at], judgement.measured.rows.rel_l2)
        misshapen = list(judgement.paired.misshapen)
        standings.has_drifted[misshapen] = True
        standings.rel_l2[misshapen] = np.inf
        decisions = judgement.measured.decisions
        if decisions is not None:
            standings.near_tie[at] |= decisions.top1_near_tie | decisions.topk_near_tie
            standings.has_flipped[at] |= decisions.top1 == 0.0
    return standings


def describe_samples(
    request: JudgeRequest, standings: SampleStandings, judgements: Sequence[OutputJudgement]
) -> tuple[SampleResult, ...]:
    """Return every sample's result, worst first: failed before held, then by ``rel_l2``.

    Notes
    -----
    What a sample was and is gets rendered where it drifted, where a decision changed and for the
    worst few; for all others both texts are empty. See :data:`N_CHANGED_RENDERED`.
    """
    columns = [_Column(request, judgement, len(standings.ids)) for judgement in _per_sample(judgements)]
    order = np.lexsort((-standings.rel_l2, ~standings.has_drifted))
    results = []
    n_rendered = 0
    for rank, at in enumerate(order.tolist()):
        changed = standings.has_drifted[at] or standings.near_tie[at] or standings.has_flipped[at]
        expected = actual = ""
        if columns and (rank < N_RENDERED or (changed and n_rendered < N_CHANGED_RENDERED)):
            n_rendered += 1
            column = max(columns, key=lambda each: each.severity(at))
            expected, actual = column.render(at, is_named=len(columns) > 1)
        results.append(
            SampleResult(
                id=standings.ids[at],
                ok=not standings.has_drifted[at],
                rel_l2=float(standings.rel_l2[at]),
                expected=expected,
                actual=actual,
                near_tie=bool(standings.near_tie[at]),
                note=", ".join(_gather_notes(at, standings, columns)),
            )
        )
    return tuple(results)


class _Column:
    """One output, addressed by sample instead of by pair."""

    def __init__(self, request: JudgeRequest, judgement: OutputJudgement, n_samples: int) -> None:
        self._judgement = judgement
        self._spec = request.spec_of(judgement.paired.path)
        self._pair_of = np.full(n_samples, -1, dtype=np.int64)
        self._pair_of[judgement.paired.positions] = np.arange(len(judgement.paired.positions))

    def severity(self, at: int) -> tuple[bool, bool, float]:
        """Return what to prefer for showing a sample: failures, changed decisions, large ``rel_l2``."""
        pair = int(self._pair_of[at])
        if pair < 0:
            return True, False, np.inf
        decisions = self._judgement.measured.decisions
        has_changed = decisions is not None and bool(
            decisions.top1[pair] == 0.0 or decisions.top1_near_tie[pair] or decisions.topk_near_tie[pair]
        )
        rel_l2 = float(self._judgement.measured.rows.rel_l2[pair])
        return bool(self._judgement.failed[pair]), has_changed, rel_l2

    def note(self, at: int) -> str:
        """Return what is special about a sample's row."""
        pair = int(self._pair_of[at])
        return "other shape" if pair < 0 else _describe_finiteness(self._judgement.measured.rows, pair)

    def render(self, at: int, *, is_named: bool) -> tuple[str, str]:
        """Return what the sample was and is; empty where the bytes are equal and nothing was opened."""
        paired = self._judgement.paired
        if paired.stored is None:
            return "", ""
        expected_row = int(paired.rows.expected[at])
        actual_row = int(paired.rows.actual[at])
        texts = _render_pair(paired.stored[0].row(expected_row), paired.stored[1].row(actual_row), self._spec)
        prefix = f"{paired.path}: " if is_named else ""
        return prefix + texts[0], prefix + texts[1]


def _per_sample(judgements: Sequence[OutputJudgement]) -> list[OutputJudgement]:
    return [judgement for judgement in judgements if judgement.paired.actual.per == "sample"]


def _render_pair(
    expected: npt.NDArray[np.generic], actual: npt.NDArray[np.generic], spec: OutputSpec
) -> tuple[str, str]:
    """Render both sides with as few digits as show that they differ."""
    kind = KINDS[spec.kind]
    texts = ("", "")
    for digits in range(kind.digits, kind.digits + N_FURTHER_DIGITS):
        texts = (kind.render(expected, spec, digits), kind.render(actual, spec, digits))
        if texts[0] != texts[1]:
            break
    return texts


def _gather_notes(at: int, standings: SampleStandings, columns: Sequence[_Column]) -> list[str]:
    notes = list(dict.fromkeys(note for note in (column.note(at) for column in columns) if note))
    if standings.near_tie[at]:
        notes.append("near tie")
    if standings.has_flipped[at]:
        notes.append("top class flipped" if standings.has_drifted[at] else "top class flipped, tolerated")
    return notes


def _describe_finiteness(rows: RowMeasures, pair: int) -> str:
    if not rows.n_one_sided[pair]:
        return ""
    if rows.nan_actual[pair] > rows.nan_expected[pair]:
        return "new NaN"
    if rows.inf_actual[pair] > rows.inf_expected[pair]:
        return "new infinity"
    if rows.nan_actual[pair] < rows.nan_expected[pair]:
        return "NaN gone"
    return (
        "infinity gone" if rows.inf_actual[pair] < rows.inf_expected[pair] else "non-finite elements differ"
    )
