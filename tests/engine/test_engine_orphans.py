"""Goldens that no case has any more: found by what is claimed, never by a guess."""

from __future__ import annotations

import json
import os
import time
from datetime import datetime, timezone
from pathlib import Path

import pytest

from pytest_modelreg.engine.orphans import (
    Claims,
    find_suite_orphans,
    find_values_orphans,
    read_last_claims,
    write_claims,
)
from pytest_modelreg.engine.suite_loading import load_suite
from pytest_modelreg.store import safe_component

RUN = "2026010{}T000000-000000Z"


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
    assert names(root, find_suite_orphans([suite], suites.path)) == [
        "other/reference",
        "toy/gone",
        "toy/shared",
    ]


def test_goldens_of_several_environments_are_claimed(suites):
    """Those of other machines are nobody's orphans here."""
    suite = suites.extend("golden_per: [machine]\n")
    root = suites.path / "golden"
    plant(root, "toy/reference/machine=a", "toy/reference/machine=b", "toy/x/machine=a")
    (root / "toy/reference/golden.json").touch()
    assert names(root, find_suite_orphans([suite], suites.path)) == ["toy/reference", "toy/x/machine=a"]


def test_check_that_is_gone_is_an_orphan_and_a_skipped_test_keeps_its_own(tmp_path):
    """A test that did not come to its end says nothing of the checks it would have made."""
    plant(
        tmp_path / "golden/py",
        "test_a/test_x/v",
        "test_a/test_x/old",
        "test_a/test_skipped/v",
        "test_gone/test/v",
    )
    claims = Claims(checked=frozenset({"test_a/test_x/v"}), kept=frozenset({"test_a/test_skipped"}))
    assert names(tmp_path / "golden/py", find_values_orphans(tmp_path, claims)) == [
        "test_a/test_x/old",
        "test_gone/test/v",
    ]


def test_golden_roots_in_each_other_claim_together(suites):
    """What one suite calls its own is no orphan of another, and what is one is named once."""
    outer = suites.extend("golden: goldens\n")
    inner = load_suite(
        suites.write(suites.suite.replace("toy", "in") + "golden: goldens/deep\n", "in.modelreg.yaml"),
        rootdir=suites.path,
    )
    plant(suites.path / "goldens", "toy/reference", "deep/in/reference", "deep/in/gone")
    assert names(suites.path, find_suite_orphans([outer, inner], suites.path)) == ["goldens/deep/in/gone"]


def test_goldens_of_python_tests_below_a_golden_root_are_left_alone(suites):
    """The project itself may be the golden root, and a project below may have tests of its own."""
    suite = suites.extend("golden: .\n")
    plant(suites.path, "golden/py/test_a/test/v", "sub/golden/py/test_b/test/v", "toy/gone")
    (suites.path / "sub/golden/py/test_b/test/v/golden.json").write_text(
        json.dumps({"suite": "py"}, indent=2), encoding="utf-8"
    )
    assert names(suites.path, find_suite_orphans([suite], suites.path)) == ["toy/gone"]


def test_golden_root_outside_of_the_project_is_left_alone(suites):
    """Other projects keep goldens there."""
    project = suites.path / "project"
    suite = load_suite(
        suites.write(
            suites.suite.replace("folder: samples", "folder: ../samples") + "golden: ../shared\n",
            "project/modelreg.yaml",
        ),
        rootdir=project,
    )
    plant(suites.path / "shared", "toy/reference", "toy/gone", "other/reference")
    assert find_suite_orphans([suite], project) == []


@pytest.mark.skipif(os.name == "nt", reason="a link takes a privilege there")
def test_linked_golden_root_gives_up_only_what_is_ours(suites):
    """A link that leads out of the project: other projects' suites may be there as well."""
    project = suites.path / "project"
    suite = load_suite(
        suites.write(
            suites.suite.replace("folder: samples", "folder: ../samples") + "golden: linked\n",
            "project/modelreg.yaml",
        ),
        rootdir=project,
    )
    plant(suites.path / "shared", "toy/reference", "toy/gone", "other/reference")
    for name in ("toy", "other"):
        for file in (suites.path / "shared" / name).glob("*/golden.json"):
            file.write_text(json.dumps({"suite": name}, indent=2), encoding="utf-8")
    (project / "linked").symlink_to(suites.path / "shared")
    assert names(project, find_suite_orphans([suite], project)) == ["linked/toy/gone"]


@pytest.mark.parametrize(
    ("file", "place"),
    [
        ("a/b.py", "a.b/test/v"),
        ("a.b.py", "a.b/test/v"),
        ("a/b.txt", "a.b/b.txt/v"),
        ("a/b.py", "a.b/a.b.function/v"),
        ("../out/test_c.py", "up.out.test_c/test/v"),
        (f"{'long' * 25}/test_d.py", f"{safe_component('long' * 25 + '.test_d')}/test/v"),
    ],
)
def test_file_that_is_there_and_was_not_collected_keeps_its_goldens(tmp_path, file, place):
    """Skipped, ignored, or of another kind than was asked for; once it is gone they are orphans."""
    project = tmp_path / "project"
    plant(project / "golden/py", place)
    path = project / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    assert find_values_orphans(project, Claims()) == []
    claims = Claims(collected=frozenset({file}), doctested=frozenset({file}))
    assert names(project / "golden/py", find_values_orphans(project, claims)) == [place]
    path.unlink()
    assert names(project / "golden/py", find_values_orphans(project, Claims())) == [place]


def test_doctest_of_a_collected_module_is_kept_without_its_flag(tmp_path):
    """Its tests were collected, its doctests were not."""
    plant(tmp_path / "golden/py", "a.b/a.b.function/v", "a.b/test[1.5]/v")
    (tmp_path / "a").mkdir()
    (tmp_path / "a/b.py").touch()
    claims = Claims(collected=frozenset({"a/b.py"}))
    assert names(tmp_path / "golden/py", find_values_orphans(tmp_path, claims)) == ["a.b/test[1.5]/v"]


@pytest.mark.parametrize("by", ["date", "mtime"])
def test_golden_accepted_after_the_run_had_started_is_kept(tmp_path, by):
    """The run knows nothing of it; an older one it would have claimed."""
    plant(tmp_path / "golden/py", "test_a/test/old", "test_a/test/new")
    now = time.time()
    for name, age in (("old", -1000), ("new", 1000)):
        file = tmp_path / f"golden/py/test_a/test/{name}/golden.json"
        date = datetime.fromtimestamp(now + age * (by == "date"), timezone.utc)
        accepted = {"date": date.isoformat(timespec="seconds").replace("+00:00", "Z")}
        file.write_text(json.dumps({"accepted": accepted}, indent=2), encoding="utf-8")
        moment = now - 1000 if by == "date" else now + age
        os.utime(file, (moment, moment))
    orphans = find_values_orphans(tmp_path, Claims(as_of=now + 1))
    assert names(tmp_path / "golden/py", orphans) == ["test_a/test/old"]


def test_foreign_folder_is_never_the_last_run(tmp_path):
    """A downloaded run, a backup: only names that are ids of runs count."""
    for name, place in ((RUN.format(1), "ours"), ("from-ci", "theirs"), (RUN.format(2) + "-copy", "old")):
        folder = tmp_path / ".modelreg/runs" / name
        folder.mkdir(parents=True)
        write_claims(folder, Claims(checked=frozenset({place})))
    found = read_last_claims(tmp_path)
    assert found is not None
    assert found[1].checked == {"ours"}


def test_claims_are_read_back_from_the_last_whole_run(tmp_path):
    """Of two runs the later one counts; one that was not whole has none."""
    first, second = (
        Claims(checked=frozenset({"a"})),
        Claims(checked=frozenset({"b"}), kept=frozenset({"c/d"})),
    )
    for name, claims in ((RUN.format(1), first), (RUN.format(2), second), (RUN.format(3), None)):
        folder = tmp_path / ".modelreg/runs" / name
        folder.mkdir(parents=True)
        if claims is not None:
            write_claims(folder, claims)
    found = read_last_claims(tmp_path)
    assert found is not None
    assert (found[0], found[1].checked, found[1].kept) == (RUN.format(2), second.checked, second.kept)


def test_ten_thousand_goldens_cost_little(tmp_path):
    """A second at most, for as many tests."""
    places = [f"test_{index // 100}/test_{index}/v" for index in range(10_000)]
    for place in places:
        folder = tmp_path / "golden/py" / place
        folder.mkdir(parents=True)
        (folder / "golden.json").touch()
    claims = Claims(checked=frozenset(places[:-1]))
    started = time.perf_counter()
    orphans = find_values_orphans(tmp_path, claims)
    assert time.perf_counter() - started < 1.0
    started = time.perf_counter()
    assert len(find_values_orphans(tmp_path, Claims(as_of=time.time() + 60))) == 10_000
    assert time.perf_counter() - started < 1.0
    assert names(tmp_path / "golden/py", orphans) == [places[-1]]
