"""Token ids: cut at another length, padded elsewhere, without special tokens, or of another tokenizer.

What belongs here: comparing rows of whole numbers as sequences. To add a hypothesis, add a function to
``_HYPOTHESES`` that says what one pair shows, or None; what all pairs show is the finding.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from pytest_modelreg.diagnose.inputs.finding import Group, Residuals, describe_scope, make_finding
from pytest_modelreg.domain.cause import Cause, CauseFinding

Ids = NDArray[np.int64]
_MOST_SPECIAL = 4
_NEARLY_ALL = 0.9
_MOST_KEPT = 0.5
_LEAST_COMMON = 3
"""Ids that two windows must share: fewer overlap by chance."""


def are_masks(group: Group) -> bool:
    """Whether numbers say which ids are padding: ones and zeros, each in one run."""
    sides = [np.asarray(side) for pair in group.affected for side in (pair.expected, pair.actual)]
    if any(side.ndim not in (1, 2) or not np.isin(side, (0, 1)).all() for side in sides):
        return False
    runs = [np.count_nonzero(np.diff(side.astype(np.int64).ravel())) for side in sides]
    return bool(max(runs) == 1)


def explain_tokens(group: Group) -> tuple[CauseFinding, ...]:
    """Return what turned the golden's ids into today's, if the same happened in nearly all pairs."""
    pairs = [
        tuple(side.astype(np.int64).ravel() for side in (pair.expected, pair.actual))
        for pair in group.affected
    ]
    for name, find in _HYPOTHESES:
        shown = [find(expected, actual) for expected, actual in pairs]
        counted = Counter(what for what in shown if what is not None)
        if not counted or sum(counted.values()) < _NEARLY_ALL * len(pairs):
            continue
        what, often = counted.most_common(1)[0]
        share = sum(counted.values()) / len(pairs)
        subject = "they" if name == "mask" else "token ids"
        return (
            make_finding(
                group,
                Cause.PREPROCESS_OTHER,
                f"{subject} {what}{'' if often == len(pairs) else ', or nearly so'}: "
                f"seen on {describe_scope(group)}",
                Residuals(before=1.0, after=1.0 - share),
                hypothesis=name,
                expected=f"{pairs[0][0].size} ids",
                actual=f"{pairs[0][1].size} ids, {what}",
                confidence=round(0.9 * share, 3) if name != _OTHER else 0.5,
                constants={
                    "n_expected": [int(e.size) for e, _ in pairs],
                    "n_actual": [int(a.size) for _, a in pairs],
                    "first_difference": [_find_first(e, a) for e, a in pairs],
                },
            ),
        )
    return ()


def _find_first(expected: Ids, actual: Ids) -> int:
    n = min(expected.size, actual.size)
    differs = np.flatnonzero(expected[:n] != actual[:n])
    return int(differs[0]) if differs.size else n


def _strip(ids: Ids) -> tuple[Ids, int | None]:
    """Return ids without padding on either side, and the padding's id."""
    for side, order in (("right", ids[::-1]), ("left", ids)):
        if order.size < 2:
            continue
        run = int(np.argmax(order != order[0])) if np.any(order != order[0]) else order.size
        if 1 < run < order.size:
            return (ids[:-run] if side == "right" else ids[run:]), int(order[0])
    return ids, None


def _find_mask(expected: Ids, actual: Ids) -> str | None:
    if not {*np.unique(expected), *np.unique(actual)} <= {0, 1} or expected.size != actual.size:
        return None
    if np.array_equal(1 - expected, actual):
        return "are a mask, inverted"
    if np.all(actual == 1):
        return "are a mask of nothing but ones: padding is no longer masked"
    if np.array_equal(expected[::-1], actual):
        return "are a mask for padding on the other side"
    return "are a mask of other places"


def _find_padding(expected: Ids, actual: Ids) -> str | None:
    side = _find_other_side(expected, actual)
    if side is not None:
        return side
    (one, id_e), (other, id_a) = _strip(expected), _strip(actual)
    if not np.array_equal(one, other):
        # A single padding id is told apart only by what is left.
        return None
    if id_e is not None and id_a is not None and id_e != id_a:
        return f"are padded with {id_a} instead of {id_e}"
    if expected.size != actual.size:
        return f"are padded to {actual.size} instead of {expected.size}"
    return None


def _find_other_side(expected: Ids, actual: Ids) -> str | None:
    """Return the side that one id, repeated, went to, while all others kept their order."""
    if expected.size != actual.size:
        return None
    for one, other, word in (
        (expected, actual, "left instead of the right"),
        (actual, expected, "right instead of the left"),
    ):
        for n_pads in range(1, one.size):
            pads = np.concatenate([one[-n_pads:], other[:n_pads]])
            if np.any(pads != pads[0]):
                break
            if np.array_equal(one[:-n_pads], other[n_pads:]) and np.any(one != other):
                return f"are padded on the {word}"
    return None


def _find_window(expected: Ids, actual: Ids) -> str | None:
    """Return which end of a text was cut instead of the other, where what both sides kept overlaps."""
    if expected.size != actual.size:
        return None
    for n_moved in range(1, expected.size - _LEAST_COMMON + 1):
        if np.array_equal(expected[n_moved:], actual[: expected.size - n_moved]):
            return "are cut at their beginning instead of their end"
        if np.array_equal(actual[n_moved:], expected[: expected.size - n_moved]):
            return "are cut at their end instead of their beginning"
    return None


def _find_truncation(expected: Ids, actual: Ids) -> str | None:
    if expected.size == actual.size:
        expected, actual = _strip(expected)[0], _strip(actual)[0]
    if expected.size == actual.size or min(expected.size, actual.size) < 2:
        return None
    short, long = sorted((expected, actual), key=lambda ids: int(ids.size))
    # The last id may be the end mark, which moves with the cut.
    same = _find_first(short, long) >= short.size - 1
    if same and long.size - short.size > (0 if _find_first(short, long) < short.size else _MOST_SPECIAL):
        word = "cut" if actual.size < expected.size else "not cut"
        return f"are {word} at {short.size}"
    if np.array_equal(long[-short.size :], short) and long.size - short.size > _MOST_SPECIAL:
        return (
            "are cut at their beginning"
            if actual.size < expected.size
            else "are no longer cut at their beginning"
        )
    return None


def _find_special(expected: Ids, actual: Ids) -> str | None:
    gone = expected.size > actual.size
    long, short = (expected, actual) if gone else (actual, expected)
    if not 0 < long.size - short.size <= 2 * _MOST_SPECIAL or not short.size:
        return None
    for first in range(long.size - short.size + 1):
        if np.array_equal(long[first : first + short.size], short):
            ids = [*long[:first].tolist(), *long[first + short.size :].tolist()]
            word = "lack the special tokens" if gone else "have special tokens more:"
            return f"{word} {', '.join(str(each) for each in ids)}"
    return None


def _find_shift(expected: Ids, actual: Ids) -> str | None:
    if expected.size != actual.size or not expected.size:
        return None
    change = np.unique(actual - expected)
    if change.size == 1:
        return f"are all {int(change[0]):+d} off the golden's"
    return "are in reverse order" if np.array_equal(expected[::-1], actual) else None


def _find_replacement(expected: Ids, actual: Ids) -> str | None:
    if expected.size != actual.size:
        return None
    changed = {(int(e), int(a)) for e, a in zip(expected, actual, strict=True) if e != a}
    now = {new for _, new in changed}
    if len(now) == 1 and float(np.mean(expected == actual)) > _MOST_KEPT:
        unknown = (
            " (one for many, as for words that a tokenizer does not know: text normalised otherwise, or "
        )
        unknown = f"{unknown}another vocabulary)" if len(changed) > 1 else ""
        return f"hold {now.pop()} where the golden's hold other ids{unknown}"
    return None


_OTHER = "tokenization"


def _find_tokenization(expected: Ids, actual: Ids) -> str | None:
    return (
        "are other ones from the first word on or in places: another vocabulary, or text normalised otherwise"
    )


_HYPOTHESES: tuple[tuple[str, Callable[[Ids, Ids], str | None]], ...] = (
    ("mask", _find_mask),
    ("padding", _find_padding),
    ("special tokens", _find_special),
    ("cut end", _find_window),
    ("truncation", _find_truncation),
    ("shift", _find_shift),
    ("replaced id", _find_replacement),
    (_OTHER, _find_tokenization),
)
