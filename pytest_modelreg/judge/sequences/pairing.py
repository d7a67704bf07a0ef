"""The token sequences of all samples of a case, side by side."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import numpy.typing as npt

from pytest_modelreg.compare import RowPairs, Rows
from pytest_modelreg.domain.case import OutputSpec
from pytest_modelreg.domain.output_path import find_entry
from pytest_modelreg.judge.alignment import Alignment
from pytest_modelreg.judge.limits import choose_epsilon, find_default
from pytest_modelreg.judge.request import JudgeRequest
from pytest_modelreg.judge.sequences.parting import Parting, find_parting, is_near_tie, name_token
from pytest_modelreg.judge.sequences.rows import SequenceRows
from pytest_modelreg.judge.sequences.scores import find_scores, is_of_tokens
from pytest_modelreg.judge.sides import OutputSides, is_bit_identical
from pytest_modelreg.store import StoredOutput, open_output

MaskArray = npt.NDArray[np.bool_]


class PairedSequences:
    """The token sequences of one output, and the scores that they were chosen by.

    Made by :func:`pair_sequences`; pairs are those of the alignment.
    """

    def __init__(self, tokens: str, spec: OutputSpec, scores: str | None, pairs: RowPairs) -> None:
        self.tokens = tokens
        self.spec = spec
        self.scores = scores
        self._pairs = pairs
        self._partings: dict[int, Parting] = {}
        self._fits: MaskArray = np.ones(len(pairs), dtype=np.bool_)

    @property
    def is_plain(self) -> bool:
        """Whether rows are compared as they were recorded."""
        return not self._partings and bool(self._fits.all())

    @property
    def members(self) -> tuple[str, ...]:
        """Paths of the tokens and of their scores."""
        return (self.tokens,) if self.scores is None else (self.tokens, self.scores)

    @property
    def near_tie(self) -> MaskArray:
        """Pairs that part in a near tie, axes (pair,)."""
        found = np.zeros(len(self._pairs), dtype=np.bool_)
        found[[at for at, parting in self._partings.items() if parting.is_near_tie]] = True
        return found

    def look(self, sides: tuple[Rows, Rows], scores: Rows | None, epsilon: float) -> None:
        """Find where every pair parts.

        Parameters
        ----------
        sides : pair of Rows
            Tokens of either side.
        scores : Rows or None
            The golden's, axes (place, token) a row.
        epsilon : float
            Relative noise of the scores, dimensionless.
        """
        rows = zip(self._pairs.expected.tolist(), self._pairs.actual.tolist(), strict=True)
        for at, (before, after) in enumerate(rows):
            expected, actual = sides[0].row(before), sides[1].row(after)
            if expected.ndim != 1 or actual.ndim != 1:
                self._fits[at] = expected.shape == actual.shape
                continue
            place = find_parting(expected, actual)
            if place is None:
                continue
            is_near = (
                scores is not None
                and place < min(len(expected), len(actual))
                and is_near_tie(scores.row(before), place, int(expected[place]), int(actual[place]), epsilon)
            )
            self._partings[at] = Parting(
                place=place, lengths=(len(expected), len(actual)), is_near_tie=is_near
            )

    def find_fitting(self, path: str, stored: tuple[StoredOutput, StoredOutput]) -> MaskArray:
        """Return for every pair whether rows of the tokens, or of their scores, can be compared."""
        if path == self.tokens:
            return self._fits
        compared = self.view(path, stored)
        rows = zip(self._pairs.expected.tolist(), self._pairs.actual.tolist(), strict=True)
        return np.array(
            [compared[0].row_shape(before) == compared[1].row_shape(after) for before, after in rows],
            dtype=np.bool_,
        )

    def view(self, path: str, stored: tuple[Rows, Rows]) -> tuple[SequenceRows, SequenceRows]:
        """Return both sides of the tokens, or of their scores, as they are compared."""
        lengths: tuple[dict[int, int], dict[int, int]] = ({}, {})
        for at, parting in self._partings.items():
            if path == self.tokens:
                length = parting.place if parting.is_near_tie else max(parting.lengths)
            elif parting.is_near_tie:
                length = parting.place + 1
            else:
                continue
            for own, rows in zip(lengths, (self._pairs.expected, self._pairs.actual), strict=True):
                own[int(rows[at])] = length
        return SequenceRows(stored[0], lengths[0]), SequenceRows(stored[1], lengths[1])

    def describe(self, at: int, stored: tuple[Rows, Rows]) -> str:
        """Return what is to be said of one sample's tokens; empty where they are as they were."""
        parting = self._partings.get(at)
        if parting is None:
            return ""
        place, (n_expected, n_actual) = parting.place, parting.lengths
        if place == n_actual:
            return f"ends after {n_actual} of {n_expected} tokens"
        if place == n_expected:
            more = n_actual - n_expected
            return f"goes on for {more} {'token' if more == 1 else 'tokens'} after the golden's {n_expected}"
        expected = stored[0].row(int(self._pairs.expected[at]))[place]
        actual = stored[1].row(int(self._pairs.actual[at]))[place]
        names = f"expected {name_token(int(expected), self.spec)}, got {name_token(int(actual), self.spec)}"
        lengths = "" if n_expected == n_actual else f"; {n_expected} tokens expected, got {n_actual}"
        if parting.is_near_tie:
            return f"parts in a near tie at {place} of {n_expected} ({names}); not compared from there on"
        return f"first difference at {place} of {n_expected}: {names}{lengths}"


def pair_sequences(
    request: JudgeRequest, alignment: Alignment, comparable: Collection[str]
) -> dict[str, PairedSequences]:
    """Pair the token sequences of all common samples.

    Parameters
    ----------
    comparable : collection of str
        Outputs that both sides have with a row a sample, of dtypes that can be compared.

    Returns
    -------
    dict of str to PairedSequences
        By the path of the tokens, and of their scores where there are some.
    """
    found: dict[str, PairedSequences] = {}
    for path in comparable:
        spec = find_entry(path, request.outputs)
        if spec is None or not is_of_tokens(spec):
            continue
        scores = None if spec.logits is None else find_scores(path, spec.logits, comparable)
        paired = PairedSequences(path, spec, scores, alignment.pairs)
        sides = _sides_of(request, path)
        if not (alignment.is_same_order and is_bit_identical(sides.expected, sides.actual)):
            _look(request, paired, sides)
        found.update(dict.fromkeys(paired.members, paired))
    return found


def _sides_of(request: JudgeRequest, path: str) -> OutputSides:
    return OutputSides(
        path=path,
        expected=request.golden.observation.outputs[path],
        actual=request.observation.outputs[path],
    )


def _look(request: JudgeRequest, paired: PairedSequences, sides: OutputSides) -> None:
    tokens = (
        open_output(request.golden_folder, sides.expected),
        open_output(request.observation_folder, sides.actual),
    )
    scores, epsilon = None, 0.0
    if paired.scores is not None:
        of_scores = _sides_of(request, paired.scores)
        scores = open_output(request.golden_folder, of_scores.expected)
        epsilon = choose_epsilon(request, of_scores, find_default(request, of_scores))
    paired.look(tokens, scores, epsilon)
