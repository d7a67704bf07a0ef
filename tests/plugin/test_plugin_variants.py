"""Variants as pytest sees them: one case each, judged against the reference's golden or their own."""

from __future__ import annotations

import json

import pytest

VARIANTS = """
variants:
  one: {batch_size: 1}
  scaled: {preprocess: "toydata:scaled"}
  own: {preprocess: "toydata:scaled", golden: own}
"""

SCALED = """

def scaled(sample):
    return prepare(sample) * np.float32(1.2)
"""


@pytest.fixture
def varied(project):
    """A project whose suite has variants, not yet recorded."""
    project.edit("toydata.py", "    return np.asarray(sample, dtype=np.float32)\n", PREPARE + SCALED)
    suite = (project.path / "modelreg.yaml").read_text(encoding="utf-8")
    project.write("modelreg.yaml", suite + VARIANTS)
    project.pin()
    return project


PREPARE = "    return np.asarray(sample, dtype=np.float32)\n"


def verdicts(report):
    """Return the verdicts of a report by variant."""
    return {case["variant"]: case["verdict"] for case in report["cases"]}


def test_reference_and_own_goldens_are_recorded_and_the_others_compared(varied):
    """In a regenerating run a variant meets the golden that the reference has just got."""
    report = varied.report("--modelreg-regen=missing")
    assert verdicts(report) == {
        "reference": "recorded",
        "one": "match",
        "scaled": "drift",
        "own": "recorded",
    }
    folders = sorted(path.name for path in (varied.path / "golden/toy").iterdir())
    assert folders == ["own", "reference"]


def test_each_variant_has_its_own_verdict(varied):
    """A drift of one variant says nothing of the others."""
    varied.pytest("--modelreg-regen=missing")
    report = varied.report()
    assert verdicts(report) == {"reference": "match", "one": "match", "scaled": "drift", "own": "match"}
    (scaled,) = [case for case in report["cases"] if case["variant"] == "scaled"]
    assert scaled["id"] == "toy[scaled]"
    assert scaled["axes"] == {"preprocess": "toydata:scaled"}
    assert scaled["inputs_identical"] is False


def test_drift_of_a_variant_says_how_it_could_be_accepted(varied):
    """Regenerating the reference would not help, so that is not what it says."""
    varied.pytest("--modelreg-regen=missing")
    result = varied.pytest("-k", "toy[scaled]")
    result.assert_outcomes(failed=1, deselected=3)
    result.stdout.fnmatch_lines(
        ["*write `golden: own` for it in the suite file*", "*modelreg regen 'toy?scaled?' --reason*"]
    )
    command = varied.modelreg("regen", "toy[scaled]", "--reason", "x", "--yes")
    assert command.ret == 2
    command.stderr.fnmatch_lines(["*judged against the golden of toy?reference?*write `golden: own`*"])
    varied.edit(
        "modelreg.yaml",
        'scaled: {preprocess: "toydata:scaled"}',
        'scaled: {preprocess: "toydata:scaled", golden: own}',
    )
    assert varied.modelreg("regen", "toy[scaled]", "--reason", "x", "--yes").ret == 0
    assert verdicts(varied.report())["scaled"] == "match"


def test_missing_golden_of_the_reference_is_named_with_the_command_for_it(varied):
    """A variant cannot record it."""
    result = varied.pytest("-k", "toy[one]")
    result.assert_outcomes(failed=1, deselected=3)
    result.stdout.fnmatch_lines(
        ["*no golden at golden/toy/reference*", "*to record it: modelreg regen 'toy?reference?'"]
    )


@pytest.mark.parametrize("word", ["toy[one]", "one", "toy[own]"])
def test_every_case_can_be_selected(varied, word):
    """By -k, with the whole id or a part of it."""
    varied.pytest("--modelreg-regen=missing")
    varied.pytest("-k", word).assert_outcomes(passed=1, deselected=3)


def test_regenerating_command_leaves_out_variants_of_the_reference(varied):
    """It records what keeps a golden, and says what it left out."""
    result = varied.modelreg("regen", "toy", "--yes")
    assert result.ret == 0, result.stdout.str()
    result.stdout.fnmatch_lines(
        ["toy?reference?: recorded*", "toy?own?: recorded*", "2 variants are judged*"]
    )


def test_workers_judge_variants_by_the_golden_that_was_just_recorded(varied):
    """As one process does: the cases of a suite stay together while goldens are written."""
    pytest.importorskip("xdist")
    target = varied.path / "report.json"
    flags = ("--modelreg", "-n2", f"--modelreg-json={target}")
    varied.pytester.runpytest(*flags, "--modelreg-regen=missing").assert_outcomes(passed=3, failed=1)
    expected = {"reference": "recorded", "one": "match", "scaled": "drift", "own": "recorded"}
    assert verdicts(json.loads(target.read_text(encoding="utf-8"))) == expected
    varied.pytester.runpytest(*flags)
    expected |= {"reference": "match", "own": "match"}
    assert verdicts(json.loads(target.read_text(encoding="utf-8"))) == expected


def test_marks_select_variants(varied):
    """Slow variants run at night."""
    varied.edit("modelreg.yaml", "one: {batch_size: 1}", "one: {batch_size: 1, marks: [slow]}")
    varied.write("pytest.ini", "[pytest]\nmarkers = slow: at night\naddopts = --strict-markers\n")
    varied.pytest("--modelreg-regen=missing", "-m", "not slow")
    varied.pytest("-m", "slow").assert_outcomes(passed=1, deselected=3)


def test_absent_device_is_skipped_with_the_reason(varied):
    """A machine without a GPU is no drift; and a run of nothing else is not green."""
    pytest.importorskip("torch")
    varied.pytest("--modelreg-regen=missing")
    varied.edit("modelreg.yaml", "one: {batch_size: 1}", "one: {device: 'cuda:7'}")
    result = varied.pytest("-k", "toy[one]", "-rs")
    result.stdout.fnmatch_lines(
        ["*every case was skipped, so nothing was compared*", "SKIPPED*modelreg.yaml*device 'cuda:7'*"]
    )
    assert result.ret == 1


def test_checkpoints_of_a_pattern_are_judged_one_by_one(project):
    """Which of the epochs drifts is said by its name."""
    torch = pytest.importorskip("torch")
    project.write(
        "toymodel.py",
        "import torch\n\n\ndef build():\n    torch.manual_seed(0)\n    return torch.nn.Linear(3, 4)\n",
    )
    model = torch.nn.Linear(3, 4)
    for epoch, scale in ((9, 1.0), (10, 1.0), (11, 1.5)):
        project.write(f"w{epoch}", "")
        state = {name: value * scale for name, value in model.state_dict().items()}
        torch.save(state, project.path / f"epoch-{epoch}.pt")
    project.edit("modelreg.yaml", "  preprocess:", "  checkpoint: epoch-9.pt\n  preprocess:")
    suite = (project.path / "modelreg.yaml").read_text(encoding="utf-8")
    project.write("modelreg.yaml", suite + "variants: {run: {checkpoint: epoch-*.pt}}\n")
    project.pin()
    project.pytest("--modelreg-regen=missing")
    assert verdicts(project.report()) == {
        "reference": "match",
        "run-epoch-9": "match",
        "run-epoch-10": "match",
        "run-epoch-11": "drift",
    }


def test_what_variants_share_is_preprocessed_once(varied):
    """Decoding and preprocessing cost more than many a forward pass."""
    counting = PREPARE.replace("    return", "    open('calls.txt', 'a').write('x')\n    return")
    varied.edit("toydata.py", PREPARE, counting)
    varied.edit("modelreg.yaml", VARIANTS, "\nvariants: {one: {batch_size: 1}, three: {batch_size: 3}}\n")
    varied.pytest("--modelreg-regen=missing", "-k", "reference")
    (varied.path / "calls.txt").unlink()  # recording looks at some samples once more
    varied.pytest("-k", "reference")
    n_alone = len((varied.path / "calls.txt").read_text())
    (varied.path / "calls.txt").unlink()
    varied.pytest().assert_outcomes(passed=3)
    # And one sample again for each of the others: to see that it still makes what was kept.
    assert len((varied.path / "calls.txt").read_text()) == n_alone + 2


def test_last_failed_case_is_run_again_alone(varied):
    """--lf finds a case by its id, in which the brackets are parameters to some releases of pytest."""
    varied.pytest("--modelreg-regen=missing")
    varied.pytest()
    varied.pytest("--lf").assert_outcomes(failed=1)
