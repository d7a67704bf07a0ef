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
