"""The search for the first candidate that drifts, over lists with planted culprits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_modelreg.domain.errors import UsageFault
from pytest_modelreg.engine.bisection import Finding, Trial, Versions, search


def run_search(n: int, culprit: int, broken: frozenset[int] = frozenset()):
    """Search ``n`` versions of which those from ``culprit`` on drift and ``broken`` cannot run."""
    names = [f"{index}" for index in range(n)]
    tried: list[str] = []

    def attempt(name: str, n_left: int) -> Trial:
        tried.append(name)
        index = int(name)
        finding = Finding.UNKNOWN if index in broken else Finding.BAD if index >= culprit else Finding.GOOD
        return Trial(candidate=name, finding=finding, message="planted")

    result = search(Versions(names), good=names[0], bad=names[-1], attempt=attempt)
    assert [trial.candidate for trial in result.trials] == tried
    return result, tried


@given(n=st.integers(2, 200), data=st.data())
def test_the_culprit_is_found_in_logarithmic_time(n: int, data: st.DataObject):
    """Whichever version it is, at most two ends and log2(n) more are tried."""
    culprit = data.draw(st.integers(1, n - 1))
    result, tried = run_search(n, culprit)
    assert result.first_bad == str(culprit)
    assert result.suspects == ()
    assert len(tried) <= 2 + (n - 1).bit_length()
    assert len(set(tried)) == len(tried)


@given(n=st.integers(3, 40), data=st.data())
def test_what_cannot_run_is_skipped_and_named(n: int, data: st.DataObject):
    """The answer is right, or lies among the candidates in front of it that could not run."""
    culprit = data.draw(st.integers(1, n - 1))
    broken = data.draw(st.frozensets(st.integers(1, n - 2)))
    result, _ = run_search(n, culprit, broken)
    assert str(culprit) in (result.first_bad, *result.suspects)
    assert all(int(name) in broken for name in result.suspects)
    first = int(result.first_bad)
    assert first >= culprit
    assert [int(name) for name in result.suspects] == sorted(range(first - len(result.suspects), first))


@pytest.mark.parametrize(
    ("culprit", "broken", "named"),
    [
        (0, frozenset(), "0: expected an end that matches the golden, got one that drifts"),
        (9, frozenset(), "4: expected an end that drifts from the golden, got one that matches"),
        (2, frozenset({0}), "0: expected an end that matches the golden, got one that could not run"),
        (2, frozenset({4}), "4: expected an end that drifts from the golden, got one that could not run"),
    ],
)
def test_ends_that_are_not_what_they_are_said_to_be_are_refused(culprit, broken, named):
    """A search between wrong ends would name somebody who did nothing."""
    with pytest.raises(UsageFault, match=named):
        run_search(5, culprit, broken)


@pytest.mark.parametrize(
    ("listed", "named"),
    [([], "got none"), (["2.1"], "got 2.1"), (["2.1", "2.2", "2.1"], "got 2.1 more than once")],
)
def test_lists_that_are_no_search_are_refused(listed, named):
    """Two versions at least, each once."""
    with pytest.raises(UsageFault, match=named):
        Versions(listed)
