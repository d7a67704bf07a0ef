"""Checks of the suite's own: what they are handed, what they are held against, how they fail."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pytest_modelreg.domain.check import CheckPlan, OutputChecks
from pytest_modelreg.domain.errors import JudgeError
from pytest_modelreg.domain.sample import Sample
from pytest_modelreg.domain.verdict import Verdict

pytestmark = pytest.mark.filterwarnings("error")

NAME = "shop.metrics:score"
VALUES = np.arange(12.0, dtype=np.float32).reshape(4, 3)


class Spy:
    """A function that returns a number for what it was handed, and remembers it."""

    def __init__(self, returned: Any = 0.5) -> None:
        self.calls: list[tuple[Any, Any, Any]] = []
        self.returned = returned

    def __call__(self, expected: Any, actual: Any, samples: Any) -> Any:
        """Remember the call."""
        self.calls.append((expected, actual, samples))
        return self.returned(expected, actual, samples) if callable(self.returned) else self.returned


def _judge(
    court: Any,
    limit: Any,
    function: Any,
    actual: Any = None,
    *,
    expected: Any = VALUES,
    value: float | None = 0.5,
    bound: str = "max",
    off: Any = ("rel_l2",),
    **options: Any,
) -> Any:
    tags = options.pop("tag_limits", {})
    plan = CheckPlan(
        default=OutputChecks(limits=(limit(NAME, value, bound=bound, tags=tags),), off=frozenset(off))
    )
    actual = expected if actual is None else actual
    return court.judge(expected, actual, checks=plan, functions={NAME: function}, **options)


@pytest.mark.parametrize(
    ("bound", "returned", "verdict"),
    [
        ("max", 0.5, Verdict.MATCH),
        ("max", 0.5001, Verdict.DRIFT),
        ("min", 0.5, Verdict.MATCH),
        ("min", 0.4999, Verdict.DRIFT),
        ("max", float("nan"), Verdict.DRIFT),
        ("min", float("nan"), Verdict.DRIFT),
        ("min", float("inf"), Verdict.MATCH),
    ],
)
@pytest.mark.parametrize("bits_differ", [True, False])
def test_a_number_is_held_against_its_bound(
    court: Any, limit: Any, bound: str, returned: float, verdict: Verdict, bits_differ: bool
) -> None:
    """Just inside and just outside, NaN never; bit-identical outputs are measured too."""
    spy = Spy(returned)
    result = _judge(court, limit, spy, VALUES + 1 if bits_differ else None, bound=bound)
    assert result.verdict is verdict
    assert len(spy.calls) == 1
    (check,) = result.checks
    assert (check.name, check.limit, check.direction) == (NAME, 0.5, bound)
    assert check.value == pytest.approx(returned, nan_ok=True)
    assert check.source == f"checks.{NAME}"


def _mean(expected: Any, actual: Any, samples: Any) -> float:
    return float(actual.mean())


@pytest.mark.parametrize(("step", "verdict"), [(0.49, Verdict.MATCH), (0.51, Verdict.DRIFT)])
@pytest.mark.parametrize("sign", [1, -1])
def test_max_change_is_held_against_the_golden_s_own_number(
    court: Any, limit: Any, step: float, sign: int, verdict: Verdict
) -> None:
    """|fn(expected, actual) - fn(expected, expected)|, both ways; the source says that it is a change."""
    result = _judge(court, limit, _mean, VALUES + np.float32(sign * step), bound="max_change")
    assert result.verdict is verdict
    assert result.checks[0].value == pytest.approx(step, rel=1e-5)
    assert (result.checks[0].direction, result.checks[0].source) == ("max", f"checks.{NAME} (max_change)")


def test_max_change_of_equal_bytes_is_zero_without_a_call(court: Any, limit: Any) -> None:
    """By definition nothing changed."""
    spy = Spy()
    result = _judge(court, limit, spy, value=0.0, bound="max_change")
    assert (result.verdict, result.checks[0].value, spy.calls) == (Verdict.MATCH, 0.0, [])


def test_max_change_of_nan_never_passes(court: Any, limit: Any) -> None:
    """A metric that is NaN on both sides has changed by nobody knows what."""
    result = _judge(court, limit, Spy(float("nan")), VALUES + 1, value=1e9, bound="max_change")
    assert result.verdict is Verdict.DRIFT


def test_a_failed_function_is_named_in_the_message_and_blames_no_sample(court: Any, limit: Any) -> None:
    """One number over the set: which sample did it, it does not know."""
    result = _judge(court, limit, Spy(0.75), VALUES + 1)
    assert (result.message, result.drifted_samples) == (f"y {NAME} 0.75 > 0.5", ())


def test_a_function_sees_rows_and_samples_in_pair_order(court: Any, side: Any, limit: Any) -> None:
    """Common samples only, in this run's order, with labels and tags."""
    golden = side(outputs={"y": VALUES}, ids=list("abcd"))
    run = side(outputs={"y": VALUES[[2, 0, 1]] + 100}, ids=["c", "a", "x"])
    spy = Spy()
    _judge(court, limit, spy, run, expected=golden, labels={"c": "cat"}, tags={"a": ("dark",)})
    ((expected, actual, samples),) = spy.calls
    assert expected.tolist() == VALUES[[2, 0]].tolist()
    assert actual.tolist() == (VALUES[[2, 0]] + 100).tolist()
    assert expected.dtype == actual.dtype == np.float32
    assert samples == (
        Sample(id="c", file="c", sha256="c", label="cat"),
        Sample(id="a", file="a", sha256="a", tags=("dark",)),
    )


def test_tags_are_scopes_of_their_own(court: Any, limit: Any) -> None:
    """One call over all samples and one over those with the tag, each with its limit."""
    spy = Spy(lambda expected, actual, samples: float(len(samples)))
    result = _judge(court, limit, spy, VALUES + 1, value=4.0, tag_limits={"dark": 1.0, "rare": 0.0},
                    tags={"s1": ("dark",), "s3": ("dark", "rare")})  # fmt: skip
    assert [(check.tag, check.value, check.limit, check.ok) for check in result.checks] == [
        (None, 4.0, 4.0, True),
        ("dark", 2.0, 1.0, False),
        ("rare", 1.0, 0.0, False),
    ]
    assert spy.calls[1][1].tolist() == (VALUES[[1, 3]] + 1).tolist()
    assert f"y {NAME}[dark] 2 > 1" in result.message


def test_an_unknown_tag_is_a_fault(court: Any, limit: Any) -> None:
    """As for every other check."""
    with pytest.raises(JudgeError, match="tags: expected a tag that samples carry"):
        _judge(court, limit, Spy(), tag_limits={"drak": 1.0}, tags={"s1": ("dark",)})


def test_a_function_cannot_write_into_what_it_is_handed(court: Any, limit: Any) -> None:
    """A metric that sorts in place would change what the next one sees."""

    def sort(expected: Any, actual: Any, samples: Any) -> float:
        actual.sort()
        return 0.0

    with pytest.raises(JudgeError, match="ValueError"):
        _judge(court, limit, sort, VALUES + 1)


def test_ragged_outputs_are_lists_and_narrow_floats_are_float32(court: Any, side: Any, limit: Any) -> None:
    """Rows of other length cannot be one array; numpy has no bfloat16."""
    spy = Spy()
    rows = [np.ones(2), np.ones(3)]
    _judge(court, limit, spy, [rows[0], rows[1] + 1], expected=rows)
    assert [[row.tolist() for row in values] for values in spy.calls[0][:2]] == [
        [[1.0, 1.0], [1.0, 1.0, 1.0]],
        [[1.0, 1.0], [2.0, 2.0, 2.0]],
    ]
    bits = np.full((2, 2), 0x3F80, np.uint16)
    bfloat = side(outputs={"y": bits}, dtypes={"y": "bfloat16"})
    _judge(court, limit, spy, bfloat, expected=bfloat)
    assert (spy.calls[1][0].dtype, spy.calls[1][0].tolist()) == (np.float32, [[1.0, 1.0], [1.0, 1.0]])


@pytest.mark.parametrize("returned", [1, np.float32(0.25), np.int64(0), np.array(0.5)])
def test_any_scalar_number_is_a_number(court: Any, limit: Any, returned: Any) -> None:
    """Metrics return numpy's and frameworks' scalars as a rule; the result is a builtin float."""
    (check,) = _judge(court, limit, Spy(returned), value=1.0).checks
    assert type(check.value) is float


@pytest.mark.parametrize("returned", [None, "0.5", True, np.ones(1), [0.5], 1j])
def test_what_is_no_number_is_an_error(court: Any, limit: Any, returned: Any) -> None:
    """A function that forgets its return would pass or fail by accident."""
    with pytest.raises(
        JudgeError, match=rf"y: {NAME}: expected a number from fn\(expected, actual, samples\)"
    ):
        _judge(court, limit, Spy(returned))


@pytest.mark.parametrize("error", [ZeroDivisionError("no positives"), SystemExit(3)])
def test_a_function_that_raises_is_an_error_with_its_traceback(
    court: Any, limit: Any, error: BaseException
) -> None:
    """Named with what it raised; the cause carries the user's frames."""

    def fail(expected: Any, actual: Any, samples: Any) -> float:
        raise error

    with pytest.raises(JudgeError, match=rf"y: {NAME}: .*raised {type(error).__name__}: ") as caught:
        _judge(court, limit, fail)
    assert caught.value.__cause__ is error


def test_a_function_is_a_check_like_others(court: Any, limit: Any, side: Any) -> None:
    """It is listed after the named ones, and is enough when everything else is off."""
    result = _judge(court, limit, Spy(), off=())
    assert [check.name for check in result.checks] == ["rel_l2", NAME]
    nan = VALUES.copy()
    nan[1] = np.nan
    options: Any = {"tag_limits": {"dark": 0.5}, "tags": {"s1": ("dark",)}, "expected": nan}
    for actual in (nan, nan + 1):
        with pytest.raises(JudgeError, match=f"{NAME}: tags: expected a finite number.*'dark', got NaN"):
            _judge(court, limit, Spy(), actual, **options)
    batches = side(outputs={"y": VALUES}, per={"y": "batch"})
    with pytest.raises(JudgeError, match=f"{NAME}: expected an output per sample, got one per batch"):
        _judge(court, limit, Spy(), expected=batches)


def test_a_function_that_nobody_imported_is_a_fault(court: Any, ask: Any, limit: Any) -> None:
    """It must never count as passed."""
    with pytest.raises(JudgeError, match=f"{NAME}: expected a function that was imported"):
        court.judge(VALUES, VALUES, checks=ask(limit(NAME, 0.5, bound="max")))


def test_one_sided_nan_drifts_whatever_a_function_says(court: Any, limit: Any) -> None:
    """A metric that skips NaN cannot hide it."""
    actual = VALUES.copy()
    actual[1, 1] = np.nan
    result = _judge(court, limit, Spy(0.0), actual)
    assert (result.verdict, result.drifted_samples) == (Verdict.DRIFT, ("s1",))
