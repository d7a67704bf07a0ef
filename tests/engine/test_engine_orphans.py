"""Goldens that no case has any more: found by what is claimed, never by a guess."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from pytest_modelreg.engine.orphans import MAX_LISTED, describe_orphans, find_suite_orphans
from pytest_modelreg.engine.suite_loading import load_suite


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
    ("golden_per", "device", "lost"),
    [
        ("[torch]", "", ["device=A100,machine=x86_64", "device=cpu,machine=x86_64"]),
        ("[device, machine]", "", []),
        ("[device]", "", ["device=A100,machine=x86_64"]),
        ("[device]", "  device: cuda\n", []),
    ],
)
def test_environment_that_nothing_leads_to_any_more_is_an_orphan(suites, golden_per, device, lost):
    """golden_per was changed, or the device: no run anywhere would read the golden again."""
    text = suites.suite.replace("reference:\n", f"golden_per: {golden_per}\nreference:\n{device}")
    suite = load_suite(suites.write(text, "modelreg.yaml"), rootdir=suites.path)
    root = suites.path / "golden/toy/reference"
    plant(root, "device=A100,machine=x86_64", "device=cpu,machine=x86_64", "torch=2.14")
    found = names(root, find_suite_orphans([suite], suites.path))
    assert [name for name in found if name != "torch=2.14"] == lost
    assert ("torch=2.14" in found) == (golden_per != "[torch]")


def test_long_list_is_cut_with_the_count(tmp_path):
    """Thousands of lines would hide what else a run says."""
    folders = [tmp_path / f"golden/py/t/{index:03}" for index in range(MAX_LISTED + 5)]
    lines = describe_orphans(folders, tmp_path)
    assert lines[0].startswith(f"{len(folders)} goldens that no case has;")
    assert (lines[1], lines[-1], len(lines)) == ("golden/py/t/000", "and 5 more", MAX_LISTED + 2)
    assert describe_orphans(folders[:MAX_LISTED], tmp_path)[-1] == f"golden/py/t/{MAX_LISTED - 1:03}"


@pytest.mark.parametrize("is_claimed", [True, False])
def test_ten_thousand_goldens_of_a_suite_cost_little(suites, is_claimed):
    """A second of this process at most, orphans or not."""
    suite = suites.extend("golden_per: [machine]\n" if is_claimed else "golden_budget_mb: 1\n")
    root = suites.path / "golden/toy/reference"
    for index in range(10_000):
        folder = root / f"machine={index}"
        folder.mkdir(parents=True)
        (folder / "golden.json").write_text(json.dumps({"suite": "toy"}, indent=2), encoding="utf-8")
    spent_s = []
    for _ in range(3):  # the first one may meet folders that no cache has yet
        started = time.process_time()
        orphans = find_suite_orphans([suite], suites.path)
        describe_orphans(orphans, suites.path)
        spent_s.append(time.process_time() - started)
        assert len(orphans) == (0 if is_claimed else 10_000)
    assert min(spent_s) < 1.0
