"""Inputs that came, went, or changed their form and nothing else.

What belongs here: what can be said before any value is compared: which inputs of the model there are,
their dtypes, and values that are no numbers.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pytest_modelreg.diagnose.inputs.finding import Group, Residuals, make_finding
from pytest_modelreg.diagnose.inputs.pair import InputPair, has_same_values, read_numbers
from pytest_modelreg.domain.cause import Cause, CauseFinding

_CERTAIN = 0.95
_INTEGERS = "iub"


def explain_paths(pairs: Sequence[InputPair]) -> tuple[CauseFinding, ...]:
    """Return a finding for every input that only one side has: the other's array of it is empty."""
    findings = []
    for path in dict.fromkeys(pair.path for pair in pairs):
        of_path = tuple(pair for pair in pairs if pair.path == path)
        gone = tuple(pair for pair in of_path if is_one_sided(pair))
        if not gone:
            continue
        is_new = gone[0].expected.size == 0
        what = "the model is fed an input that the golden does not have" if is_new else "an input is empty"
        findings.append(
            make_finding(
                Group(path=path, pairs=of_path, affected=gone),
                Cause.PREPROCESS_OTHER,
                f"{what}: expected shape {gone[0].expected.shape}, got {gone[0].actual.shape}",
                Residuals(before=1.0, after=0.0),
                hypothesis="inputs",
                expected="empty" if is_new else "present",
                actual="present" if is_new else "empty",
                confidence=_CERTAIN,
            )
        )
    return tuple(findings)


def is_one_sided(pair: InputPair) -> bool:
    """Whether one side alone has elements."""
    return (pair.expected.size == 0) != (pair.actual.size == 0)


def explain_dtypes(group: Group) -> CauseFinding | None:
    """Return a finding where dtypes differ and values do not, None otherwise."""
    if not all(pair.expected.dtype != pair.actual.dtype and has_same_values(pair) for pair in group.affected):
        return None
    before, now = (str(side.dtype) for side in (group.affected[0].expected, group.affected[0].actual))
    is_cast = before[0] != now[0] and (now[0] in _INTEGERS or before[0] in _INTEGERS)
    return make_finding(
        group,
        Cause.PREPROCESS_VALUE_RANGE if is_cast else Cause.PREPROCESS_OTHER,
        f"inputs are {now} instead of {before}, with the same values",
        Residuals(before=0.0, after=0.0),
        hypothesis="dtype",
        expected=before,
        actual=now,
        confidence=_CERTAIN,
    )


def explain_missing_values(group: Group) -> CauseFinding | None:
    """Return a finding where one side alone has values that are no finite numbers, None otherwise."""
    counts = [0, 0]
    fillers: list[float] = []
    touched = []
    left: list[tuple[float, float]] = []
    for pair in group.affected:
        expected, actual = read_numbers(pair.expected), read_numbers(pair.actual)
        if expected is None or actual is None or expected.shape != actual.shape:
            return None
        holes = ~np.isfinite(expected), ~np.isfinite(actual)
        if np.array_equal(*holes):
            continue
        touched.append(pair.sample)
        counts[0] += int(np.sum(holes[0] & ~holes[1]))
        counts[1] += int(np.sum(holes[1] & ~holes[0]))
        fillers += actual[holes[0] & ~holes[1]].tolist()[:1000]
        fillers += expected[holes[1] & ~holes[0]].tolist()[:1000]
        known = ~holes[0] & ~holes[1]
        left.append(
            (float(np.sum((expected - actual)[known] ** 2)), float(np.sum(np.square(expected[known]))))
        )
    if not touched:
        return None
    filled = sorted(set(fillers))
    words = f"as {filled[0]:.6g}" if len(filled) == 1 else f"as {len(filled)} different numbers"
    n_filled, n_new = counts
    if n_filled >= n_new:
        what = f"{n_filled} values that are missing (NaN or infinite) in the golden's inputs come {words}"
    else:
        words = "numbers"
        what = f"{n_new} numbers of the golden's inputs are missing (NaN or infinite)"
    rest = float(np.sqrt(sum(gap for gap, _ in left) / max(sum(total for _, total in left), 1e-300)))
    return make_finding(
        group,
        Cause.PREPROCESS_OTHER if n_filled < n_new else Cause.PREPROCESS_VALUE_RANGE,
        what,
        Residuals(before=1.0, after=min(rest, 1.0)),
        hypothesis="missing values",
        expected="missing" if n_filled >= n_new else words,
        actual=words if n_filled >= n_new else "missing",
        affected=touched,
        confidence=round(0.9 * (1.0 - min(rest, 1.0)), 3),
        constants={"n_filled": n_filled, "n_new": n_new},
    )


def explain_words(group: Group) -> CauseFinding:
    """Return a finding for inputs that are no real numbers: words, complex numbers, objects."""
    before, now = (
        f"{side.dtype} of shape {side.shape}"
        for side in (group.affected[0].expected, group.affected[0].actual)
    )
    same = before == now
    return make_finding(
        group,
        Cause.PREPROCESS_OTHER,
        f"inputs of {before} differ" if same else f"inputs are {now} instead of {before}",
        Residuals(before=1.0, after=1.0),
        hypothesis="none" if same else "form",
        expected=before,
        actual=now,
        confidence=0.3 if same else _CERTAIN,
    )
