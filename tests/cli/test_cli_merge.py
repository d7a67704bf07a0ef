"""``modelreg merge``: the runs of all shards as one, or a refusal that names what is wrong with them."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from pytest_modelreg.cli import main
from tests.plugin.test_plugin_sharding import shop  # noqa: F401

TIMES = ("id", "started", "duration_s", "shard")


@pytest.fixture
def sharded(shop):  # noqa: F811
    """A project, committed, with the run folders of three shards as a CI job would have fetched them."""
    for words in (["init", "-q", "."], ["add", "-A"], ["commit", "-q", "-m", "x"]):
        author = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        subprocess.run(["git", *author, *words], cwd=shop.path, check=True)
    run_shards(shop)
    return shop


def run_shards(project, of: int = 3, *arguments: str) -> None:
    """Run all shards and keep their run folders apart from the project's."""
    for number in range(1, of + 1):
        folder = project.path / f"fetched/{number}"
        shutil.rmtree(folder, ignore_errors=True)
        project.pytest(f"--modelreg-shard={number}/{of}", f"--modelreg-run-dir={folder}", *arguments)


def normalise(report):
    """Return a report without times and order."""
    run = {key: value for key, value in report["run"].items() if key not in TIMES}
    cases = [{**case, "duration_s": 0} for case in report["cases"]]
    return {**report, "run": run, "cases": sorted(cases, key=lambda case: case["id"])}


def merge(*arguments: str) -> int:
    """Merge; a refusal is a number, too."""
    return main(["merge", *arguments])


def read(path: Path):
    """Return a JSON file."""
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("is_drifting", [False, True])
def test_the_merged_report_is_that_of_a_whole_run(sharded, is_drifting):
    """But for order and times; a drift included, with its numbers and its causes."""
    if is_drifting:
        sharded.edit("toymodel.py", "scale=1.0", "scale=1.1")
        run_shards(sharded)
    whole = sharded.report()
    assert merge("fetched", "--json", "merged.json") == (1 if is_drifting else 0)
    merged = read(sharded.path / "merged.json")
    assert normalise(merged) == normalise(whole)
    assert merged["run"]["partial"] is False
    assert {case["verdict"] for case in merged["cases"]} == ({"drift", "match"} if is_drifting else {"match"})


def test_the_merged_run_can_be_looked_at_and_decided_on(sharded, capsys):
    """Explain, report and review take it for the run that it is."""
    sharded.edit("toymodel.py", "scale=1.0", "scale=1.1")
    run_shards(sharded)
    assert merge("fetched") == 1
    capsys.readouterr()
    assert main(["explain"]) == 0
    assert "toy[reference]: drift" in capsys.readouterr().out
    assert main(["report", "last", "--html", "page.html"]) == 0
    assert main(["review", "--accept-all", "--reason", "brighter"]) == 0
    assert sharded.pytest().ret == 0


def fault_missing(project):
    """Lose a run folder."""
    shutil.rmtree(project.path / "fetched/2")


def fault_twice(project):
    """Fetch a shard a second time."""
    shutil.copytree(project.path / "fetched/2", project.path / "fetched/4")


def fault_other_count(project):
    """Run a shard of more."""
    project.pytest("--modelreg-shard=2/4", f"--modelreg-run-dir={project.path / 'fetched/2'}")


def fault_other_commit(project):
    """Run a shard on a later commit."""
    project.write("new.txt", "x")
    for words in (["add", "-A"], ["commit", "-q", "-m", "y"]):
        author = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        subprocess.run(["git", *author, *words], cwd=project.path, check=True)
    fault_redo(project)


def fault_other_suite(project):
    """Run a shard with an edited suite."""
    project.edit("modelreg.yaml", "batch_size: 6", "batch_size: 5")
    fault_redo(project)


def fault_other_durations(project):
    """Run a shard cut otherwise."""
    project.write("modelreg-durations.json", '{"modelreg_durations": 1, "cases": {"toy[six]": 3}}')
    fault_redo(project)


def fault_other_samples(project):
    """Run a shard on samples that were pinned again."""
    project.write("samples/s0.json", "[1, 2, 3]")
    project.pin()
    fault_redo(project)


def fault_redo(project, *arguments):
    """Run the second shard again."""
    folder = project.path / "fetched/2"
    shutil.rmtree(folder, ignore_errors=True)
    project.pytest("--modelreg-shard=2/3", f"--modelreg-run-dir={folder}", *arguments)


def fault_partial(project):
    """Leave cases of a shard out."""
    fault_redo(project, "-k", "not six and not one and not two and not value")


def fault_cut_off(project):
    """Lose the report of a run."""
    (project.path / "fetched/2/report.json").unlink()


def fault_tampered(project):
    """Change a verdict by hand."""
    path = project.path / "fetched/2/report.json"
    path.write_text(path.read_text(encoding="utf-8").replace('"match"', '"error"'), encoding="utf-8")


FAULTS = {
    "missing": (fault_missing, "shard 2/3 missing, and with it "),
    "twice": (fault_twice, "shard 2/3: expected one run folder, got 2"),
    "of another number": (fault_other_count, "expected the number of shards 3"),
    "of another commit": (fault_other_commit, "expected the commit "),
    "of another suite": (fault_other_suite, "expected modelreg.yaml as in shard 1/3"),
    "on other samples": (fault_other_samples, "expected samples/samples.csv as in shard 1/3"),
    "with other durations": (fault_other_durations, "expected the durations file "),
    "partial": (fault_partial, "got a partial run: -k"),
    "cut off": (fault_cut_off, "report.json"),
    "tampered with": (fault_tampered, "bytes changed"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_runs_that_are_not_one_whole_run_are_refused(sharded, capsys, fault):
    """Nothing is merged, and the fault is named."""
    plant, words = FAULTS[fault]
    plant(sharded)
    before = set((sharded.path / ".modelreg/runs").glob("*"))
    folders = [str(path) for path in sorted((sharded.path / "fetched").iterdir())]
    assert merge(*folders) == 2
    assert words in capsys.readouterr().err
    assert set((sharded.path / ".modelreg/runs").glob("*")) == before


def test_a_golden_without_a_case_is_named_by_the_merge(sharded, capsys):
    """No shard can know; all of them together do."""
    sharded.edit("test_values.py", "[1, 2, 3]", "[1, 2]")
    run_shards(sharded)
    assert merge("fetched") == 0
    out = capsys.readouterr().out
    assert "1 golden that no case has" in out
    assert "golden/py/test_values/test_value[3]/v" in out
    assert merge("fetched", "--strict") == 1


def test_a_case_that_could_not_run_is_told_apart(sharded):
    """Exit 3, as of any command."""
    sharded.edit("toydata.py", "return np", "raise ValueError('x')\n    return np")
    run_shards(sharded)
    assert merge("fetched") == 3


def test_durations_are_written_for_the_next_run(sharded):
    """All cases of the run, for the file to commit."""
    assert merge("fetched", "--durations", "modelreg-durations.json") == 0
    cases = read(sharded.path / "modelreg-durations.json")["cases"]
    assert len(cases) == 7
    run_shards(sharded)
    assert merge("fetched") == 0


def test_nothing_is_written_into_what_is_read(sharded, capsys):
    """A report below a shard's folder would be taken for the shard's own."""
    assert merge("fetched/1", "fetched/2", "fetched/3", "--json", "fetched/1/x.json") == 2
    assert "expected a place outside of" in capsys.readouterr().err
