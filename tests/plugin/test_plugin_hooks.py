"""Hooks: a project adds facts to the fingerprint and sees every verdict."""

from __future__ import annotations

import json

import pytest

FACTS = 'def pytest_modelreg_fingerprint(config):\n    return {"shop.revision": 1}\n'
WATCH = """
import json, os

def pytest_modelreg_verdict(config, record):
    with open("seen.jsonl", "a") as stream:
        stream.write(json.dumps([os.getpid(), hasattr(config, "workerinput"), record]) + "\\n")
    record.clear()
"""
CHECKS = """
import numpy as np

def test_embed(modelreg):
    modelreg.check(np.ones((2, 3), dtype=np.float32), name="embed")
"""


def seen(project):
    """What the verdict hook wrote: process, whether it was a worker, record."""
    path = project.path / "seen.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def test_fact_is_in_golden_report_and_digest(project):
    """F4: a project adds a field; it is a fact like any other, for suites and for tests."""
    project.pytester.makepyfile(test_embed=CHECKS)
    without = project.report("-p", "no:cacheprovider")["environment"]
    project.write("conftest.py", FACTS)
    project.record()
    goldens = list((project.path / "golden").rglob("golden.json"))
    assert len(goldens) == 2
    for golden in goldens:
        assert json.loads(golden.read_text())["fingerprint"]["facts"]["shop.revision"] == 1
    environment = project.report()["environment"]
    assert environment["shop.revision"] == 1
    assert environment["digest"] != without["digest"]


def test_changed_fact_is_an_environment_change_of_a_drift(project):
    """A drift leads with what the project knows of the environment, too."""
    project.write("conftest.py", FACTS)
    project.record()
    project.edit("conftest.py", ": 1", ": 2")
    assert [case["verdict"] for case in project.report()["cases"]] == ["match"]
    project.edit("toymodel.py", "scale=1.0", "scale=1.2")
    (case,) = project.report()["cases"]
    assert case["environment_changes"] == [{"key": "shop.revision", "expected": 1, "actual": 2}]


def test_fact_is_the_same_with_workers(project):
    """Every process asks for itself."""
    project.write("conftest.py", FACTS)
    project.pin()
    project.modelreg("regen")  # in a process of its own: this one may have loaded torch
    target = project.path / "report.json"
    project.pytester.runpytest_subprocess("--modelreg", "-n", "2", f"--modelreg-json={target}")
    report = json.loads(target.read_text())
    assert report["environment"]["shop.revision"] == 1
    assert report["cases"][0]["environment_changes"] == []


def test_facts_are_asked_for_once_a_process(project):
    """A hook may be slow; its answer does not change within a run."""
    project.write(
        "conftest.py",
        "def pytest_modelreg_fingerprint(config):\n"
        "    open('asked', 'a').write('x')\n"
        "    return {'shop.revision': 1}\n",
    )
    project.pytester.makepyfile(test_embed=CHECKS)
    project.pin()
    project.pytest()
    assert (project.path / "asked").read_text() == "x"


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_faulty_facts_are_usage_errors_all_at_once(project, workers):
    """Exit 4 before any case runs, every fault named."""
    project.pin()
    project.write(
        "conftest.py",
        'def pytest_modelreg_fingerprint(config):\n    return {"Rev": 1, "torch.version": "9", "a.b": [1]}\n',
    )
    result = project.pytester.runpytest_subprocess("--modelreg", *workers)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    for key in ("Rev", "torch.version", "a.b"):
        result.stderr.fnmatch_lines([f"*pytest_modelreg_fingerprint: {key}: expected *"])


def test_hook_that_raises_is_a_usage_error_with_its_line(project):
    """Facts that cannot be had are not left out silently."""
    project.pin()
    project.write("conftest.py", "def pytest_modelreg_fingerprint(config):\n    return {}['shop']\n")
    result = project.pytest()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*KeyError*conftest.py:2*"])


def test_facts_are_not_asked_for_while_comparing_is_off(project):
    """A plain run costs a project nothing."""
    project.write("conftest.py", "def pytest_modelreg_fingerprint(config):\n    raise RuntimeError\n")
    project.pytester.makepyfile("def test_other(): pass")
    assert project.pytester.runpytest_inprocess().ret == 0


@pytest.mark.parametrize("workers", [("-n", "0"), ("-n", "2")])
def test_verdict_is_seen_once_a_case_in_the_main_process(project, workers):
    """Not in workers, where two would tell the same story; the record is the report's."""
    project.record()
    project.edit("toymodel.py", "scale=1.0", "scale=1.2")
    project.write("conftest.py", WATCH)
    project.pytester.makepyfile(test_embed=CHECKS)
    target = project.path / "report.json"
    project.pytester.runpytest_subprocess("--modelreg", f"--modelreg-json={target}", *workers)
    records = json.loads(target.read_text())["cases"]
    assert [record for _, _, record in seen(project)] == records
    assert sorted(record["verdict"] for record in records) == ["drift", "missing"]
    assert not any(is_worker for _, is_worker, _ in seen(project))
    assert len({process for process, _, _ in seen(project)}) == 1


def test_what_a_verdict_hook_does_to_its_record_stays_there(project):
    """The next implementation is handed another copy, and the summary its own."""
    project.record()
    project.write("conftest.py", WATCH)
    result = project.pytest()
    assert result.ret == 0
    result.stdout.fnmatch_lines(["1 match"])


def test_verdict_hook_that_raises_fails_the_run_after_the_report(project):
    """A dashboard that heard nothing is seen; the report is there all the same."""
    project.record()
    project.write(
        "conftest.py", "def pytest_modelreg_verdict(config, record):\n    raise OSError('no route')\n"
    )
    result = project.pytest("--modelreg-json=report.json")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        ["error: pytest_modelreg_verdict: *OSError: no route (at *conftest.py:2)*toy*"]
    )
    assert (project.path / "report.json").is_file()


def test_misspelt_hook_is_refused_by_pytest(project):
    """The hooks are registered, so that pytest validates arguments."""
    project.write("conftest.py", "def pytest_modelreg_verdict(config, recrod):\n    pass\n")
    project.pin()
    assert project.pytester.runpytest_subprocess("--modelreg").ret != 0


RAISES = ["pytest.fail('no')", "pytest.skip('no')", "raise SystemExit(3)", "pytest.exit('no')"]


@pytest.mark.parametrize("statement", RAISES)
def test_whatever_a_facts_hook_raises_is_a_usage_error(project, statement):
    """pytest's own outcomes and sys.exit are no Exception, and no way to end a run in silence."""
    project.pin()
    project.write(
        "conftest.py",
        f"import pytest\n\n\ndef pytest_modelreg_fingerprint(config):\n    {statement}\n",
    )
    result = project.pytest()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*the project's code raised *conftest.py:5*"])


@pytest.mark.parametrize("statement", RAISES)
def test_whatever_a_verdict_hook_raises_is_a_problem(project, statement):
    """The run fails and names the hook, with the line of the project's own."""
    project.record()
    project.write(
        "conftest.py",
        f"import pytest\n\n\ndef pytest_modelreg_verdict(config, record):\n    {statement}\n",
    )
    result = project.pytest()
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["error: pytest_modelreg_verdict: *(at *conftest.py:5)*toy*"])


@pytest.mark.parametrize("workers", [("-n", "0"), ("-n", "2")])
@pytest.mark.parametrize("facts", ["{'sub.fact': 1}", "{'Faulty': 1}"])
def test_hook_of_a_folder_below_is_not_asked(project, workers, facts):
    """It is unknown when a run starts: it must not count in workers alone, nor break them."""
    project.write("sub/conftest.py", f"def pytest_modelreg_fingerprint(config):\n    return {facts}\n")
    project.write("sub/test_embed.py", CHECKS)
    project.pin()
    project.modelreg("regen")
    target = project.path / "report.json"
    project.pytester.runpytest_subprocess("--modelreg", *workers, f"--modelreg-json={target}")
    report = json.loads(target.read_text())
    assert "sub.fact" not in report["environment"]
    assert sorted(case["verdict"] for case in report["cases"]) == ["match", "missing"]


@pytest.mark.parametrize("n_cases", [1, 2])
def test_facts_that_fail_in_a_worker_alone_are_told_by_its_cases(project, n_cases):
    """The controller saw nothing wrong; a worker that stopped would look like a crash."""
    if n_cases > 1:
        suite = (project.path / "modelreg.yaml").read_text(encoding="utf-8")
        project.write("modelreg.yaml", suite + "variants: {one: {batch_size: 1}}\n")
    project.record()
    project.write(
        "conftest.py",
        "def pytest_modelreg_fingerprint(config):\n"
        "    if hasattr(config, 'workerinput'):\n        raise RuntimeError('no network')\n    return {}\n",
    )
    result = project.pytester.runpytest_subprocess("--modelreg", "-n", "1")
    result.assert_outcomes(failed=n_cases)
    result.stdout.fnmatch_lines(["error: *pytest_modelreg_fingerprint*RuntimeError: no network*conftest.py*"])
    result.stdout.no_fnmatch_line("*Traceback*")
    result.stdout.no_fnmatch_line("*INTERNALERROR*")
