"""What is known of the inputs of both sides: which differ, from which stage on, and how it is described.

Facts for people in words, which change no verdict. What they mean is for a diagnosis.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from pytest_modelreg.domain.observation import UNREPEATABLE, PreprocessHabit, Stage
from pytest_modelreg.judge.alignment import Alignment, name_some
from pytest_modelreg.judge.input_forms import note_dtypes
from pytest_modelreg.judge.request import JudgeRequest
from pytest_modelreg.judge.wording import count_of

N_ENTRIES = 4
N_DIGITS = 4
PREPROCESS = "preprocess"


def note_inputs(request: JudgeRequest, alignment: Alignment, *, has_drifted: bool) -> list[str]:
    """Return notes on inputs: on a drift, for another dtype, and for a variant with a preprocess of its own.

    That another pipeline makes other tensors is what such a variant is for, and no accident; that it
    makes the same ones is worth a line too.
    """
    n_common, changed = len(alignment.common), alignment.changed_inputs
    is_declared = request.declares(PREPROCESS)
    if not n_common or not alignment.knows_inputs:
        return []
    if not (has_drifted or is_declared):
        return note_dtypes(request, alignment)  # equal answers to other numbers are the limits' business
    if not changed:
        if request.is_variant:
            return ["inputs bit-identical to the reference's"]
        return [f"inputs: bit-identical for all {count_of(n_common, 'sample')}"]
    share = f"{len(changed)} of {count_of(n_common, 'sample')}, e.g. {name_some(changed)}"
    if is_declared:
        notes = [f"this variant's preprocess makes other inputs for {share}"]
    elif request.is_variant:
        notes = [
            f"inputs differ from the reference's for {share}, although this variant declares no other "
            f"preprocess: {_explain_change(request)}"
        ]
    else:
        notes = [f"inputs differ for {share}: the change is at or before the preprocessed tensors"]
    return [
        *notes,
        *note_dtypes(request, alignment),
        *_note_stages(request, alignment),
        *_note_checklist(request),
    ]


def list_habits(request: JudgeRequest) -> tuple[PreprocessHabit, ...]:
    """Return what preprocessing does and should not: in this run, and when the golden was recorded.

    The golden's counts for the case's own inputs only where both sides mean the same preprocess.
    """
    known = {habit.habit: habit for habit in request.observation.habits}
    if not request.declares(PREPROCESS):
        for habit in request.golden.observation.habits:
            told = replace(habit, summary=f"when the golden was recorded: {habit.summary}")
            known.setdefault(habit.habit, told)
    return tuple(known.values())


def _explain_change(request: JudgeRequest) -> str:
    """Return why one preprocess made two kinds of inputs."""
    habits = {habit.habit for habit in list_habits(request)}
    if habits & {"random", *UNREPEATABLE}:
        return "it does not make the same of a sample every time"
    return "they changed since the golden was recorded"


def _note_stages(request: JudgeRequest, alignment: Alignment) -> list[str]:
    """Name the first stage of a staged pipeline that made something else, and its settings on both sides."""
    before, after = request.golden.observation.stages, request.observation.stages
    if not before or not after:
        return []
    # The last stage's digest is that of the input, taken after it was brought to the model's form: where
    # only one side ends with a stage, the two digests say nothing of each other.
    n_comparable = len(before) if len(before) == len(after) else min(len(before), len(after)) - 1
    for number, (expected, actual) in enumerate(
        zip(before[:n_comparable], after[:n_comparable], strict=True), start=1
    ):
        differing = _find_differing(expected, actual, alignment)
        if differing:
            share = f"{len(differing)} of {count_of(len(alignment.common), 'sample')}"
            settings = (
                f"expected {expected.description}, got {actual.description}"
                if expected.description != actual.description
                else f"{actual.description} on both sides"
            )
            return [f"first stage whose output differs: {number} ({actual.name}), for {share}: {settings}"]
    if len(before) == len(after):
        return []
    # As far as both go, they agree: what one has more of makes the difference.
    number = min(len(before), len(after))
    if before[number - 1].description != after[number - 1].description:
        number -= 1
    names = [side[number].description if number < len(side) else "none" for side in (before, after)]
    return [f"first stage that differs: {number + 1}: expected {names[0]}, got {names[1]}"]


def _find_differing(expected: Stage, actual: Stage, alignment: Alignment) -> list[str]:
    pairs = alignment.pairs
    if not len(pairs):
        return []
    if len(expected.digests) <= int(pairs.expected.max()) or len(actual.digests) <= int(pairs.actual.max()):
        return []  # digests that are not one a sample tell nothing
    before, after = np.array(expected.digests)[pairs.expected], np.array(actual.digests)[pairs.actual]
    return [alignment.common[at] for at in np.flatnonzero(before != after).tolist()]


def _note_checklist(request: JudgeRequest) -> list[str]:
    """List facts of the preprocessing that both sides know and that differ."""
    before, after = request.golden.observation.checklist, request.observation.checklist
    differing = []
    for name, entry in before.items():
        expected, actual = _read_entry(entry), _read_entry(after.get(name))
        if expected is not None and actual is not None and expected != actual:
            differing.append(f"{name}: expected {expected}, got {actual}")
    if not differing:
        return []
    more = len(differing) - N_ENTRIES
    rest = f"; and {more} more" if more > 0 else ""
    return [f"preprocessing checklist: {'; '.join(differing[:N_ENTRIES])}{rest}"]


def _read_entry(entry: Any) -> str | None:
    """Return an entry's value as text; None where the side does not know it."""
    value = entry.get("value") if isinstance(entry, Mapping) else None
    return None if value is None else _format_value(value)


def _format_value(value: Any) -> str:
    """Return a value with few digits: what was measured on samples differs in its last ones always."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.{N_DIGITS}g}"
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_format_value(part)}" for key, part in value.items())
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(_format_value(part) for part in value)}]"
    return str(value)
