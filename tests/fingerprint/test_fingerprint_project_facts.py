"""Facts of a project: builtin scalars under keys of its own, every fault at once."""

from __future__ import annotations

import enum
import math

import numpy as np
import pytest
import torch

from pytest_modelreg.domain.errors import ProjectFactError
from pytest_modelreg.fingerprint import ask_project_facts, collect


def ask(*answers):
    """The facts of these answers."""
    return ask_project_facts(lambda: answers, source="the hook")


def fault_of(answer):
    """The one fault of an answer."""
    with pytest.raises(ProjectFactError) as caught:
        ask(answer)
    (fault,) = caught.value.faults
    return str(fault)


def test_answers_become_one_sorted_mapping():
    """Several plugins may each add facts."""
    assert list(ask({"shop.b": 1}, {"shop.a": "x", "shop.c-d.e_2": 0.5})) == [
        *("shop.a", "shop.b", "shop.c-d.e_2")
    ]


def test_subclasses_become_builtins():
    """A version object or a numpy float would not cross a process, nor be the same in JSON."""

    class Level(enum.IntEnum):
        HIGH = 3

    class Name(str, enum.Enum):
        FAST = "fast"

    facts = ask({"a.a": torch.__version__, "a.b": np.float64(0.5), "a.c": Level.HIGH, "a.d": Name.FAST})
    assert [type(value) for value in facts.values()] == [str, float, int, str]
    assert list(facts.values())[1:] == [0.5, 3, "fast"]


@pytest.mark.parametrize(
    "key", ["version", "Shop.version", "shop.", ".shop", "shop version.a", "shop..a", "1.a", "", 3, None]
)
def test_key_has_to_be_dotted_lower_case(key):
    """Keys are a public format, in every golden and report."""
    assert "expected a dotted lower-case key" in fault_of({key: 1})


@pytest.mark.parametrize("key", ["torch.version", "numpy.version", "env.omp_num_threads", "runtime.kind"])
def test_key_of_ours_is_refused(key):
    """A project must not overwrite what was measured."""
    assert "a key of the project's own" in fault_of({key: "1"})


def test_key_that_reads_as_a_reason_is_refused():
    """The report says there why another fact is unknown."""
    assert "_reason" in fault_of({"shop.a_reason": "x"})


@pytest.mark.parametrize(
    "value", [math.nan, math.inf, [1], {"a": 1}, b"x", np.float32(1), np.bool_(True), "\udc80", "x" * 501, 1j]
)
def test_value_has_to_be_a_finite_scalar(value):
    """Anything else is no strict JSON, or no fact."""
    assert fault_of({"shop.a": value}).startswith("the hook: shop.a: expected ")


@pytest.mark.parametrize("value", ["", "x" * 500, 0, -1.5, True, 2**70, "é\n"])
def test_value_just_inside(value):
    """Scalars pass as they are."""
    facts = ask({"shop.a": value})
    assert facts == {"shop.a": value}
    assert type(facts["shop.a"]) is type(value)


def test_answer_has_to_be_a_mapping():
    """A list of pairs is a mistake."""
    assert "expected a mapping of key to scalar, got list" in fault_of([("shop.a", 1)])


def test_key_of_two_answers_is_refused():
    """One of the two would be lost."""
    with pytest.raises(ProjectFactError, match="two implementations"):
        ask({"shop.a": 1}, {"shop.a": 1})


def test_all_faults_are_told_at_once():
    """Nobody mends one to learn of the next."""
    with pytest.raises(ProjectFactError) as caught:
        ask({"A": 1, "shop.a": []}, [], {"torch.version": "1"})
    assert len(caught.value.faults) == 4


def test_what_the_project_raises_names_its_line():
    """The user finds the place."""
    with pytest.raises(ProjectFactError, match=r"ZeroDivisionError.*test_fingerprint_project_facts\.py:\d+"):
        ask_project_facts(lambda: [1 / 0], source="the hook")


def test_facts_are_in_the_fingerprint_and_move_its_digest():
    """A fact that changes is another environment; what is not known has a reason."""
    plain, first, second = (collect(project=facts) for facts in ({}, {"shop.a": 1}, {"shop.a": 2}))
    assert first.facts["shop.a"] == 1
    assert len({plain.digest, first.digest, second.digest}) == 3
    assert collect(project={"shop.a": None}).reasons["shop.a"]
