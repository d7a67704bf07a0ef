"""How values that a Python test hands over are judged, where that differs from a suite's cases."""

from __future__ import annotations

import pytest

TEST = """
import numpy as np


def test_values(modelreg):
    modelreg.check({values})
"""


def judge(project, before, after):
    """Record values, then return the record of a run that hands over others."""
    project.write("test_it.py", TEST.format(values=before))
    (project.path / "modelreg.yaml").unlink(missing_ok=True)
    project.pytest("--modelreg-regen=missing", "test_it.py").assert_outcomes(passed=1)
    project.write("test_it.py", TEST.format(values=after))
    (record,) = project.report("test_it.py")["cases"]
    return record


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("np.ones((10, 4), 'f4')", "np.ones((11, 4), 'f4')", "expected float32 (10, 4), got float32 (11, 4)"),
        ("np.ones((4, 3), 'f4')", "np.ones(12, 'f4')", "expected float32 (4, 3), got float32 (12,)"),
        (
            "np.ones((4, 3), 'f4')",
            "np.ones((1, 4, 3), 'f4')",
            "expected float32 (4, 3), got float32 (1, 4, 3)",
        ),
    ],
)
def test_another_count_of_numbered_samples_is_another_shape(project, before, after, message):
    """Nobody pinned files there, so nothing is said of a sample set."""
    record = judge(project, before, after)
    assert record["verdict"] == "drift"
    assert f"shape of output: {message}" in record["message"]
    assert record["causes"] == []


def test_setting_that_another_test_left_behind_loosens_no_limit(project):
    """A precision that torch may multiply in says nothing of values that numpy computed."""
    pytest.importorskip("torch")
    project.write(
        "test_a_first.py",
        "import torch\n\n\ndef test_sets():\n    torch.set_float32_matmul_precision('medium')\n",
    )
    project.write("test_it.py", TEST.format(values="np.ones((3, 20), 'f4')"))
    (project.path / "modelreg.yaml").unlink()
    project.pytest("--modelreg-regen=missing", "test_it.py")
    project.write("test_it.py", TEST.format(values="np.ones((3, 20), 'f4') * np.float32(1.01)"))
    result = project.pytester.runpytest_subprocess("--modelreg", "test_a_first.py", "test_it.py")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*rel_l2*0.01*dtype default (float32)*"])


def test_plain_number_is_one_value(project):
    """Of one number there is no worst, no share and no sample."""
    record = judge(project, "0.5", "0.75")
    assert record["message"] == "output rel_l2 0.5 > 1e-05"
    result = project.pytest("test_it.py")
    result.stdout.no_fnmatch_line("*batch*")
    result.stdout.no_fnmatch_line("*1 of 1*")
    accepted = project.pytest("--modelreg-regen=changed", "--modelreg-reason=meant", "test_it.py")
    accepted.stdout.fnmatch_lines(["recorded, not compared: *: replaced: meant;*"])
    assert project.report("test_it.py")["cases"][0]["message"] == "bit-identical"


def test_one_sample_is_singular(project):
    """'from 1 samples' reads like a fault."""
    project.write("test_it.py", TEST.format(values="np.ones((1, 2), 'f4')"))
    (project.path / "modelreg.yaml").unlink()
    result = project.pytest("--modelreg-regen=missing", "test_it.py")
    result.stdout.fnmatch_lines(["recorded, not compared: *: recorded from 1 sample: *"])


@pytest.mark.parametrize("mode", ["--modelreg-regen=missing", "--modelreg-regen=all"])
def test_values_without_a_finite_number_are_told_in_the_words_of_a_test(project, mode):
    """There is no suite that could compare something else."""
    project.write("test_it.py", TEST.format(values="np.full(3, np.nan)"))
    (project.path / "modelreg.yaml").unlink()
    result = project.pytest(mode, "test_it.py")
    result.stdout.fnmatch_lines(
        ["*nothing was compared*; check at least one output that holds a finite number*"]
    )
