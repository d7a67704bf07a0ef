"""A noise floor that was kept: near ties are told by it, and it lasts as long as the outputs do."""

from __future__ import annotations

import math
import subprocess

import pytest

from pytest_modelreg.domain.golden import Calibration
from pytest_modelreg.store import golden_sha256, read_golden, write_noise_floor

FLOOR = 1e-3

TIES = """
import numpy as np

SCORES = np.array({scores}, np.float32)


def build():
    return lambda x: np.repeat(SCORES[None], len(x), axis=0)
"""


def keep(project, **floors):
    """Keep floors with the golden of the reference."""
    folder = project.path / "golden/toy/reference"
    calibration = Calibration(
        date="2026-01-02T00:00:00Z", perturbations=("again",), n_samples=6, environment="e" * 16
    )
    write_noise_floor(folder, floors, calibration, measured_on=golden_sha256(folder) or "")


def read_floor(project):
    """Return the floors that the golden of the reference has."""
    golden = read_golden(project.path / "golden/toy/reference")
    assert golden is not None
    return dict(golden.noise_floor)


@pytest.mark.parametrize(("share", "is_near"), [(0.98, True), (1.02, False)])
def test_near_ties_are_told_by_the_kept_floor(project, share, is_near):
    """Just inside sqrt(2) * floor * norm a flip is a near tie, just outside it is drift."""
    norm = math.sqrt(2 * 1.0**2 + 2 * 0.5**2)
    margin = share * math.sqrt(2) * FLOOR * norm
    before = [1.0, 1.0 - margin, 0.5, 0.5]
    project.write("toymodel.py", TIES.format(scores=before))
    project.edit("modelreg.yaml", "labels: labels.txt}", "labels: labels.txt, checks: {rel_l2: off}}")
    project.record()
    project.write("toymodel.py", TIES.format(scores=[before[1], before[0], 0.5, 0.5]))
    assert project.report()["cases"][0]["verdict"] == "drift", "the dtype's limit alone tells them apart"
    keep(project, logits=FLOOR)
    (case,) = project.report()["cases"]
    assert case["verdict"] == ("match" if is_near else "drift")
    assert {sample["near_tie"] for sample in case["samples"]} == {is_near}


def test_the_floor_does_not_follow_the_difference(project):
    """A larger flip under the same floor is drift: the bound is the golden's, not the run's."""
    project.write("toymodel.py", TIES.format(scores=[1.0, 0.9, 0.5, 0.5]))
    project.edit("modelreg.yaml", "labels: labels.txt}", "labels: labels.txt, checks: {rel_l2: off}}")
    project.record()
    keep(project, logits=FLOOR)
    for other in (1.0, 10.0, 1000.0):
        project.write("toymodel.py", TIES.format(scores=[0.9, other, 0.5, 0.5]))
        assert project.report()["cases"][0]["verdict"] == "drift"


def test_replaced_outputs_drop_the_floor(recorded):
    """It was measured on others, and the message says how to measure it again."""
    keep(recorded, logits=FLOOR)
    recorded.edit("toymodel.py", "scale=1.0", "scale=1.2")
    result = recorded.modelreg("regen", "--reason", "scaled", "--yes")
    result.stdout.fnmatch_lines(["*replaced*scaled; its noise floor was of the old outputs*calibrate*"])
    assert read_floor(recorded) == {}


def test_a_match_and_a_renamed_label_keep_the_floor(recorded):
    """The outputs are the same bits, whatever else is recorded anew."""
    keep(recorded, logits=FLOOR)
    assert recorded.modelreg("regen", "--mode", "all", "--reason", "again", "--yes").ret == 0
    assert read_floor(recorded) == {"logits": FLOOR}
    recorded.write("labels.txt", "Katze\nHund\nVogel\nFisch\n")
    result = recorded.modelreg("regen", "--mode", "all", "--reason", "in German", "--yes")
    result.stdout.fnmatch_lines(["*replaced*in German"])
    assert read_floor(recorded) == {"logits": FLOOR}


def test_log_tells_one_acceptance_with_its_floor(recorded):
    """A floor kept later is no second acceptance, and breaks no chain of what replaced what."""

    def commit():
        for words in (["add", "-A"], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x"]):
            subprocess.run(["git", *words], cwd=recorded.path, check=True)

    subprocess.run(["git", "init", "-q"], cwd=recorded.path, check=True)
    commit()
    keep(recorded, logits=FLOOR)
    commit()
    recorded.edit("toymodel.py", "scale=1.0", "scale=1.2")
    assert recorded.modelreg("regen", "--reason", "scaled", "--yes").ret == 0
    commit()
    result = recorded.modelreg("log")
    lines = [line.strip() for line in result.stdout.lines if line.strip()]
    assert [line.split("  ")[-1] for line in lines if "golden.json" not in line and "noise" not in line] == [
        "toy[reference]: golden/toy/reference",
        "scaled",
        "first recording",
    ]
    result.stdout.fnmatch_lines(["*first recording", "*noise floor logits 0.001, measured 2026-01-02*"])
