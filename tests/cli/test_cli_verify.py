"""The command that tells whether goldens and sample sets are whole."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

PROBE = """
import sys
from pytest_modelreg.cli import main
code = main(["verify"])
print("loaded:", *{"torch", "onnxruntime", "PIL", "toymodel", "toydata", "pytest"} & sys.modules.keys())
sys.exit(code)
"""


def test_whole_project_is_green(recorded):
    """Exit 0 and one line with what was looked at."""
    result = recorded.modelreg("verify")
    assert result.ret == 0
    assert result.outlines == ["verified 1 golden, 1 sample set, 6 samples: all whole"]


def test_nothing_is_imported_or_run(recorded):
    """A broken model, a missing framework: verifying asks neither."""
    recorded.write("toymodel.py", "raise SystemExit('imported')")
    done = subprocess.run(
        [sys.executable, "-c", PROBE], cwd=recorded.path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1] == "loaded:"


def test_each_fault_is_a_line_that_says_what_to_do(recorded):
    """Exit 3: path, what, what to do; then the counts, however many faults there are."""
    for path in (recorded.path / "golden/toy/reference").iterdir():
        if path.suffix in (".npy", ".csv"):
            path.write_bytes(path.read_bytes()[:-1] + b"!")
    recorded.write("samples/s0.json", "[0, 0, 0]")
    result = recorded.modelreg("verify")
    assert result.ret == 3
    *faults, last = result.outlines
    names = ("outputs.logits.", "trace.inputs.", "trace.exact.", "summary.csv", "samples.csv")
    for fault, name in zip(faults, names, strict=True):
        assert name in fault
        assert "restore" in fault
    assert last == "verified 1 golden, 1 sample set: 5 faults, 2 of 2 cannot be trusted"


def test_flipped_bit_in_free_text_is_an_error_also_in_a_plain_run(recorded):
    """A reason that somebody edited is no longer what was accepted: both say so and name the file."""
    recorded.edit("golden/toy/reference/golden.json", '"first recording"', '"first recordinG"')
    result = recorded.modelreg("verify")
    assert result.ret == 3
    result.stdout.fnmatch_lines(["golden/toy/reference/golden.json: bytes changed: *restore it*"])
    run = recorded.pytest()
    assert run.ret == 1
    run.stdout.fnmatch_lines(["error: *golden.json: bytes changed*"])


@pytest.mark.parametrize("target", ["toy", "modelreg.yaml", ".", "golden", "golden/toy/reference", "samples"])
def test_targets(recorded, target):
    """A suite by name or file, a folder of suites, of goldens, of samples."""
    result = recorded.modelreg("verify", target)
    assert result.ret == 0
    result.stdout.fnmatch_lines(["verified *: all whole"])


def test_nothing_to_verify_is_bad_usage(project):
    """Exit 2 with a hint: green would claim something about goldens."""
    project.pin()
    result = project.modelreg("verify")
    assert result.ret == 2
    result.stderr.fnmatch_lines(["*expected goldens to verify, found none*modelreg regen*"])
    project.write("empty/note.txt", "")
    result = project.modelreg("verify", "empty")
    assert result.ret == 2
    result.stderr.fnmatch_lines(["*empty: expected suites, goldens or a sample set to verify, found none*"])


def test_unknown_word_names_the_nearest(recorded):
    """Exit 2, as everywhere."""
    result = recorded.modelreg("verify", "tpy")
    assert result.ret == 2
    result.stderr.fnmatch_lines(["*did you mean toy?*"])


def test_faulty_suite_file_is_bad_usage(recorded):
    """Exit 2 with every fault of the file."""
    recorded.edit("modelreg.yaml", "batch_size", "batchsize")
    result = recorded.modelreg("verify")
    assert result.ret == 2
    result.stderr.fnmatch_lines(["*batchsize*did you mean batch_size?*"])


def test_case_without_a_golden_is_told(recorded):
    """Not a fault of any golden, but never silent."""
    recorded.edit("modelreg.yaml", "outputs:", "variants:\n  big: {batch_size: 2, golden: own}\noutputs:")
    result = recorded.modelreg("verify")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["no golden yet: toy[[]big]; record with: modelreg regen --mode missing"])


def test_goldens_of_python_tests_are_verified(recorded):
    """They have no suite file and are found all the same, also from a folder below."""
    recorded.write(
        "tests/test_values.py",
        "import numpy as np\ndef test_it(modelreg):\n    modelreg.check(np.ones((2, 3)))\n",
    )
    recorded.write("pytest.ini", "[pytest]\n")
    assert recorded.pytest("--modelreg-regen=missing", "tests").ret == 0
    assert recorded.modelreg("verify").outlines[-1].startswith("verified 2 goldens")
    (path,) = (recorded.path / "golden/py").rglob("*.npy")
    path.write_bytes(path.read_bytes()[:-1] + b"!")
    done = subprocess.run(
        [sys.executable, "-m", "pytest_modelreg", "verify"],
        cwd=recorded.path / "tests",
        capture_output=True,
        text=True,
        check=False,
        env=dict(os.environ),
    )
    assert done.returncode == 3
    assert path.name in done.stdout


def test_arrays_without_their_golden_are_named(recorded):
    """golden.json was lost: that is not the same as a golden that was never recorded."""
    (recorded.path / "golden/toy/reference/golden.json").unlink()
    result = recorded.modelreg("verify")
    assert result.ret == 3
    result.stdout.fnmatch_lines(
        ["*golden/toy/reference: expected golden.json beside outputs.logits.*.npy, got none; restore it*"]
    )
    for array in (recorded.path / "golden/toy/reference").glob("*.npy"):
        array.unlink()
    assert recorded.modelreg("verify").ret == 2


def test_arrays_of_a_run_folder_are_no_remains(recorded):
    """A folder that the user chose for runs may lie anywhere."""
    recorded.edit("toymodel.py", "scale=1.0", "scale=2.0")
    recorded.pytest("--modelreg-run-dir=golden-runs")
    assert list((recorded.path / "golden-runs").glob("*/outputs.logits.*.npy"))
    recorded.edit("modelreg.yaml", "suite: toy", "golden: .\nsuite: toy")
    recorded.modelreg("regen")
    assert recorded.modelreg("verify", ".").ret == 0
