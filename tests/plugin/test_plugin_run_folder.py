"""The run folder as the plugin uses it: made before anything runs, shared without harm."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

ONE = "def test_it(modelreg):\n    modelreg.check(embed())\n"
PLAIN = "def test_it():\n    pass\n"


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_tests_with_the_fixture_need_a_run_folder_before_they_run(module, workers):
    """A usage error, not a traceback at the end, also where there is no suite."""
    (module.path / ".modelreg").write_text("", encoding="utf-8")
    module.write("import pathlib\n\n\n" + ONE + "    pathlib.Path('ran').touch()\n")
    result = module.run(*workers)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: *the run folder cannot be made: *.modelreg, got a file*"])
    assert "Traceback" not in result.stderr.str() + result.stdout.str()
    assert not (module.path / "ran").exists()


def test_other_tests_need_none(module):
    """A project that always compares may still run one test in a place where nothing can be kept."""
    (module.path / ".modelreg").write_text("", encoding="utf-8")
    (module.path / "pytest.ini").write_text("[pytest]\nmodelreg = true\n", encoding="utf-8")
    module.write(PLAIN)
    assert module.pytester.runpytest_inprocess("test_m.py").ret == 0


def test_deselected_tests_make_none(module):
    """A run without cases leaves no folder, and pushes none out of the last ten."""
    module.write(ONE)
    result = module.run("-k", "nothing")
    assert not (module.path / ".modelreg").exists()
    result.stdout.fnmatch_lines(["warning: no case was run*tests with the fixture were deselected"])


@pytest.mark.parametrize("flags", [("--modelreg-json=r.json",), ("--modelreg-run-dir=out",), ()])
def test_folder_that_vanishes_is_a_problem_line(module, flags):
    """What the run found is still said when its folder is gone at the end."""
    module.write(
        "def test_it(modelreg):\n    import shutil\n    for name in ('.modelreg', 'out'):\n"
        "        shutil.rmtree(HERE / name, ignore_errors=True)\n        (HERE / name).write_text('')\n"
        "    modelreg.check(embed())\n"
    )
    result = module.run(*flags)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["error: *"])
    for text in (result.stdout.str(), result.stderr.str()):
        assert "INTERNALERROR" not in text


def test_dist_each_gives_no_spurious_errors(module):
    """Every worker runs every test into one run folder."""
    module.write("".join(ONE.replace("test_it", f"test_{index}") for index in range(8)))
    module.record()
    module.scale(1.2)
    result = module.run("-n", "2", "--dist", "each", "--modelreg-run-dir=out", "--modelreg-json=r.json")
    result.assert_outcomes(failed=16)
    assert set(module.verdicts("-n", "2", "--dist", "each", "--modelreg-run-dir=out").values()) == {"drift"}
    assert len(list((module.path / "out").glob("py*/outputs.output.*.npy"))) == 8
    assert not list((module.path / "out").glob(".work-*"))


def test_two_runs_share_one_run_folder(module):
    """Two jobs with one --modelreg-run-dir do not trip over each other's files."""
    module.write("".join(ONE.replace("test_it", f"test_{index}") for index in range(30)))
    module.record()
    module.scale(1.2)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "--modelreg",
        "--modelreg-run-dir=out",
        "-p",
        "no:cacheprovider",
    ]
    runs = [
        subprocess.Popen(
            command,
            cwd=module.path,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=dict(os.environ),
        )
        for _ in range(2)
    ]
    for run in runs:
        text = run.communicate(timeout=120)[0]
        assert "30 drift" in text
        assert "not kept" not in text
    assert len(list((module.path / "out").glob("py*/observation.json"))) == 30


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_outputs_of_matches_are_kept_on_demand(recorded, workers):
    """The files that judging again reads, in every process of the run; without the flag only the measures."""

    def run(*flags):
        recorded.pytester.runpytest_subprocess("--modelreg", "--modelreg-run-dir=out", *flags, *workers)
        return {path.name.partition(".")[0] for path in (recorded.path / "out/toy[reference]").iterdir()}

    assert run() == {"measures"}
    assert run("--modelreg-keep-outputs") >= {"observation", "case", "outputs", "measures"}
    assert run() == {"measures"}


def test_keeping_outputs_without_comparing_is_refused(recorded):
    """Nothing would be kept."""
    result = recorded.pytester.runpytest_inprocess("--modelreg-keep-outputs")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--modelreg-keep-outputs: needs --modelreg*"])
