"""``modelreg calibrate``: noise is measured and named, limits are proposed, nothing is changed unasked."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys

import pytest

from pytest_modelreg.engine.suite_loading import load_suite

NOISY = """
import os

import numpy as np

WEIGHT = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)


def build():
    def run(x):
        draws = np.frombuffer(os.urandom(4 * len(x) * 4), np.uint32).reshape(len(x), 4) / 2**32
        return (x @ WEIGHT + 3.0 + 1e-3 * (draws - 0.5)).astype(np.float32)

    return run
"""

COUPLED = """
import torch


class Coupled(torch.nn.Module):
    def __init__(self, share):
        super().__init__()
        self.layer = torch.nn.Linear(3, 4)
        self.share = share

    def forward(self, x):
        y = self.layer(x)
        return y + self.share * y.mean(dim=0, keepdim=True)


def build(share=0.0):
    torch.manual_seed(0)
    return Coupled(share)
"""

VARIANTS = """
variants:
  slow: {batch_size: 2}
  scaled: {model_args: {scale: 1.01}, preprocess: "toydata:prepare", checks: {rel_l2: 0.05}}
"""


def suite_bytes(project):
    """Return the suite file as it is."""
    return (project.path / "modelreg.yaml").read_bytes()


def test_a_healthy_model_keeps_its_limits(recorded):
    """Nothing is proposed, exit 0; neither the suite file nor a byte of the golden changes."""
    before, suite = recorded.golden_bytes(), suite_bytes(recorded)
    result = recorded.modelreg("calibrate", "toy", "--patch", "limits.diff")
    assert result.ret == 0, result.stdout.str() + result.stderr.str()
    result.stdout.fnmatch_lines(
        [
            "*against its golden: match*",
            "    again *bit-identical*",
            "    fresh process *bit-identical*",
            "    batch 1 *",
            "    batch 6 *",
            "    noise floor 6.0e-08: the unit roundoff of float32",
            "*not measured: float64 twin: *needs a torch.nn.Module*",
            "*not measured: threads: the model does not use torch*",
            "    reference  logits  1e-05 * keep *default 1e-05 is over 100x the floor*",
            "  planted change of 0.001: caught in reference",
            "limits: nothing to propose; limits.diff was not written",
            "noise floor not kept with its golden: not on a terminal, add --yes",
        ]
    )
    assert recorded.golden_bytes() == before
    assert suite_bytes(recorded) == suite
    assert not (recorded.path / "limits.diff").exists()


def test_noise_above_the_limit_is_named(project):
    """A model that draws: exit 1, the floor, its cause, and that the wider limit is somebody's decision."""
    project.write("toymodel.py", NOISY)
    project.pin()
    suite = suite_bytes(project)
    result = project.modelreg("calibrate", "toy")
    assert result.ret == 1, result.stdout.str()
    result.stdout.fnmatch_lines(
        [
            "  logits: two runs in one process differ by *: it is not deterministic",
            "*default 1e-05 is under the floor *: would flake",
            "  warning: toy?reference?: logits: * is proposed, wider than the present limit*your decision",
            "proposed limits:",
            "+  # calibrated: floor *",
            "+  logits: {kind: classification, labels: labels.txt, checks: {rel_l2: *}}",
            "*no golden at golden/toy/reference to keep the noise floor with*",
        ]
    )
    assert suite_bytes(project) == suite
    assert not (project.path / "golden").exists()


def test_a_model_that_sees_its_batch_is_named_with_the_size(project):
    """Just inside, with nothing shared between samples, nobody is accused."""
    pytest.importorskip("torch")
    project.write("toymodel.py", COUPLED)
    project.pin()
    result = project.modelreg("calibrate", "toy")
    assert result.ret == 0, result.stdout.str()
    assert "share a batch" not in result.stdout.str()
    result.stdout.fnmatch_lines(["    float64 twin  * rounding"])
    project.edit("modelreg.yaml", "  batch_size: 4", "  model_args: {share: 0.01}\n  batch_size: 4")
    result = project.modelreg("calibrate", "toy")
    assert result.ret == 1, result.stdout.str()
    result.stdout.fnmatch_lines(["  logits: it depends on which samples share a batch: batch 1 moves *"])


def test_the_patch_applies_and_loads(project):
    """`git apply` takes it, comments stay, and the suite then holds what was proposed."""
    project.write("toymodel.py", NOISY)
    project.edit("modelreg.yaml", "reference:", "# what ships\nreference:")
    project.pin()
    subprocess.run(["git", "init", "-q"], cwd=project.path, check=True)
    result = project.modelreg("calibrate", "toy", "--patch", "limits.diff")
    result.stdout.fnmatch_lines(["1 limit of modelreg.yaml: nothing was changed; `git apply limits.diff` *"])
    subprocess.run(["git", "apply", "limits.diff"], cwd=project.path, check=True)
    text = suite_bytes(project).decode()
    assert "# what ships\nreference:" in text
    suite = load_suite(project.path / "modelreg.yaml", rootdir=project.path)
    (limit,) = suite.cases[0].checks.of("logits").limits
    assert (limit.name, limit.source) == ("rel_l2", "outputs.logits.checks.rel_l2")
    assert limit.value is not None
    assert 1e-4 < limit.value < 1e-1


def test_a_matrix_has_one_place_for_its_limits(recorded):
    """What one combination needs is proposed for all, and says so."""
    matrix = 'matrix: {preprocess: {plain: "toydata:prepare", more: "toydata:more"}, batch_size: [2, 4]}'
    recorded.write("modelreg.yaml", (recorded.path / "modelreg.yaml").read_text() + matrix)
    recorded.write(
        "toydata.py",
        (recorded.path / "toydata.py").read_text()
        + "\n\ndef more(sample):\n    return prepare(sample) * 1.01\n",
    )
    result = recorded.modelreg("calibrate", "toy", "--patch", "limits.diff")
    assert result.ret == 1, result.stdout.str() + result.stderr.str()
    result.stdout.fnmatch_lines(
        [
            "*more-2 *under the distance 1.0e-02: the case drifts*",
            "1 limit of *`patch -p1 < limits.diff` *",
        ]
    )
    subprocess.run(["patch", "-s", "-p1", "-i", "limits.diff"], cwd=recorded.path, check=True)
    assert "than 1e-5 (dtype default (float32)), for all combinations\n" in suite_bytes(recorded).decode()
    suite = load_suite(recorded.path / "modelreg.yaml", rootdir=recorded.path)
    limits = {case.variant: case.checks.of("logits").limits for case in suite.cases}
    assert [limit.value for limit in limits["more-2"]] == [0.05]
    assert limits["reference"] == ()


def test_a_narrower_limit_leaves_a_declared_difference_its_room(recorded):
    """A variant that had the reference's wide limit, and needs it, is given it for itself."""
    recorded.edit("modelreg.yaml", "labels: labels.txt}", "labels: labels.txt, checks: {rel_l2: 0.05}}")
    variants = VARIANTS.replace(", checks: {rel_l2: 0.05}", "")
    recorded.write("modelreg.yaml", (recorded.path / "modelreg.yaml").read_text() + variants)
    assert recorded.modelreg("calibrate", "toy", "--patch", "limits.diff").ret == 1
    subprocess.run(["patch", "-s", "-p1", "-i", "limits.diff"], cwd=recorded.path, check=True)
    suite = load_suite(recorded.path / "modelreg.yaml", rootdir=recorded.path)
    values = {case.variant: case.checks.of("logits").limits[0].value for case in suite.cases}
    assert values == {"reference": 1e-5, "slow": 1e-5, "scaled": 0.05}
    assert recorded.modelreg("calibrate", "toy").ret == 0


def test_lines_to_paste_where_the_text_cannot_be_changed(project):
    """Limits that are shared through an alias are somebody else's too; pasted lines load as well."""
    project.write("toymodel.py", NOISY)
    project.edit(
        "modelreg.yaml",
        "  logits: {kind: classification, labels: labels.txt}",
        "  logits: {kind: classification, checks: &shared {kl: 1}}\n  more: {per: ignore}\n"
        "variants:\n  slow: {batch_size: 2, checks: {rel_l2: 0.05}, outputs: {logits: {checks: *shared}}}",
    )
    project.edit("toymodel.py", "return (x @", "return dict(more=x, logits=(x @")
    project.edit("toymodel.py", ".astype(np.float32)", ".astype(np.float32))")
    project.pin()
    result = project.modelreg("calibrate", "toy", "--patch", "limits.yaml")
    assert result.ret == 1, result.stdout.str() + result.stderr.str()
    result.stdout.fnmatch_lines(["*of modelreg.yaml: merge these lines into it by hand"])
    snippet = (project.path / "limits.yaml").read_text()
    assert snippet.startswith("outputs:\n  logits:\n    checks:\n      # calibrated: floor ")
    head = (project.path / "modelreg.yaml").read_text().split("outputs:\n")[0]
    project.write("pasted.modelreg.yaml", head + snippet)
    suite = load_suite(project.path / "pasted.modelreg.yaml", rootdir=project.path)
    assert [limit.name for limit in suite.cases[0].checks.of("logits").limits] == ["rel_l2"]


def test_a_limit_that_lets_the_planted_change_pass_is_warned_of(recorded):
    """Exit 1 and the narrower limit; the default catches it and is exit 0."""
    recorded.edit("modelreg.yaml", "labels: labels.txt}", "labels: labels.txt, checks: {rel_l2: 0.01}}")
    result = recorded.modelreg("calibrate", "toy")
    assert result.ret == 1, result.stdout.str()
    result.stdout.fnmatch_lines(
        [
            "*reference  logits  0.01 * 1e-5 *limit 0.01 lets 0.001 pass*",
            "  warning: toy?reference?: logits: a mild numeric change * passes under the present limits",
            "+  # calibrated: * narrower than 0.01 (outputs.logits.checks.rel_l2)",
        ]
    )


def test_decisions_alone_are_warned_of(recorded):
    """``rel_l2: off`` sees a mild change only when a decision flips."""
    recorded.edit("modelreg.yaml", "labels: labels.txt}", "labels: labels.txt, checks: {rel_l2: off}}")
    result = recorded.modelreg("calibrate", "toy")
    assert result.ret == 1, result.stdout.str()
    result.stdout.fnmatch_lines(
        [
            "*rel_l2 is off; 1e-05 would fit*",
            "  warning: *passes under the present limits unless a decision flips",
        ]
    )


def test_variants_are_measured_beside_the_reference(recorded):
    """A benign one is noise, a declared difference is a distance; what cannot run is a line and exit 3."""
    recorded.write("modelreg.yaml", (recorded.path / "modelreg.yaml").read_text() + VARIANTS)
    result = recorded.modelreg("calibrate", "toy")
    assert result.ret == 0, result.stdout.str() + result.stderr.str()
    result.stdout.fnmatch_lines(
        [
            "    slow  *",
            "    scaled  *1.0e-02 *declared difference",
            "    scaled     logits  0.05 * 1.0e-02 *keep *limit 0.05 is 5x the distance 1.0e-02",
            "  planted change of 0.001: caught in reference, slow; passes in scaled",
            "  note: toy?scaled?: *no limit above the declared difference of 1.0e-02 can see it",
        ]
    )
    recorded.edit("modelreg.yaml", "scale: 1.01", "scale: none")
    result = recorded.modelreg("calibrate", "toy")
    assert result.ret == 3
    result.stdout.fnmatch_lines(["  not measured: scaled: *", "*reference  logits *keep*"])


def test_only_the_cases_that_are_named_are_measured(recorded):
    """A case id leaves the suite's other variants out; its golden's own case is the base."""
    recorded.write("modelreg.yaml", (recorded.path / "modelreg.yaml").read_text() + VARIANTS)
    result = recorded.modelreg("calibrate", "toy[slow]")
    assert result.ret == 0, result.stdout.str()
    result.stdout.fnmatch_lines(["    slow  *"])
    result.stdout.no_fnmatch_line("    scaled  *")


def test_a_part_of_the_samples_can_be_measured(recorded):
    """Spread over the set; the golden's others are not missed."""
    result = recorded.modelreg("calibrate", "toy", "--samples", "3")
    assert result.ret == 0, result.stdout.str()
    result.stdout.fnmatch_lines(
        [
            "toy: 3 of 6 samples, spread over the set",
            "toy?reference?: 3 samples",
            "*against its golden: match*",
        ]
    )


def test_yes_keeps_the_floor_with_the_golden(recorded):
    """``golden.json`` alone changes, the next run compares as before, and a second time nothing changes."""
    before = recorded.golden_bytes()
    result = recorded.modelreg("calibrate", "toy", "--yes")
    assert result.ret == 0, result.stdout.str()
    result.stdout.fnmatch_lines(
        ["toy?reference?: noise floor kept in golden/toy/reference/golden.json: logits 6e-08"]
    )
    after = recorded.golden_bytes()
    assert {name for name in after if after[name] != before.get(name)} == {"golden/toy/reference/golden.json"}
    held = json.loads(after["golden/toy/reference/golden.json"])
    assert held["noise_floor"] == {"logits": 6e-8}
    assert held["calibration"]["perturbations"] == ["again", "fresh process", "batch 1", "batch 6"]
    assert (held["calibration"]["n_samples"], held["calibration"]["ci"]) == (6, None)
    recorded.pytest().assert_outcomes(passed=1)
    assert recorded.modelreg("verify").ret == 0
    result = recorded.modelreg("calibrate", "toy", "--yes")
    result.stdout.fnmatch_lines(["*keeps this noise floor already"])
    assert recorded.golden_bytes() == after
    result = recorded.modelreg("log")
    result.stdout.fnmatch_lines(["*first recording", "*noise floor logits 6e-08, measured * on 6 samples"])


@pytest.mark.parametrize("answer", ["y", "n"])
def test_terminal_is_asked(recorded, answer):
    """What was measured is seen first, then somebody decides."""
    before = recorded.golden_bytes()
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "pytest_modelreg", "calibrate", "toy"],
        cwd=recorded.path,
        stdin=follower,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    os.write(leader, f"{answer}\n".encode())
    out, _ = process.communicate(timeout=120)
    assert process.returncode == 0, out
    assert "Keep the noise floor with its golden?" in out
    assert (recorded.golden_bytes() == before) is (answer == "n")


def test_ci_locks_the_floor_and_not_the_measuring(recorded):
    """Measuring writes nothing and runs in CI; keeping is refused, and stamped where it is overridden."""
    before = recorded.golden_bytes()

    def calibrate(*arguments):
        return subprocess.run(
            [sys.executable, "-m", "pytest_modelreg", "calibrate", "toy", *arguments],
            cwd=recorded.path,
            env={**os.environ, "CI": "true"},
            capture_output=True,
            text=True,
            check=False,
        )

    done = calibrate()
    assert done.returncode == 0, done.stderr
    assert "goldens are locked in CI" in done.stdout
    done = calibrate("--yes")
    assert done.returncode == 2
    assert "CI=true" in done.stderr
    assert recorded.golden_bytes() == before
    assert calibrate("--yes", "--allow-ci").returncode == 0
    held = json.loads(recorded.golden_bytes()["golden/toy/reference/golden.json"])
    assert held["calibration"]["ci"] == "CI"


def test_a_case_that_drifts_keeps_no_floor(recorded):
    """It was measured on other outputs than the golden's."""
    recorded.edit("toymodel.py", "scale=1.0", "scale=1.2")
    before = recorded.golden_bytes()
    result = recorded.modelreg("calibrate", "toy", "--yes")
    assert result.ret != 0
    result.stdout.fnmatch_lines(["*against its golden: drift*", "*does not match its golden (drift)*"])
    assert recorded.golden_bytes() == before


def test_noise_beyond_the_limit_is_not_kept(project):
    """It would make near ties of flips that the suite's own limit calls drift."""
    project.write("toymodel.py", NOISY.replace("1e-3", "3e-4"))
    project.edit("modelreg.yaml", "labels: labels.txt}", "labels: labels.txt, checks: {rel_l2: 0.01}}")
    project.record()
    assert project.modelreg("calibrate", "toy", "--yes").ret == 1
    project.edit("modelreg.yaml", "rel_l2: 0.01", "rel_l2: off")
    before = project.golden_bytes()
    result = project.modelreg("calibrate", "toy", "--yes")
    result.stdout.fnmatch_lines(["*noise floor not kept: logits: its noise of * is beyond the limit 1e-05*"])
    assert project.golden_bytes() == before


def test_a_damaged_golden_ends_it(recorded):
    """A floor is kept beside bytes that can be trusted, or not at all."""
    (path,) = (recorded.path / "golden/toy/reference").glob("outputs.logits.*.npy")
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    result = recorded.modelreg("calibrate", "toy", "--yes")
    assert result.ret == 3
    result.stdout.fnmatch_lines(["toy?reference?: could not be measured: *bytes changed*"])


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["toi"], "*did you mean toy*"),
        (["toy", "--samples", "0"], "*--samples: expected a number from 1, or all, got '0'*"),
        (["toy", "--patch", "modelreg.yaml"], "*--patch: expected a new file, got the suite file*"),
        (["toy", "--patch", "golden/toy/x.diff"], "*--patch: expected a place outside the goldens*"),
        (["toy", "--patch", "nowhere/x.diff"], "*--patch: expected a file in a folder that exists*"),
    ],
)
def test_bad_usage_is_exit_2_before_anything_runs(recorded, arguments, expected):
    """What was expected and got, in one line."""
    result = recorded.modelreg("calibrate", *arguments)
    assert result.ret == 2
    result.stderr.fnmatch_lines([expected])
    result.stdout.no_fnmatch_line("*measuring*")
