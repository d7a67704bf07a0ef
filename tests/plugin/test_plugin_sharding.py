"""``--modelreg-shard``: which cases a shard runs, and what it does not say of the rest."""

from __future__ import annotations

import json

import pytest

VARIANTS = """
variants:
  one: {batch_size: 1}
  two: {batch_size: 2}
  six: {batch_size: 6}
"""

VALUES = """
import numpy as np
import pytest


@pytest.mark.parametrize("n", [1, 2, 3])
def test_value(modelreg, n):
    modelreg.check(np.arange(3.0) * n, name="v")


def test_plain():
    pass
"""


@pytest.fixture
def shop(project):
    """A project with four cases of a suite, three of Python tests, and a test that is none."""
    project.write("modelreg.yaml", (project.path / "modelreg.yaml").read_text() + VARIANTS)
    project.write("test_values.py", VALUES)
    project.pin()
    assert project.pytest("--modelreg-regen=missing").ret == 0
    return project


def run_shard(project, shard, *arguments):
    """Run a shard and return its result with its report."""
    target = project.path / "shard.json"
    result = project.pytest(f"--modelreg-shard={shard}", f"--modelreg-json={target}", *arguments)
    return result, json.loads(target.read_text(encoding="utf-8"))


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "with workers"])
def test_every_case_is_in_one_shard(shop, workers):
    """Together they run what a whole run does; a plain test is in each of them."""
    whole = {case["id"] for case in shop.report()["cases"]}
    found = []
    for number in (1, 2, 3):
        result, report = run_shard(shop, f"{number}/3", *workers)
        assert result.ret == 0
        found += [case["id"] for case in report["cases"]]
        assert report["run"]["partial"] is True
        assert report["run"]["shard"]["number"] == number
    assert len(whole) == 7
    assert sorted(found) == sorted(whole)


def test_a_run_without_shards_has_no_such_key(shop):
    """Its report is what it was."""
    assert "shard" not in shop.report()["run"]


def test_a_shard_says_nothing_of_goldens_without_a_case(shop):
    """Their cases may be in another one."""
    shop.edit("test_values.py", "[1, 2, 3]", "[1, 2]")
    for number in (1, 2):
        result, _ = run_shard(shop, f"{number}/2", "--modelreg-strict")
        assert result.ret == 0
        result.stdout.fnmatch_lines(f"partial run: shard {number}/2")
        result.stdout.no_fnmatch_line("*no case has*")


def test_a_shard_without_cases_says_so_and_passes(shop):
    """More machines than cases: nothing was compared by design."""
    (number,) = {1, 2} - {_find_shard_of_one(shop)}
    result = shop.pytest(f"--modelreg-shard={number}/2", "modelreg.yaml::toy[reference]")
    assert result.ret == 0
    result.stdout.fnmatch_lines(f"note: shard {number}/2 has none of the 1 cases*")


def _find_shard_of_one(shop):
    _, report = run_shard(shop, "1/2", "modelreg.yaml::toy[reference]")
    return 1 if report["cases"] else 2


@pytest.mark.parametrize("text", ["3/2", "0/2", "a/b"])
def test_a_shard_that_cannot_be_is_a_usage_error(shop, text):
    """Before anything runs, with what is expected."""
    result = shop.pytest(f"--modelreg-shard={text}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(f"*--modelreg-shard: expected I/N*got '{text}'")


def test_shards_record_nothing(shop):
    """A variant is held against what its reference leaves, which may be in another shard."""
    result = shop.pytest("--modelreg-shard=1/2", "--modelreg-regen=missing")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines("*--modelreg-shard 1/2: expected a run that compares, got --modelreg-regen*")


def test_without_the_plugin_turned_on_the_flag_is_refused(shop):
    """Else a CI job would run all unit tests N times and compare nothing."""
    result = shop.pytester.runpytest_inprocess("--modelreg-shard=1/2")
    assert result.ret == pytest.ExitCode.USAGE_ERROR


def test_a_selection_within_a_shard_is_said(shop):
    """The merge refuses it; the run itself is fine."""
    result, _ = run_shard(shop, "1/1", "-k", "not six")
    result.stdout.fnmatch_lines("partial run: shard 1/1; -k*deselected")


def test_a_faulty_durations_file_is_a_usage_error(shop):
    """It decides which case is where: nothing is guessed."""
    shop.write("modelreg-durations.json", "{}")
    result = shop.pytest("--modelreg-shard=1/2")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines("*modelreg-durations.json*")


def test_durations_part_long_cases(shop):
    """Two long cases end up on two machines, whatever their hash says."""
    cases = {"toy[reference]": 60.0, "toy[one]": 60.0, "toy[two]": 0.1, "toy[six]": 0.1}
    shop.write("modelreg-durations.json", json.dumps({"modelreg_durations": 1, "cases": cases}))
    ids = []
    for number in (1, 2):
        _, report = run_shard(shop, f"{number}/2", "modelreg.yaml")
        ids.append({case["id"] for case in report["cases"]})
    assert [len(found & {"toy[reference]", "toy[one]"}) for found in ids] == [1, 1]
