"""The forms of inputs held against each other: which differ in their dtypes and in nothing else.

What belongs here: reading the text in which a form is on record, as ``observe.input_probes`` writes it.
"""

from __future__ import annotations

import re

from pytest_modelreg.judge.alignment import Alignment, name_some
from pytest_modelreg.judge.request import JudgeRequest
from pytest_modelreg.judge.wording import count_of

_INPUT = re.compile(r"(?:(?P<path>.+?) )??(?P<dtype>\w+) (?P<shape>scalar|\d+(?: x \d+)*)")


def describe_dtypes(expected: str, actual: str) -> str:
    """Return which inputs have another dtype: ``ids int64 -> int32``; empty where more or nothing differs.

    Parameters
    ----------
    expected, actual : str
        Paths, dtypes and shapes of one sample's inputs, separated by commas.
    """
    before, after = expected.split(", "), actual.split(", ")
    if expected == actual or len(before) != len(after):
        return ""
    changed = []
    for one, other in zip(before, after, strict=True):
        if one == other:
            continue
        then, now = _INPUT.fullmatch(one), _INPUT.fullmatch(other)
        if then is None or now is None or (then["path"], then["shape"]) != (now["path"], now["shape"]):
            return ""
        changed.append(f"{then['path'] or ''} {then['dtype']} -> {now['dtype']}".strip())
    return name_some(changed)


def note_dtypes(request: JudgeRequest, alignment: Alignment) -> list[str]:
    """Return that inputs are of another dtype than the golden's and otherwise alike, as far as is known."""
    before, after = request.golden.observation.input_probes, request.observation.input_probes
    if before is None or after is None:
        return []
    changed = frozenset(alignment.changed_inputs)
    rows = zip(
        alignment.common, alignment.pairs.expected.tolist(), alignment.pairs.actual.tolist(), strict=True
    )
    told = [
        describe_dtypes(before.form_of(expected), after.form_of(actual))
        for name, expected, actual in rows
        if name in changed
    ]
    found = [text for text in told if text]
    if not found:
        return []
    share = f"{len(found)} of {count_of(len(alignment.common), 'sample')}"
    return [f"inputs are of another dtype than the golden's ({found[0]}) for {share}"]
