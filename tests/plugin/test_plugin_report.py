"""The JSON report: one record a case, the same keys whatever the verdict, strict JSON."""

from __future__ import annotations

import json

import pytest

KEYS = [
    "id",
    "suite",
    "variant",
    "axes",
    "verdict",
    "message",
    "outputs",
    "checks",
    "n_samples",
    "drifted_samples",
    "samples",
    "inputs_identical",
    "causes",
    "environment_changes",
    "structure",
    "notes",
    "duration_s",
]
OUTPUT_KEYS = {
    "dtype",
    "shape",
    "n_total",
    "n_mismatched",
    "rel_l2",
    "max_abs",
    "mean_abs",
    "rms_abs",
    "max_rel",
    "cosine_min",
    "nan_expected",
    "nan_actual",
}


def make_missing(project):
    """Leave the case without a golden."""
    project.pin()


def make_match(project):
    """Leave the case as recorded."""
    project.record()


def make_drift(project):
    """Change the model."""
    project.record()
    project.edit("toymodel.py", "scale=1.0", "scale=1.2")


def make_error(project):
    """Break the model."""
    project.record()
    project.edit("toymodel.py", "def build", "def built")


def make_stale(project):
    """Grow the sample set."""
    project.record()
    project.write("samples/s9.json", "[1, 2, 3]")
    project.pin()


@pytest.mark.parametrize("make", [make_missing, make_match, make_drift, make_error, make_stale])
def test_record_has_the_same_keys_whatever_the_verdict(project, make):
    """E1, E5: readers of the report need no special cases."""
    make(project)
    (case,) = project.report()["cases"]
    assert list(case) == KEYS
    assert case["verdict"] == make.__name__.removeprefix("make_")
    assert case["message"]


def test_drift_record_carries_the_numbers(project):
    """The documented keys of an output, its checks and its samples are all there and true."""
    make_drift(project)
    (case,) = project.report()["cases"]
    output = case["outputs"]["logits"]
    assert set(output) == OUTPUT_KEYS
    assert output["shape"] == [6, 4]
    assert output["rel_l2"] == pytest.approx(0.2, rel=1e-5)
    assert [check["name"] for check in case["checks"]] == ["rel_l2", "top1_agreement"]
    assert case["checks"][0] == {
        "name": "rel_l2",
        "output": "logits",
        "tag": None,
        "value": output["rel_l2"],
        "limit": 1e-5,
        "ok": False,
        "source": case["checks"][0]["source"],
    }
    assert case["drifted_samples"] == [f"s{index}" for index in range(6)]
    assert set(case["samples"][0]) == {"id", "ok", "rel_l2", "expected", "actual", "near_tie"}
    assert case["inputs_identical"] is True


def test_non_finite_numbers_are_null_with_a_reason(project):
    """Strict JSON: a NaN in the output must not make the report unreadable."""
    project.record()
    project.edit("toymodel.py", "scale * (x @ WEIGHT)", "x @ WEIGHT * np.float32('nan')")
    text_report = project.report()
    (case,) = text_report["cases"]
    assert case["outputs"]["logits"]["rel_l2"] is None
    assert case["outputs"]["logits"]["rel_l2_reason"] == "inf"
    json.dumps(text_report, allow_nan=False)


def test_run_and_environment_are_on_record(project):
    """The report says when, where and with what it was made."""
    make_match(project)
    report = project.report()
    assert report["modelreg_report"] == 1
    assert set(report["run"]) == {"id", "started", "duration_s", "git", "partial"}
    assert report["run"]["partial"] is False
    assert report["environment"]["numpy.version"]
    assert report["environment"]["digest"]


def test_selection_makes_the_run_partial(project):
    """A report of some cases must not read as one of all."""
    make_match(project)
    assert project.report("-k", "toy")["run"]["partial"] is True


def test_observation_of_a_drift_stays_in_the_run_folder_and_of_a_match_does_not(project):
    """What drifted can be looked at afterwards; what agreed leaves nothing behind."""
    make_match(project)
    project.pytest("--modelreg-run-dir=out")
    assert not list((project.path / "out").rglob("*.npy"))
    make_drift_only = project.edit
    make_drift_only("toymodel.py", "scale=1.0", "scale=1.2")
    project.pytest("--modelreg-run-dir=out2")
    assert list((project.path / "out2").rglob("outputs.logits.*.npy"))
    assert (project.path / "out2/report.json").is_file()


def test_unwritable_report_fails_the_run_with_its_path(project):
    """A report that was asked for and is not there is no success, also where it was possible at first."""
    make_match(project)
    project.write("conftest.py", "import os\n\n\ndef pytest_collection_finish():\n    os.mkdir('r.json')\n")
    result = project.pytest("--modelreg-json=r.json")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*error: *r.json*"])


def test_workers_give_the_same_records(project):
    """E4: distribution changes order and time, nothing else."""
    make_drift(project)

    def records(*arguments):
        target = project.path / "report.json"
        project.pytester.runpytest_subprocess("--modelreg", f"--modelreg-json={target}", *arguments)
        cases = json.loads(target.read_text(encoding="utf-8"))["cases"]
        return [{**case, "duration_s": None} for case in cases]

    alone = records("-p", "no:xdist")
    assert len(alone) == 1
    assert records("-n", "2") == alone


def test_note_of_several_matches_is_one_line(project, monkeypatch):
    """Nine variants on another machine are one difference."""
    project.edit("modelreg.yaml", "outputs:", "variants: {a: {batch_size: 1}, b: {batch_size: 2}}\noutputs:")
    project.record()
    monkeypatch.setenv("MKL_CBWR", "COMPATIBLE")
    result = project.pytest()
    result.stdout.fnmatch_lines(
        ["note: 3 cases (toy[[]reference[]], toy[[]a[]], toy[[]b[]]): environment differs*"]
    )
    assert sum(line.startswith("note: ") for line in result.outlines) == 1
