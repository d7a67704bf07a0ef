"""The inputs of both sides held against each other, without a forward pass.

What belongs here: which samples are fed something else than the golden's, and how far that is.
What it does to the model's answers is for :func:`~pytest_modelreg.judge.judge_case`.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pytest_modelreg.domain.observation import InputProbes, Observation
from pytest_modelreg.domain.precheck import InputDistance, InputResult
from pytest_modelreg.judge.alignment import align_samples
from pytest_modelreg.judge.defaults import REL_L2_LIMITS
from pytest_modelreg.judge.input_forms import describe_dtypes
from pytest_modelreg.judge.inputs import note_inputs
from pytest_modelreg.judge.request import JudgeRequest
from pytest_modelreg.store import read_trace
from pytest_modelreg.trace import estimate_rel_l2, is_known

INPUT_LIMIT = REL_L2_LIMITS["float32"]
"""Up to here another CPU explains other inputs, dimensionless: float32's limit."""

_Side = tuple["NDArray[np.float64] | None", str]


def judge_inputs(request: JudgeRequest) -> InputResult:
    """Hold observed inputs against the golden's.

    Raises
    ------
    GoldenError
        When a table of probes is not as recorded.
    """
    golden, observation = request.golden.observation, request.observation
    alignment = align_samples(golden.samples, observation.samples, only=request.only)
    changed = frozenset(alignment.changed_inputs)
    expected = _Probes(request.golden_folder, golden)
    actual = _Probes(request.observation_folder, observation)
    pairs = zip(
        alignment.common, alignment.pairs.expected.tolist(), alignment.pairs.actual.tolist(), strict=True
    )
    distances = [
        _measure(name, expected.look_up(before), actual.look_up(after))
        for name, before, after in pairs
        if name in changed
    ]
    # The first note counts samples, which the distances do better.
    notes = note_inputs(request, alignment, has_drifted=True)[1:] if changed else []
    return InputResult(
        difference=alignment.difference,
        common=alignment.common,
        distances=tuple(sorted(distances, key=_rank)),
        limit=INPUT_LIMIT,
        notes=tuple(notes),
        habits=observation.habits if changed else (),
    )


class _Probes:
    """The table of one side; empty where it has none."""

    def __init__(self, folder: Path, observation: Observation) -> None:
        self._probes: InputProbes | None = observation.input_probes
        self._table: NDArray[np.float64] | None = None
        if self._probes is not None:
            shape = (len(observation.samples), self._probes.n_columns)
            self._table = read_trace(folder, self._probes.file, shape)

    def look_up(self, row: int) -> _Side:
        if self._probes is None or self._table is None or not is_known(self._table[row]):
            return None, ""
        return self._table[row], self._probes.form_of(row)


def _measure(sample: str, expected: _Side, actual: _Side) -> InputDistance:
    (before, expected_form), (after, actual_form) = expected, actual
    rel_l2, dtypes = None, describe_dtypes(expected_form, actual_form)
    if (
        before is not None
        and after is not None
        and (expected_form == actual_form or dtypes)
        and before.size == after.size
    ):
        rel_l2 = estimate_rel_l2(before, after)
        if rel_l2 is None and dtypes:
            rel_l2 = 0.0  # no number tells them apart, and what does is known: another dtype
    return InputDistance(
        sample=sample,
        rel_l2=rel_l2,
        expected_form=expected_form,
        actual_form=actual_form,
        dtypes=dtypes,
        is_within_limit=rel_l2 is not None and rel_l2 <= INPUT_LIMIT,
    )


def _rank(distance: InputDistance) -> tuple[bool, float]:
    """Return the key by which the farthest come first: other forms before all numbers."""
    return not distance.has_other_form, -(distance.rel_l2 if distance.rel_l2 is not None else -1.0)
