"""Ties put in another order: integers that only changed places among entries that score alike.

A sort leaves open which of two equal scores comes first, so that indices (``topk``, ``argsort``)
swap where the scores beside them do not say which is right. The integers did change, and whoever
reads the first one gets another answer: it stays a drift, with its reason.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pytest_modelreg.compare import compute_norm
from pytest_modelreg.judge.defaults import is_exact, is_floating
from pytest_modelreg.judge.output import OutputJudgement
from pytest_modelreg.judge.request import JudgeRequest
from pytest_modelreg.judge.standings import per_sample
from pytest_modelreg.store import open_output

Array = npt.NDArray[Any]


@dataclass(frozen=True, kw_only=True)
class TieOrder:
    """One output whose whole difference is the order of ties.

    Parameters
    ----------
    output : str
        Path of the integers.
    scores : str
        Path of the output that holds the swapped entries equal.
    samples : tuple of str
        Whose integers changed places.
    n_swapped : int
        Entries that changed places, over all samples.
    """

    output: str
    scores: str
    samples: tuple[str, ...]
    n_swapped: int


def find_tie_orders(request: JudgeRequest, judgements: Sequence[OutputJudgement]) -> tuple[TieOrder, ...]:
    """Return the outputs that drifted by the order of ties and by nothing else."""
    orders = []
    for judgement in per_sample(judgements):
        if not judgement.has_drifted or not _holds_places(judgement.paired.expected.dtype):
            continue
        for scores in per_sample(judgements):
            found = (
                _explain(request, judgement, scores) if is_floating(scores.paired.expected.dtype) else None
            )
            if found is not None:
                orders.append(found)
                break
    return tuple(orders)


def _holds_places(dtype: str) -> bool:
    return is_exact(dtype) and dtype != "bool"


def _explain(request: JudgeRequest, places: OutputJudgement, scores: OutputJudgement) -> TieOrder | None:
    """Explain every changed row of the integers by ties of the scores; None where one is left over."""
    paired = places.paired
    if paired.stored is None or paired.misshapen or places.measured.rows.n_one_sided.any():
        return None
    changed = np.flatnonzero(places.measured.rows.n_mismatched > 0)
    pair_of = {at: pair for pair, at in enumerate(scores.paired.positions.tolist())}
    golden = open_output(request.golden_folder, scores.paired.expected)
    n_swapped = 0
    for pair in changed.tolist():
        at = int(paired.positions[pair])
        beside = pair_of.get(at)
        # Scores that drifted themselves say that more happened than a sort that chose otherwise.
        if beside is None or scores.failed[beside]:
            return None
        row = golden.row(int(scores.paired.rows.expected[at]))
        before = paired.stored[0].row(int(paired.rows.expected[at]))
        after = paired.stored[1].row(int(paired.rows.actual[at]))
        bound = math.sqrt(2.0) * scores.plan.epsilon * compute_norm(row)
        if row.shape != before.shape or not are_swapped_ties(before, after, row, bound):
            return None
        n_swapped += int(np.count_nonzero(before != after))
    if not n_swapped:
        return None
    return TieOrder(
        output=paired.path,
        scores=scores.paired.path,
        samples=tuple(paired.name_of(pair) for pair in changed.tolist()),
        n_swapped=n_swapped,
    )


def are_swapped_ties(expected: Array, actual: Array, scores: Array, bound: float) -> bool:
    """Return whether integers only changed places among entries with equal scores.

    Parameters
    ----------
    expected, actual : ndarray of integers
        One row of either side.
    scores : ndarray of floating numbers
        The golden's scores of the same entries.
    bound : float
        Difference up to which two scores are equal, the scores' unit.

    Notes
    -----
    Every integer has to occur as often as before, and its places, sorted by score, have to lie
    within the bound of the places it had: of all ways to match places this one has the smallest
    largest distance. Where a sort was cut off, the last place can also go to an entry that was not
    listed at all: whatever is there scores as before.
    """
    before, after = expected.reshape(-1), actual.reshape(-1)
    values = scores.reshape(-1).astype(np.float64)
    return _are_permuted(before, after, values, bound) or _trade_at_the_end(before, after, values, bound)


def _are_permuted(before: Array, after: Array, values: npt.NDArray[np.float64], bound: float) -> bool:
    """Whether every integer stays among the entries that score alike; all arrays have axes (entry,)."""
    changed = np.flatnonzero(before != after)
    before, after, values = before[changed], after[changed], values[changed]
    left, arrived = np.lexsort((values, before)), np.lexsort((values, after))
    if not np.array_equal(before[left], after[arrived]):
        return False
    return bool(_are_equal(values[left], values[arrived], bound).all())


def _trade_at_the_end(before: Array, after: Array, values: npt.NDArray[np.float64], bound: float) -> bool:
    """Whether, beside permuted ties, entries that score as the last one gave way to others.

    The newcomers score as little as the last one, or the scores themselves would have drifted. What
    moved down from further up would be missed there.
    """
    with np.errstate(invalid="ignore"):
        is_sorted = not (np.diff(values) > 0).any()
    if values.size < 2 or not is_sorted:
        return False  # the last one is not the least
    is_last = _are_equal(values, np.full_like(values, values[-1]), bound)
    if is_last.all() or len(set(after.tolist())) != after.size:
        return False
    return _are_permuted(before[~is_last], after[~is_last], values[~is_last], bound)


def _are_equal(
    first: npt.NDArray[np.float64], second: npt.NDArray[np.float64], bound: float
) -> npt.NDArray[np.bool_]:
    """Return which scores are equal within the bound; equal infinities are, NaN is equal to nothing."""
    with np.errstate(invalid="ignore"):
        equal: npt.NDArray[np.bool_] = (np.abs(first - second) <= bound) | (first == second)
    return equal
