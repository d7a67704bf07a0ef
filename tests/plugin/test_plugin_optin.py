"""Honest opt-in: nothing is green because nothing was compared."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest


def test_suites_are_not_collected_without_the_flag(recorded):
    """G1: a plain pytest run does not touch suites."""
    result = recorded.pytester.runpytest_inprocess()
    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED


def test_suite_named_without_the_flag_is_skipped_with_the_reason(recorded):
    """G1: a suite file among the arguments is skipped and says why, not "not found"."""
    result = recorded.pytester.runpytest_inprocess("modelreg.yaml", "-rs")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["*add --modelreg*"])


def test_project_that_always_compares_may_run_one_test_file(recorded):
    """With the ini setting, naming a test file is no reason to warn; --modelreg is."""
    recorded.pytester.makeini("[pytest]\nmodelreg = true\n")
    path = recorded.pytester.makepyfile("def test_other(): pass")
    recorded.pytester.runpytest_inprocess(path).stdout.no_fnmatch_line("*no case was run*")
    recorded.pytest(path).stdout.fnmatch_lines(["*no case was run*"])


def test_ini_setting_turns_it_on(recorded):
    """G2: a project can make every run compare."""
    recorded.pytester.makeini("[pytest]\nmodelreg = true\n")
    result = recorded.pytester.runpytest_inprocess()
    assert result.ret == 0
    result.stdout.fnmatch_lines(["*1 match*"])


def test_flag_without_a_case_warns(pytester):
    """G3: other tests pass, and the run says that no model was compared."""
    pytester.makepyfile("def test_other(): pass")
    result = pytester.runpytest_inprocess("--modelreg")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["*warning: *no case was run*"])


def test_flag_without_a_case_fails_when_strict(pytester):
    """G3: strict makes it an error."""
    pytester.makepyfile("def test_other(): pass")
    result = pytester.runpytest_inprocess("--modelreg", "--modelreg-strict")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*error: *no case was run*"])


@pytest.mark.parametrize("flag", ["--modelreg-regen=all", "--modelreg-json=r.json", "--modelreg-reason=x"])
def test_flag_that_would_do_nothing_is_refused(pytester, flag):
    """A forgotten --modelreg must not turn a comparison silently off."""
    result = pytester.runpytest_inprocess(flag)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*needs --modelreg*"])


def test_cases_are_selected_by_marker_and_keyword(recorded):
    """-m modelreg and -k work on cases as on any item."""
    recorded.pytester.makepyfile("def test_other(): pass")
    recorded.pytest("-m", "modelreg").assert_outcomes(passed=1, deselected=1)
    recorded.pytest("-k", "reference").assert_outcomes(passed=1, deselected=1)


def test_importing_the_plugin_loads_nothing_heavy():
    """H1: an installed but unused plugin costs no framework, no numpy, no yaml."""
    code = (
        "import sys, json, pytest_modelreg.plugin; "
        "print(json.dumps([m for m in ('torch', 'numpy', 'yaml', 'pydantic') if m in sys.modules]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == []


def test_header_names_suite_model_and_samples(recorded):
    """Who runs sees what is compared before it is."""
    recorded.pytest().stdout.fnmatch_lines(["modelreg: toy: toymodel:build, 6 samples, 1 case"])


def test_two_suites_with_a_module_of_one_name_get_their_own(project):
    """Each suite imports the pipeline.py beside it, never its neighbour's."""
    for name, factor in (("first", 1), ("second", 10)):
        project.write(
            f"{name}/pipeline.py",
            f"def build():\n    return lambda x: x * {factor}\n\n\n"
            "def prepare(s):\n    import numpy as np\n    return np.asarray(s, dtype=np.float32)\n",
        )
        project.write(
            f"{name}/modelreg.yaml",
            f"modelreg: 1\nsuite: {name}\nsamples: {{folder: ../samples, loader: json}}\n"
            "reference: {model: 'pipeline:build', preprocess: 'pipeline:prepare'}\n",
        )
    project.record()
    assert project.pytest().ret == 0
    project.edit("second/pipeline.py", "x * 10", "x * 11")
    report = project.report()
    assert {case["id"]: case["verdict"] for case in report["cases"]} == {
        "toy[reference]": "match",
        "first[reference]": "match",
        "second[reference]": "drift",
    }


@pytest.mark.parametrize(
    "arguments",
    [
        ("modelreg.yaml::toy[reference]",),
        ("modelreg.yaml::toy[a::b]", "modelreg.yaml::toy"),
        ("modelreg.yaml", "modelreg.yaml::toy[reference]"),
    ],
)
def test_case_named_without_the_flag_is_skipped_with_the_reason(recorded, arguments):
    """As printed in a report; "not found" would send its user looking in the wrong place."""
    result = recorded.pytester.runpytest_inprocess("-rs", *arguments)
    result.assert_outcomes(skipped=len(arguments))
    result.stdout.fnmatch_lines(["SKIPPED * modelreg.yaml:1: *add --modelreg*"])
    result.stdout.no_fnmatch_line("*off.py*")
