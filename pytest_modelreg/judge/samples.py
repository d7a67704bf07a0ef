"""Samples worth a line, one by one: how far each drifted, and what it was and is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from pytest_modelreg.compare import RowMeasures
from pytest_modelreg.domain.case import OutputSpec
from pytest_modelreg.domain.result import SampleResult
from pytest_modelreg.judge.detection import MOST_WITHOUT_PARTNER
from pytest_modelreg.judge.kinds import KINDS
from pytest_modelreg.judge.labelling import describe_labelling
from pytest_modelreg.judge.output import OutputJudgement
from pytest_modelreg.judge.request import JudgeRequest
from pytest_modelreg.judge.standings import SampleStandings, per_sample

N_LISTED = 20
"""Samples that hold are listed too while they are among the worst this many."""

N_CHANGED_RENDERED = 1000
"""Samples that drifted or decide otherwise are rendered up to this many, so that a set of 50,000 of
which all drifted costs no more reading than anybody can read."""

N_FURTHER_DIGITS = 6


def describe_samples(
    request: JudgeRequest,
    standings: SampleStandings,
    judgements: Sequence[OutputJudgement],
    *,
    unfit: Mapping[str, str],
    has_drifted: bool,
) -> tuple[SampleResult, ...]:
    """Return the results of samples worth a line, worst first: failed before held, then by ``rel_l2``.

    Parameters
    ----------
    unfit : mapping of str to str
        Output paths of which every row has another shape or dtype than the golden's, and which
        of both it is.
    has_drifted : bool
        Whether the case did.

    Notes
    -----
    Listed are all that drifted or decide otherwise, and of the others as many as fill up
    :data:`N_LISTED`. What a sample was and is gets rendered where it is listed for a change of its own
    (up to :data:`N_CHANGED_RENDERED`), and among the worst of a case that drifted; otherwise both texts
    are empty: nobody reads them, and reading rows of a large golden costs more than judging them.
    """
    changed = standings.has_changed
    order = np.lexsort((-standings.rel_l2, ~standings.has_drifted))
    listed = order[(np.arange(len(order)) < N_LISTED) | changed[order]]
    columns: list[_Column] = []
    if has_drifted or changed.any():
        columns = [_Column(request, judgement, len(standings.ids)) for judgement in per_sample(judgements)]
    results = []
    n_rendered = 0
    for rank, at in enumerate(listed.tolist()):
        expected = actual = ""
        if (has_drifted and rank < N_LISTED) or (changed[at] and n_rendered < N_CHANGED_RENDERED):
            n_rendered += 1
            expected, actual = _render_worst(columns, at, unfit)
        results.append(
            SampleResult(
                id=standings.ids[at],
                ok=not standings.has_drifted[at],
                rel_l2=float(standings.rel_l2[at]),
                expected=expected,
                actual=actual,
                near_tie=bool(standings.near_tie[at]),
                note=", ".join(_gather_notes(at, standings, columns, unfit)) if changed[at] else "",
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
        measured = self._judgement.measured
        decisions, neighbours = measured.decisions, measured.neighbours
        has_changed = decisions is not None and bool(
            decisions.top1[pair] == 0.0 or decisions.top1_near_tie[pair] or decisions.topk_near_tie[pair]
        )
        has_changed |= neighbours is not None and bool(neighbours.near_tie[pair])
        has_changed |= measured.boxes is not None and bool(measured.boxes.near_tie[pair])
        has_changed |= measured.labelling is not None and bool(measured.labelling.n_changed[pair])
        rel_l2 = float(measured.rows.rel_l2[pair])
        if measured.boxes is not None and measured.boxes.overlap[pair] <= MOST_WITHOUT_PARTNER:
            rel_l2 = np.inf  # a box that is gone says more than how far the others moved
        return bool(self._judgement.failed[pair]), has_changed, rel_l2

    def note(self, at: int) -> str:
        """Return what is special about a sample's row."""
        pair = int(self._pair_of[at])
        if pair < 0:
            return "other shape"
        measured = self._judgement.measured
        finiteness = _describe_finiteness(measured.rows, pair)
        paired = self._judgement.paired
        if paired.sequences is not None and paired.path == paired.sequences.tokens and paired.stored:
            return paired.sequences.describe(at, paired.stored)
        if measured.labelling is not None:
            labels = describe_labelling(measured.labelling, pair, self._spec)
            return "; ".join(text for text in (labels, finiteness) if text)
        if measured.neighbours is not None and measured.neighbours.overlap[pair] < 1.0:
            return "; ".join(text for text in ("other neighbours", finiteness) if text)
        detection = self._judgement.paired.detection
        if detection is None or self._judgement.measured.boxes is None:
            return finiteness
        return "; ".join(text for text in (detection.describe(at), finiteness) if text)

    def render(self, at: int, *, is_named: bool) -> tuple[str, str]:
        """Return what the sample was and is; empty where the bytes are equal and nothing was opened."""
        paired = self._judgement.paired
        if paired.compared is None:
            return "", ""
        detection, name, spec = paired.detection, paired.path, self._spec
        if detection is not None and paired.path in detection.group.deciding and self._pair_of[at] >= 0:
            # A score says something beside its box only.
            name, spec = detection.group.boxes, detection.group.spec
            expected, actual = detection.arrange(at)
        else:
            expected = paired.compared[0].row(int(paired.rows.expected[at]))
            actual = paired.compared[1].row(int(paired.rows.actual[at]))
        texts = _render_pair(expected, actual, spec)
        prefix = f"{name}: " if is_named else ""
        return prefix + texts[0], prefix + texts[1]


def _render_worst(columns: Sequence[_Column], at: int, unfit: Mapping[str, str]) -> tuple[str, str]:
    """Render the output in which a sample changed most; none where only the structure did."""
    if not columns:
        return "", ""
    column = max(columns, key=lambda each: each.severity(at))
    if unfit and not column.severity(at)[0]:
        return "", ""
    return column.render(at, is_named=len(columns) + len(unfit) > 1)


def _render_pair(
    expected: npt.NDArray[np.generic], actual: npt.NDArray[np.generic], spec: OutputSpec
) -> tuple[str, str]:
    """Render both sides with as few digits as show that they differ."""
    kind = KINDS[spec.kind]
    if expected.shape == actual.shape and expected.tobytes() == actual.tobytes():
        text = kind.render(expected, spec, kind.digits)
        return text, text
    texts = ("", "")
    for digits in range(kind.digits, kind.digits + N_FURTHER_DIGITS):
        texts = (kind.render(expected, spec, digits), kind.render(actual, spec, digits))
        if texts[0] != texts[1]:
            break
    return texts


def _gather_notes(
    at: int, standings: SampleStandings, columns: Sequence[_Column], unfit: Mapping[str, str]
) -> list[str]:
    notes = [f"{path}: other {what}" for path, what in unfit.items()]
    notes += dict.fromkeys(note for note in (column.note(at) for column in columns) if note)
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
