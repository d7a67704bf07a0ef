"""Goldens that no case has any more: found by what is claimed, never by a guess."""

from __future__ import annotations

import time
from pathlib import Path

from pytest_modelreg.engine.orphans import (
    Claims,
    find_suite_orphans,
    find_values_orphans,
    read_last_claims,
    write_claims,
)


def plant(root: Path, *places: str) -> None:
    """Make folders with something that counts as a golden."""
    for place in places:
        (root / place).mkdir(parents=True)
        (root / place / "golden.json").write_text("{}", encoding="utf-8")


def names(root, folders):
    """Return folders relative to the root."""
    return [folder.relative_to(root).as_posix() for folder in folders]


def test_goldens_of_cases_are_claimed(suites):
    """A variant that lost its own golden, one that is gone, a suite that is gone."""
    suite = suites.extend("variants: {own: {threads: 1, golden: own}, shared: {threads: 2}}\n")
    root = suites.path / "golden"
    plant(root, "toy/reference", "toy/own", "toy/shared", "toy/gone", "other/reference", "py/test_a/test/v")
    assert names(root, find_suite_orphans([suite])) == ["other/reference", "toy/gone", "toy/shared"]


def test_goldens_of_several_environments_are_claimed(suites):
    """Those of other machines are nobody's orphans here."""
    suite = suites.extend("golden_per: [machine]\n")
    root = suites.path / "golden"
    plant(root, "toy/reference/machine=a", "toy/reference/machine=b", "toy/x/machine=a")
    (root / "toy/reference/golden.json").touch()
    assert names(root, find_suite_orphans([suite])) == ["toy/reference", "toy/x/machine=a"]


def test_check_that_is_gone_is_an_orphan_and_a_skipped_test_keeps_its_own(tmp_path):
    """A test that did not come to its end says nothing of the checks it would have made."""
    plant(
        tmp_path / "py", "test_a/test_x/v", "test_a/test_x/old", "test_a/test_skipped/v", "test_gone/test/v"
    )
    claims = Claims(checked=frozenset({"test_a/test_x/v"}), kept=frozenset({"test_a/test_skipped"}))
    assert names(tmp_path / "py", find_values_orphans(tmp_path, claims)) == [
        "test_a/test_x/old",
        "test_gone/test/v",
    ]


def test_claims_are_read_back_from_the_last_whole_run(tmp_path):
    """Of two runs the later one counts; one that was not whole has none."""
    first, second = (
        Claims(checked=frozenset({"a"})),
        Claims(checked=frozenset({"b"}), kept=frozenset({"c/d"})),
    )
    for name, claims in (("1", first), ("2", second), ("3", None)):
        folder = tmp_path / ".modelreg/runs" / name
        folder.mkdir(parents=True)
        if claims is not None:
            write_claims(folder, claims)
    assert read_last_claims(tmp_path) == ("2", second)


def test_ten_thousand_goldens_cost_little(tmp_path):
    """A second at most, for as many tests."""
    places = [f"test_{index // 100}/test_{index}/v" for index in range(10_000)]
    for place in places:
        folder = tmp_path / "py" / place
        folder.mkdir(parents=True)
        (folder / "golden.json").touch()
    claims = Claims(checked=frozenset(places[:-1]))
    started = time.perf_counter()
    orphans = find_values_orphans(tmp_path, claims)
    assert time.perf_counter() - started < 1.0
    assert names(tmp_path / "py", orphans) == [places[-1]]
