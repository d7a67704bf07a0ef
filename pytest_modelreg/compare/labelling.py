"""Labels of many places at once: every pixel's class, every label of a sample that is on or off.

Here belongs how a row of scores or of labels is read as labels, and how far two such readings agree. How
much disagreement a suite tolerates is judged elsewhere. To add a way of reading, write a :class:`Reader`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from pytest_modelreg.compare.measures import CountArray, FloatArray, MaskArray, RowMeasures
from pytest_modelreg.compare.rows import Array, Band


@dataclass(frozen=True, kw_only=True, eq=False)
class Labelling:
    """How far the labels of paired rows agree; every array has axes (pair,).

    Parameters
    ----------
    agreement : float64
        Share of the places with the same label, near ties included; 1 where no place counts, NaN where
        a side alone is not finite.
    miou : float64
        Mean over the labels that either side has of intersection over union, near ties taken as the
        expected side has them; NaN as above.
    n_changed, n_near_ties : int64
        Places with another label, and those among them whose agreement is owed to the near-tie bound.
    n_places : int64
        Places that count.
    changed_from, changed_to : int64
        The most frequent change beyond near ties; -1 where there is none.
    """

    agreement: FloatArray
    miou: FloatArray
    n_changed: CountArray
    n_near_ties: CountArray
    n_places: CountArray
    changed_from: CountArray
    changed_to: CountArray

    @classmethod
    def of_equal_rows(cls, n_pairs: int) -> Labelling:
        """Return full agreement, to be filled in."""
        return cls(
            agreement=np.ones(n_pairs),
            miou=np.ones(n_pairs),
            n_changed=np.zeros(n_pairs, dtype=np.int64),
            n_near_ties=np.zeros(n_pairs, dtype=np.int64),
            n_places=np.zeros(n_pairs, dtype=np.int64),
            changed_from=np.full(n_pairs, -1, dtype=np.int64),
            changed_to=np.full(n_pairs, -1, dtype=np.int64),
        )

    @property
    def near_tie(self) -> MaskArray:
        """Rows that agree in some place only by the near-tie bound, axes (pair,)."""
        near: MaskArray = self.n_near_ties > 0
        return near


class Reader(Protocol):
    """One way of reading a row as labels."""

    def read(self, row: Array) -> CountArray:
        """Return the label of every place, int64, axes (place,)."""
        ...

    def find_near_ties(self, row: Array, before: CountArray, after: CountArray) -> MaskArray:
        """Return which changed places are near ties on the expected side, axes (place,).

        Parameters
        ----------
        row : ndarray
            The expected row in its own shape.
        before, after : ndarray of int64, axes (place,)
            Labels of either side.
        """
        ...


@dataclass(frozen=True, kw_only=True)
class ThresholdReader:
    """Every element is a place: label 1 from the threshold up, else 0.

    Parameters
    ----------
    threshold : float
        In the scores' own unit.
    epsilon : float
        Relative error that counts as noise, dimensionless.
    is_local : bool
        Whether noise is taken to be spread evenly over the places, as over an image's pixels.

    Notes
    -----
    A flip is a near tie when abs(expected - threshold) <= epsilon * norm(expected): a noise vector of norm
    epsilon * norm(expected) moves one element by at most that. Of an image, where that norm is over all
    pixels, the bound is epsilon * max(abs(expected), RMS of the row): noise that no pixel has more of than
    its share.
    """

    threshold: float
    epsilon: float
    is_local: bool = False

    def read(self, row: Array) -> CountArray:
        """Return 1 from the threshold up."""
        return (row.reshape(-1) >= self.threshold).astype(np.int64)

    def find_near_ties(self, row: Array, before: CountArray, after: CountArray) -> MaskArray:
        """Return the flips that are no farther from the threshold than noise."""
        scores = row.reshape(-1).astype(np.float64)
        finite = np.where(np.isfinite(scores), scores, 0.0)
        norm = float(np.linalg.norm(finite))
        bound: FloatArray | float = self.epsilon * norm
        if self.is_local:
            bound = self.epsilon * np.maximum(np.abs(finite), norm / math.sqrt(max(1, scores.size)))
        near: MaskArray = (before != after) & (np.abs(scores - self.threshold) <= bound)
        return near


@dataclass(frozen=True, kw_only=True)
class ArgmaxReader:
    """A row holds scores, axes (class, *place): the highest decides, of equal ones the first.

    Notes
    -----
    A flip from a to b is a near tie when e_a - e_b <= sqrt(2) * epsilon * max(norm(e), RMS over the places
    of norm(e)), e the scores of the place: the bound of :class:`~.decisions.ScoreObserver`, for noise that
    no place has more of than its share. The floor keeps places whose scores are all near zero from being
    held to a noise below that of their neighbours.
    """

    epsilon: float

    def read(self, row: Array) -> CountArray:
        """Return the class with the highest score."""
        labels: CountArray = row.reshape(row.shape[0], -1).argmax(axis=0)
        return labels

    def find_near_ties(self, row: Array, before: CountArray, after: CountArray) -> MaskArray:
        """Return the flips whose two scores are no farther apart than noise."""
        scores = row.reshape(row.shape[0], -1)
        near: MaskArray = np.zeros(len(before), dtype=np.bool_)
        changed = np.flatnonzero(before != after)
        if not len(changed):
            return near
        squares = np.einsum("ij,ij->j", scores, scores, dtype=np.float64)
        norms = np.sqrt(np.where(np.isfinite(squares), squares, 0.0))
        typical = float(np.sqrt(np.mean(np.square(norms))))
        higher, lower = scores[before[changed], changed], scores[after[changed], changed]
        margins = np.where(higher == lower, 0.0, np.subtract(higher, lower, dtype=np.float64))
        near[changed] = margins <= math.sqrt(2.0) * self.epsilon * np.maximum(norms[changed], typical)
        return near


@dataclass(frozen=True, kw_only=True)
class MaskReader:
    """Every element is the label itself; labels know no near ties."""

    def read(self, row: Array) -> CountArray:
        """Return the elements as they are."""
        return row.reshape(-1).astype(np.int64)

    def find_near_ties(self, row: Array, before: CountArray, after: CountArray) -> MaskArray:
        """Return none."""
        return np.zeros(len(before), dtype=np.bool_)


class LabelObserver:
    """Reads labels off every band of a comparison.

    Parameters
    ----------
    n_pairs : int
        Pairs of rows.
    reader : Reader
        How rows are read.
    ignored : int or None
        Label of places on the expected side that do not count.
    """

    def __init__(self, n_pairs: int, *, reader: Reader, ignored: int | None = None) -> None:
        self._reader = reader
        self._ignored = ignored
        self.labelling = Labelling.of_equal_rows(n_pairs)

    def observe(self, band: Band, rows: RowMeasures) -> None:
        """Label the rows of one band; equal rows are labelled alike and are not looked at."""
        undecided = rows.n_one_sided[band.pairs] > 0
        self.labelling.agreement[band.pairs][undecided] = np.nan
        self.labelling.miou[band.pairs][undecided] = np.nan
        for at in np.flatnonzero(~undecided & (rows.max_abs[band.pairs] > 0.0)).tolist():
            expected = band.expected[at].reshape(band.row_shape)
            self._label(expected, band.actual[at].reshape(band.row_shape), band.start + at)

    def _label(self, expected: Array, actual: Array, pair: int) -> None:
        found = self.labelling
        before, after = self._reader.read(expected), self._reader.read(actual)
        near = self._reader.find_near_ties(expected, before, after)
        if self._ignored is not None:
            counted = before != self._ignored
            before, after, near = before[counted], after[counted], near[counted]
        changed = before != after
        found.n_places[pair] = len(before)
        found.n_changed[pair] = np.count_nonzero(changed)
        found.n_near_ties[pair] = np.count_nonzero(near)
        after = np.where(near, before, after)
        clear = np.flatnonzero(before != after)
        if len(clear):
            found.agreement[pair] = 1.0 - len(clear) / len(before)
            found.miou[pair] = compute_miou(before, after)
            moves, counts = np.unique(np.stack([before[clear], after[clear]]), axis=1, return_counts=True)
            found.changed_from[pair], found.changed_to[pair] = moves[:, counts.argmax()]


def compute_miou(expected: CountArray, actual: CountArray) -> float:
    """Return the mean over labels of intersection over union, dimensionless.

    Parameters
    ----------
    expected, actual : ndarray of int64, axes (place,)
        Labels, at least one place.

    Notes
    -----
    Over the labels that either side has: a label that one side lacks counts as 0.
    """
    labels, inverse = np.unique(np.concatenate([expected, actual]), return_inverse=True)
    inverse = inverse.reshape(-1)
    before, after = inverse[: len(expected)], inverse[len(expected) :]
    size = len(labels)
    shared = np.bincount(before[before == after], minlength=size)
    union = np.bincount(before, minlength=size) + np.bincount(after, minlength=size) - shared
    return float(np.mean(shared / union))
