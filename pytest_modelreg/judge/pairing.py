"""Rows of one output, paired by what they belong to; rows of another shape left out and named.

Where all bytes are equal, nothing is opened. Of an output that belongs to a detection, rows with
another number of boxes are paired like all others: which boxes are compared is known by then.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pytest_modelreg.compare import BoxAgreement, RowPairs, Rows
from pytest_modelreg.domain.errors import JudgeError
from pytest_modelreg.domain.result import StructureFinding
from pytest_modelreg.judge.alignment import Alignment, name_some
from pytest_modelreg.judge.detection import MatchedDetection
from pytest_modelreg.judge.request import JudgeRequest
from pytest_modelreg.judge.sequences import PairedSequences
from pytest_modelreg.judge.sides import OutputSides, is_bit_identical
from pytest_modelreg.store import StoredOutput, open_output

IndexArray = npt.NDArray[np.int64]
MaskArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True, eq=False)
class PairedOutput(OutputSides):
    """One output whose structure lets it be measured.

    Parameters
    ----------
    row_names : tuple of str
        A name for every row that both sides have: sample ids, ``batch N``, or ``whole`` for what a
        test handed over as one value.
    rows : RowPairs
        The rows of every name.
    positions : ndarray of int64, axes (pair,)
        Place of each measured pair in ``row_names``; rows of other shape are left out.
    misshapen : tuple of int
        Places in ``row_names`` whose rows have another shape than the golden's.
    stored : pair of StoredOutput, or None
        Both sides, opened; None where the bytes are equal and nothing has to be read.
    detection : MatchedDetection or None
        What the output belongs to, if it holds a row a box.
    sequences : PairedSequences or None
        What the output belongs to, if it holds tokens or their scores.
    """

    row_names: tuple[str, ...]
    rows: RowPairs
    positions: IndexArray
    misshapen: tuple[int, ...]
    stored: tuple[StoredOutput, StoredOutput] | None
    detection: MatchedDetection | None = None
    sequences: PairedSequences | None = None

    @property
    def pairs(self) -> RowPairs:
        """The measured pairs."""
        return RowPairs(expected=self.rows.expected[self.positions], actual=self.rows.actual[self.positions])

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the measured pairs."""
        return tuple(self.row_names[at] for at in self.positions.tolist())

    def name_of(self, pair: int) -> str:
        """Return the name of one measured pair."""
        return self.row_names[int(self.positions[pair])]

    def place_of(self, pair: int, index: tuple[int, ...]) -> tuple[int, ...]:
        """Return where an element of a measured pair is in the expected row as it was recorded."""
        if self.detection is None or not index:
            return index
        row = int(self.pairs.expected[pair])
        return (self.detection.place_of(row, index[0]), *index[1:])

    @property
    def compared(self) -> tuple[Rows, Rows] | None:
        """Both sides as they are compared, boxes beside their partners; None where nothing is opened."""
        if self.stored is not None and self.sequences is not None and not self.sequences.is_plain:
            return self.sequences.view(self.path, self.stored)
        if self.stored is None or self.detection is None:
            return self.stored
        is_regular = not (self.expected.is_ragged or self.actual.is_ragged)
        if is_regular and self.detection.is_whole and self.expected.shape[1:] == self.actual.shape[1:]:
            return self.stored  # every box beside its partner already: rows need not be read one by one
        return self.detection.view(self.stored)

    @property
    def boxes(self) -> BoxAgreement | None:
        """How far the boxes of the measured pairs agree; None for what holds no boxes."""
        if self.detection is None or self.path != self.detection.group.boxes:
            return None
        return self.detection.agreement.take(self.positions)


def describe_shape(shape: tuple[int, ...]) -> str:
    """Return a shape as people write it; an axis in which rows differ is ``*``."""
    return str(shape).replace("-1", "*")


def pair_rows(
    request: JudgeRequest,
    alignment: Alignment,
    output: OutputSides,
    detection: MatchedDetection | None,
    sequences: PairedSequences | None = None,
) -> tuple[PairedOutput | None, list[StructureFinding]]:
    """Pair the rows of an output that both sides have, of one meaning and of dtypes that can be compared.

    Parameters
    ----------
    detection : MatchedDetection or None
        What the output belongs to, if it holds a row a box.
    sequences : PairedSequences or None
        What the output belongs to, if it holds tokens or their scores.

    Returns
    -------
    PairedOutput or None
        None where no row has the golden's shape.
    findings : list of StructureFinding
        Rows or whole outputs of another shape.

    Raises
    ------
    JudgeError
        If the golden does not hold a row a sample.
    """
    path, before, after = output.path, output.expected, output.actual
    names, pairs = alignment.common, alignment.pairs
    if before.per == "batch":
        names = tuple(f"batch {number}" for number in range(before.shape[0]))
        if request.is_handed_over:
            names = ("whole",)  # a test hands over everything at once
        pairs = RowPairs.same_order(before.shape[0])
    may_differ = detection is not None or sequences is not None
    misfit = _find_misfit(request, output, may_differ=may_differ)
    if misfit is not None:
        return None, [misfit]
    fits = np.ones(len(pairs), dtype=np.bool_)
    findings: list[StructureFinding] = []
    stored: tuple[StoredOutput, StoredOutput] | None = None
    is_in_place = alignment.is_same_order and (detection is None or detection.is_whole)
    if not (is_in_place and is_bit_identical(before, after)):
        stored = (
            open_output(request.golden_folder, before),
            open_output(request.observation_folder, after),
        )
        if detection is not None:
            fits = detection.find_fitting(stored)
        elif sequences is not None:
            fits = sequences.find_fitting(path, stored)
        else:
            fits = _find_fitting_rows(stored, pairs)
        if not fits.all():
            findings = [_describe_misshapen(path, stored, pairs, names, np.flatnonzero(~fits))]
        if len(fits) and not fits.any():
            return None, findings
    paired = PairedOutput(
        path=path,
        expected=before,
        actual=after,
        row_names=names,
        rows=pairs,
        positions=np.flatnonzero(fits),
        misshapen=tuple(np.flatnonzero(~fits).tolist()),
        stored=stored,
        detection=detection,
        sequences=sequences,
    )
    return paired, findings


def _find_misfit(request: JudgeRequest, output: OutputSides, *, may_differ: bool) -> StructureFinding | None:
    """Return what is wrong with the numbers of rows, or with the one shape that all rows have."""
    path, before, after = output.path, output.expected, output.actual
    if before.per == "sample" and before.shape[0] != len(request.golden.observation.samples):
        raise JudgeError(
            f"{request.case}: {path}: the golden holds {before.shape[0]} rows for "
            f"{len(request.golden.observation.samples)} samples; record it again"
        )
    n_expected = len(request.observation.samples) if before.per == "sample" else before.shape[0]
    is_regular = not (before.is_ragged or after.is_ragged or may_differ)
    if after.shape[0] == n_expected and not (is_regular and before.shape[1:] != after.shape[1:]):
        return None
    return StructureFinding(
        output=path,
        what="shape",
        expected=describe_shape((n_expected, *before.shape[1:])),
        actual=describe_shape(after.shape),
    )


def _find_fitting_rows(stored: tuple[StoredOutput, StoredOutput], pairs: RowPairs) -> MaskArray:
    """Return for every pair whether both rows have one shape."""
    expected, actual = stored
    if not (expected.is_ragged or actual.is_ragged):
        return np.ones(len(pairs), dtype=np.bool_)
    return np.array(
        [
            expected.row_shape(before) == actual.row_shape(after)
            for before, after in zip(pairs.expected.tolist(), pairs.actual.tolist(), strict=True)
        ],
        dtype=np.bool_,
    )


def _describe_misshapen(
    path: str,
    stored: tuple[StoredOutput, StoredOutput],
    pairs: RowPairs,
    names: tuple[str, ...],
    misshapen: IndexArray,
) -> StructureFinding:
    first = int(misshapen[0])
    expected, actual = stored
    shapes = expected.row_shape(int(pairs.expected[first])), actual.row_shape(int(pairs.actual[first]))
    return StructureFinding(
        output=path,
        what="row shape",
        expected=f"{shapes[0]} for {names[first]}",
        actual=f"{shapes[1]}; {len(misshapen)} of {len(pairs)} rows differ in shape: "
        f"{name_some([names[at] for at in misshapen.tolist()])}",
    )
