"""Faults of a suite file are usage errors: all at once, exit 4, also with workers."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_faults_of_all_files_are_reported_together(project, workers):
    """Every fault of every file, with line and key path, before anything runs."""
    project.pin()
    project.edit("modelreg.yaml", "batch_size: 4", "batch_size: many\n  preproces: toydata:prepare")
    project.write("other.modelreg.yaml", "modelreg: 1\nsuite: other\nsampels: {}\n")
    result = project.pytester.runpytest_subprocess("--modelreg", *workers)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    err = result.stderr.str()
    assert "modelreg.yaml:8: reference.batch_size" in err
    assert "did you mean preprocess?" in err
    assert "did you mean samples?" in err


def test_misspelt_check_names_the_nearest(project):
    """A9: a check that does not exist is never a check that passes."""
    project.pin()
    project.write("modelreg.yaml", (project.path / "modelreg.yaml").read_text() + "checks: {rel_l: 1e-5}\n")
    result = project.pytest()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*rel_l*did you mean rel_l2*"])


def test_faulty_suite_outside_the_arguments_does_not_matter(project):
    """Only what the run would collect is read."""
    project.record()
    project.write("elsewhere/modelreg.yaml", "nonsense")
    assert project.pytest("modelreg.yaml").ret == 0


def test_plain_run_is_not_stopped_by_a_faulty_suite(project):
    """Without --modelreg suite files are nobody's business."""
    project.write("modelreg.yaml", "nonsense")
    project.pytester.makepyfile("def test_other(): pass")
    assert project.pytester.runpytest_inprocess().ret == 0


@pytest.mark.parametrize(
    ("flag", "target"),
    [
        ("--modelreg-json", "golden/toy/reference/golden.json"),
        ("--modelreg-json", "samples/report.json"),
        ("--modelreg-run-dir", "golden"),
        ("--modelreg-run-dir", "samples/run"),
    ],
)
def test_reports_among_goldens_or_samples_are_refused(recorded, flag, target):
    """A plain run never writes there, also when asked to by accident."""
    before = recorded.golden_bytes() | recorded.golden_bytes("samples")
    result = recorded.pytest(f"{flag}={target}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*{flag}*choose another path*"])
    assert recorded.golden_bytes() | recorded.golden_bytes("samples") == before


@pytest.mark.parametrize("flags", [(), ("--modelreg-run-dir=toymodel.py",)])
def test_run_folder_that_cannot_be_made_stops_the_run(recorded, flags):
    """One line with the path before anything runs, no traceback."""
    if not flags:
        import shutil

        shutil.rmtree(recorded.path / ".modelreg")
        recorded.write(".modelreg", "")
    result = recorded.pytest(*flags)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: *run folder*"])
    assert "Traceback" not in result.stderr.str()


def test_two_suites_of_one_name_are_refused(recorded):
    """Their cases could not be told apart in reports and commands."""
    text = (recorded.path / "modelreg.yaml").read_text(encoding="utf-8")
    recorded.write(
        "sub/modelreg.yaml",
        text.replace("folder: samples", "folder: ../samples").replace(
            "labels: labels.txt", "labels: ../labels.txt"
        ),
    )
    result = recorded.pytest()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*sub/modelreg.yaml:3: suite:*modelreg.yaml:3*"])


def test_suite_left_out_by_testpaths_is_named(recorded):
    """The usual way to compare nothing in CI is told from an empty project."""
    recorded.pytester.makeini("[pytest]\ntestpaths = tests\n")
    recorded.write("tests/test_other.py", "def test_other(): pass\n")
    recorded.pytest().stdout.fnmatch_lines(["warning: *leave out modelreg.yaml*testpaths*"])


@pytest.mark.parametrize("flag", ["--modelreg-json", "--modelreg-markdown", "--modelreg-run-dir"])
def test_empty_path_is_refused(recorded, flag):
    """An unset variable of a CI script is no wish for the current folder."""
    result = recorded.pytest(f"{flag}=")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*{flag}: expected a path, got empty text"])


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--modelreg-json=r.json", "--junitxml=r.json"), "--junitxml*--modelreg-json"),
        (("--modelreg-markdown=sub/../r", "--junitxml=r"), "--junitxml*--modelreg-markdown"),
        (("--modelreg-run-dir=run", "--junitxml=run/report.json"), "--modelreg-run-dir*--junitxml"),
        (("--modelreg-json=r", "--modelreg-markdown=link"), "--modelreg-markdown*--modelreg-json"),
    ],
)
def test_two_reports_in_one_file_are_refused(recorded, flags, words):
    """The later one would overwrite the earlier one."""
    (recorded.path / "link").symlink_to(recorded.path / "r")
    result = recorded.pytest(*flags)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*{words}*, got the same one"])


def test_report_in_the_run_folder_is_no_clash(recorded):
    """It is the same report twice."""
    assert recorded.pytest("--modelreg-run-dir=run", "--modelreg-json=run/report.json").ret == 0


@pytest.mark.parametrize("flag", ["--modelreg-json", "--modelreg-markdown"])
@pytest.mark.parametrize(
    ("target", "reason"),
    [(".", "Is a directory"), ("toymodel.py/r", "*"), (f"{'long' * 80}/r", "File name too long")],
)
def test_report_that_cannot_be_written_stops_the_run(recorded, flag, target, reason):
    """An hour of forward passes for a report that is not there would be lost."""
    result = recorded.pytest(f"{flag}={target}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        [f"ERROR: {flag} *expected a place for a report file*({reason}); name another*"]
    )


def test_report_in_a_folder_that_is_yet_to_be_made_is_fine(recorded):
    """Just inside."""
    assert recorded.pytest("--modelreg-json=new/folder/r.json").ret == 0
