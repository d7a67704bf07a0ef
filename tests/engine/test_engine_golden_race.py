"""Which golden a variant meets must not depend on which of two processes is faster."""

from __future__ import annotations

import pytest

from pytest_modelreg.engine.golden_race import GoldenRace


@pytest.fixture
def cases(suites):
    """A suite and its cases by variant: reference, judged against it, with a golden of its own."""
    suite = suites.extend("variants: {shared: {threads: 2}, own: {threads: 1, golden: own}}\n")
    return suite, {case.variant: case for case in suite.cases}


def start_race(cases, *, is_possible=True):
    """Return a race of a run that has all of the cases."""
    race = GoldenRace(is_possible=is_possible)
    for case in cases[1].values():
        race.expect(case)
    return race


def test_variant_without_its_reference_here_is_in_doubt(cases):
    """Another worker may be replacing the golden; what to do is said."""
    suite, by_variant = cases
    doubt = start_race(cases).find_doubt(suite, by_variant["shared"])
    assert doubt is not None
    assert "--dist loadfile" in doubt
    assert "pytest --modelreg" in doubt


def test_variant_after_its_reference_is_in_no_doubt(cases):
    """The golden is the one that the reference left, as in a single process."""
    suite, by_variant = cases
    race = start_race(cases)
    assert race.find_doubt(suite, by_variant["reference"]) is None
    assert race.find_doubt(suite, by_variant["shared"]) is None


def test_golden_of_its_own_is_in_no_doubt(cases):
    """Nobody else replaces it."""
    suite, by_variant = cases
    assert start_race(cases).find_doubt(suite, by_variant["own"]) is None


def test_variant_of_a_reference_that_the_run_does_not_have_is_in_no_doubt(cases):
    """Selected away, it replaces nothing: the golden on disk is the one."""
    suite, by_variant = cases
    race = GoldenRace(is_possible=True)
    race.expect(by_variant["shared"])
    assert race.find_doubt(suite, by_variant["shared"]) is None


def test_run_without_a_race_has_no_doubts(cases):
    """A single process, or a run that replaces nothing."""
    suite, by_variant = cases
    assert start_race(cases, is_possible=False).find_doubt(suite, by_variant["shared"]) is None
