"""Declaring and reading one fact."""

from __future__ import annotations

import pytest

from pytest_modelreg.fingerprint import collect
from pytest_modelreg.fingerprint import fact as fact_module
from pytest_modelreg.fingerprint.fact import READING_ERRORS, Reading, Unknown, declared_facts, fact, read_fact


@pytest.fixture(autouse=True)
def own_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """Facts declared by a test are gone after it."""
    monkeypatch.setattr(fact_module, "_DECLARED", dict(fact_module._DECLARED))
    monkeypatch.setattr(fact_module, "_FIXED_READINGS", {})


def test_a_declared_fact_is_collected() -> None:
    """A new fact needs one decorated function and nothing else."""
    fact("planted.answer")(lambda: 42)
    assert collect().facts["planted.answer"] == 42


def test_two_readers_for_one_key_are_refused() -> None:
    """The second would silently win."""
    with pytest.raises(
        ValueError, match=r"'torch\.version': expected one reader, got two: .*read_torch_version"
    ):
        fact("torch.version")(lambda: "2.0")


def test_unknown_becomes_none_with_its_reason() -> None:
    """Not knowing is an answer."""

    @fact("planted.unknown")
    def read_planted() -> str:
        raise Unknown("the moon is down")

    assert read_fact(declared_facts()["planted.unknown"]) == Reading(value=None, reason="the moon is down")


@pytest.mark.parametrize("error", READING_ERRORS)
def test_a_failing_reader_costs_one_fact(error: type[Exception]) -> None:
    """A run never breaks over a fact; the message stays out because it may hold a path."""

    @fact("planted.failing")
    def read_planted() -> str:
        raise error("/home/somebody/secret")

    collected = collect()
    assert collected.facts["planted.failing"] is None
    assert collected.reasons["planted.failing"] == f"could not be read ({error.__name__})"


def test_a_fault_of_ours_is_seen() -> None:
    """Errors that no interface raises are not hidden."""
    fact("planted.fault")(lambda: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        collect()


def test_a_fixed_fact_is_read_once() -> None:
    """Facts about the machine are not worth reading for every case."""
    calls: list[int] = []
    fact("planted.fixed", fixed=True)(lambda: calls.append(1) or "value")
    assert [collect().facts["planted.fixed"], collect().facts["planted.fixed"]] == ["value", "value"]
    assert len(calls) == 1


def test_an_unknown_is_asked_again_even_when_fixed() -> None:
    """What is unknown before a package is loaded may be known after."""
    answers: list[str] = []

    @fact("planted.late", fixed=True)
    def read_planted() -> str:
        if not answers:
            raise Unknown("too early")
        return answers[0]

    assert collect().facts["planted.late"] is None
    answers.append("known")
    assert collect().facts["planted.late"] == "known"


def test_a_neutral_fact_is_marked() -> None:
    """Neutrality is declared where the fact is."""
    fact("planted.neutral", neutral=True)(lambda: "x")
    assert "planted.neutral" in collect().neutral
