"""``modelreg review``, ``log`` and ``regen --dry-run``: deciding what a run observed, what is on record."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys

import pytest

from pytest_modelreg.store.sealed_record import seal_record

TEST = """
import os

import numpy as np


def test_values(modelreg):
    modelreg.check(np.ones((3, 2), "f4") * float(os.environ.get("FACTOR", "1")), name="v")
"""


def run_folder(project):
    """Return the folder of the last run."""
    return sorted((project.path / ".modelreg/runs").iterdir())[-1]


def answer(project, answers):
    """Review on a terminal; return the exit code and what was printed."""
    ours, theirs = os.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "pytest_modelreg", "review"],
        cwd=project.path,
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    os.write(ours, answers)
    out, _ = process.communicate(timeout=120)
    os.close(ours)
    os.close(theirs)
    assert "Traceback" not in out
    return process.returncode, out


@pytest.fixture
def drifted(recorded):
    """A project whose last run found a drift."""
    recorded.edit("toydata.py", "dtype=np.float32)", "dtype=np.float32) * np.float32(1.5)")
    recorded.pytest().assert_outcomes(failed=1)
    return recorded


def test_accepting_makes_the_observation_the_golden_without_the_model(drifted):
    """Nothing is run again: the model's module is not even there."""
    hidden = (drifted.path / "toymodel.py").read_text(encoding="utf-8")
    (drifted.path / "toymodel.py").unlink()
    result = drifted.modelreg("review", "--accept", "toy[reference]", "--reason", "wider inputs")
    assert result.ret == 0, result.stdout.str()
    result.stdout.fnmatch_lines(
        ["toy?reference?: drift: *", "*samples drift*", "toy?reference?: replaced from 6 samples*"]
    )
    drifted.write("toymodel.py", hidden)
    drifted.pytest().assert_outcomes(passed=1)
    assert '"reason": "wider inputs"' in (drifted.path / "golden/toy/reference/golden.json").read_text(
        "utf-8"
    )


def test_nothing_is_written_without_a_decision(drifted):
    """Scripts that only look get exit code 1, and how to decide."""
    before = drifted.golden_bytes()
    result = drifted.modelreg("review")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["toy?reference?: drift: *", "1 wait; decide with --accept ID*"])
    assert drifted.golden_bytes() == before


def test_rejected_case_is_not_asked_about_again(drifted):
    """Its files stay for whoever looks for the cause."""
    assert drifted.modelreg("review", "--reject", "toy[reference]").ret == 1
    result = drifted.modelreg("review")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["*nothing waits for review (1 observations kept)"])
    assert any(run_folder(drifted).glob("*/outputs.logits.*.npy"))


def test_run_folder_from_elsewhere_is_reviewed_by_its_path(drifted, tmp_path):
    """As an artifact of CI, unpacked anywhere."""
    target = tmp_path / "artifact"
    shutil.copytree(run_folder(drifted), target)
    shutil.rmtree(drifted.path / ".modelreg")
    result = drifted.modelreg("review", str(target), "--accept-all", "--reason", "seen in CI")
    assert result.ret == 0, result.stdout.str()
    drifted.pytest().assert_outcomes(passed=1)


def test_replacing_needs_a_reason(drifted):
    """As a regeneration does; the golden is as it was."""
    before = drifted.golden_bytes()
    result = drifted.modelreg("review", "--accept-all")
    assert result.ret == 2
    result.stderr.fnmatch_lines(["*needs a reason*"])
    assert drifted.golden_bytes() == before


def test_accepting_is_locked_in_ci(drifted, monkeypatch):
    """A golden is accepted where somebody looks at it."""
    monkeypatch.setenv("CI", "true")
    result = drifted.modelreg("review", "--accept-all", "--reason", "x")
    assert result.ret == 2
    result.stderr.fnmatch_lines(["*locked in CI: CI=true*"])
    assert drifted.modelreg("review").ret == 1


def test_damaged_observation_is_not_accepted(drifted):
    """A flipped bit in a downloaded file is named, and the golden stays."""
    (array,) = run_folder(drifted).glob("*/outputs.logits.*.npy")
    data = bytearray(array.read_bytes())
    data[-1] ^= 1
    array.write_bytes(data)
    before = drifted.golden_bytes()
    result = drifted.modelreg("review", "--accept-all", "--reason", "x")
    assert result.ret == 3
    result.stdout.fnmatch_lines(["*outputs.logits.*bytes changed*"])
    assert drifted.golden_bytes() == before


def test_samples_that_changed_since_are_not_accepted(drifted):
    """The golden would name samples that nobody observed."""
    drifted.write("samples/s0.json", "[9, 9, 9]")
    drifted.pin()
    result = drifted.modelreg("review", "--accept-all", "--reason", "x")
    assert result.ret == 3
    result.stdout.fnmatch_lines(["*expected the samples that the run observed*"])


def test_what_agrees_by_now_is_said_to(drifted):
    """Somebody regenerated in between."""
    assert drifted.modelreg("regen", "--reason", "x", "--yes").ret == 0
    drifted.pytest()
    first = sorted((drifted.path / ".modelreg/runs").iterdir())
    kept = next(run for run in first if any(run.glob("*/case.json")))
    result = drifted.modelreg("review", str(kept))
    assert result.ret == 0
    result.stdout.fnmatch_lines(["toy?reference?: match: the golden agrees with it by now"])


def test_values_of_a_python_test_are_accepted(project, monkeypatch):
    """What the test declared is in the run folder; the test is not run."""
    (project.path / "modelreg.yaml").unlink()
    project.write("test_it.py", TEST)
    project.pytest("--modelreg-regen=missing", "test_it.py").assert_outcomes(passed=1)
    monkeypatch.setenv("FACTOR", "2")
    project.pytest("test_it.py").assert_outcomes(failed=1)
    result = project.modelreg("review", "--accept-all", "--reason", "doubled")
    assert result.ret == 0, result.stdout.str() + result.stderr.str()
    project.pytest("test_it.py").assert_outcomes(passed=1)


VARIANTS = """
variants:
  a-half: {preprocess: "toydata:half"}
  own: {preprocess: "toydata:half", golden: own}
"""

HALF = """

def half(sample):
    return prepare(sample) * np.float32(0.5)
"""


@pytest.fixture
def varied(project):
    """A project with variants, all of which drifted in the last run."""
    source = (project.path / "toydata.py").read_text(encoding="utf-8")
    project.write("toydata.py", source + HALF)
    suite = (project.path / "modelreg.yaml").read_text(encoding="utf-8")
    project.write("modelreg.yaml", suite + VARIANTS)
    project.pin()
    project.pytest("--modelreg-regen=missing")
    project.edit("toydata.py", "dtype=np.float32)", "dtype=np.float32) * np.float32(1.5)")
    project.pytest().assert_outcomes(failed=3)
    return project


def test_all_are_accepted_that_can_be(varied):
    """A variant of the reference is left, whatever its name sorts before."""
    result = varied.modelreg("review", "--accept-all", "--reason", "x")
    assert result.ret == 1
    varied.pytest().assert_outcomes(passed=2, failed=1)
    named = varied.modelreg("review", "--accept", "toy[a-half]", "--reason", "x")
    assert named.ret == 2
    named.stderr.fnmatch_lines(["*toy?a-half?: is judged against its reference's golden*"])


def test_observation_of_another_case_is_not_accepted(varied):
    """Whoever mixed files up would plant one case's answers as another's."""
    run = run_folder(varied)
    shutil.copy(run / "toy[own]/observation.json", run / "toy[reference]/observation.json")
    for array in (run / "toy[own]").glob("*.npy"):
        shutil.copy(array, run / "toy[reference]")
    before = varied.golden_bytes()
    result = varied.modelreg("review", "--accept", "toy[reference]", "--reason", "x")
    assert result.ret == 3
    result.stdout.fnmatch_lines(["*expected the observation of toy?reference?, got the one of toy?own?*"])
    assert varied.golden_bytes() == before


def test_suite_that_was_edited_since_takes_another_run(drifted):
    """The golden would say that it was observed as the suite says now."""
    drifted.edit("modelreg.yaml", "batch_size: 4", "batch_size: 3")
    result = drifted.modelreg("review", "--accept-all", "--reason", "x")
    assert result.ret == 3
    result.stdout.fnmatch_lines(["*expected the suite as it was when the case ran*"])


@pytest.mark.parametrize(
    "place", ["golden/toy/reference", "golden/py/../toy/reference", "golden/py", "golden"]
)
def test_python_test_cannot_take_another_golden(recorded, monkeypatch, place):
    """What a run folder says of a place is data from elsewhere."""
    recorded.write("test_it.py", TEST)
    recorded.pytest("--modelreg-regen=missing", "test_it.py")
    monkeypatch.setenv("FACTOR", "2")
    recorded.pytest("test_it.py").assert_outcomes(failed=1)
    (kept,) = run_folder(recorded).glob("*/case.json")
    fields = {**json.loads(kept.read_text(encoding="utf-8")), "golden": place}
    kept.write_bytes(seal_record(fields, key="modelreg_case", version=2))
    before = recorded.golden_bytes()
    result = recorded.modelreg("review", "--accept-all", "--reason", "x")
    assert result.ret == 3
    result.stdout.fnmatch_lines(["*golden: expected the folder of a check below golden/py/*"])
    assert recorded.golden_bytes() == before


def test_unknown_case_is_named_with_the_nearest(drifted):
    """A typo accepts nothing."""
    result = drifted.modelreg("review", "--accept", "toy[referenc]", "--reason", "x")
    assert result.ret == 2
    result.stderr.fnmatch_lines(["*toy?referenc?: expected a case that the run kept*did you mean*"])


def test_dry_run_shows_and_writes_nothing(drifted, monkeypatch):
    """Also in CI, where writing is locked."""
    monkeypatch.setenv("CI", "true")
    before = drifted.golden_bytes()
    result = drifted.modelreg("regen", "--dry-run")
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        ["*6 of 6 samples drift*", "dry run: 0 would be recorded, 1 replaced; nothing was written"]
    )
    assert drifted.golden_bytes() == before


def test_log_tells_every_acceptance_with_its_reason(drifted):
    """From the file of now and those that git has."""
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run(["git", "init", "-q"], cwd=drifted.path, check=True)
    for words in (["add", "-A"], ["commit", "-q", "-m", "first"]):
        subprocess.run([*git, *words], cwd=drifted.path, check=True)
    drifted.modelreg("regen", "--reason", "wider inputs", "--yes")
    result = drifted.modelreg("log", "toy")
    assert result.ret == 0, result.stderr.str()
    result.stdout.fnmatch_lines(
        [
            "toy?reference?: golden/toy/reference",
            "*wider inputs",
            "*not committed*",
            "*first recording",
            "*commit *",
        ]
    )


def test_log_outside_git_tells_the_acceptance_of_now(recorded):
    """Nothing else is known there."""
    result = recorded.modelreg("log")
    result.stdout.fnmatch_lines(["toy?reference?: golden/toy/reference", "*first recording"])


@pytest.mark.skipif(os.name == "nt", reason="there are no pseudo-terminals there")
def test_cases_are_decided_one_by_one_on_a_terminal(drifted):
    """A wrong key asks again, skipping leaves it waiting, and accepting asks for the reason."""
    code, out = answer(drifted, b"x\ns\n")
    assert code == 1
    assert out.count("[a]ccept, [r]eject or [s]kip?") == 2
    code, out = answer(drifted, b"a\nwider inputs\n")
    assert code == 0, out
    assert "replaced from 6 samples: wider inputs" in out
    drifted.pytest().assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("record", "old", "new"),
    [
        ("observation.json", '"s0"', '"s9"'),
        ("observation.json", '"input_digest"', '"input_dagest"'),
        ("case.json", "golden/toy/reference", "golden/toy/referenca"),
    ],
)
def test_damaged_record_of_a_run_is_not_accepted(drifted, record, old, new):
    """What it says would become the golden; a run is nobody's to restore, so the case is run again."""
    (path,) = run_folder(drifted).glob(f"*/{record}")
    drifted.edit(str(path.relative_to(drifted.path)), old, new)
    before = drifted.golden_bytes()
    result = drifted.modelreg("review", "--accept-all", "--reason", "x")
    assert result.ret == 3
    result.stdout.fnmatch_lines([f"*{record}: bytes changed: *; run the case again"])
    assert "version control" not in result.stdout.str()
    assert drifted.golden_bytes() == before


def test_damaged_case_does_not_block_the_others(varied):
    """The whole ones are accepted; the exit code says that one could not be looked at."""
    path = run_folder(varied) / "toy[own]/case.json"
    path.write_bytes(path.read_bytes()[:-9])
    arguments = ("--accept", "toy[own]", "toy[reference]", "--reason", "x")
    result = varied.modelreg("review", *arguments)
    assert result.ret == 3
    result.stdout.fnmatch_lines(["*toy?own?/case.json: *run the case again", "*replaced from 6 samples*"])
    varied.pytest().assert_outcomes(passed=1, failed=2)


@pytest.mark.parametrize("name", ["samples", ".modelreg/runs"])
def test_folder_that_is_no_run_is_bad_usage(drifted, name):
    """A script that misspelt a path must not read that nothing waits."""
    result = drifted.modelreg("review", name)
    assert result.ret == 2
    hint = "; is it *Z?" if name != "samples" else ""
    result.stderr.fnmatch_lines([f"*{name}: expected the folder of a run, *, got neither{hint}"])


def test_run_in_which_all_matched_has_nothing_to_review(recorded, tmp_path):
    """It is one all the same, also where it was downloaded."""
    recorded.pytest()
    target = tmp_path / "artifact"
    shutil.copytree(run_folder(recorded), target)
    result = recorded.modelreg("review", str(target))
    assert result.ret == 0
    result.stdout.fnmatch_lines(["artifact: nothing waits for review (0 observations kept)"])


@pytest.mark.skipif(os.name == "nt", reason="there are no pseudo-terminals there")
@pytest.mark.parametrize("reason", [b"\x04", b"\n"])
def test_end_of_input_at_the_reason_skips_the_case(drifted, reason):
    """Ctrl-D is an answer like any other, and the golden is as it was."""
    before = drifted.golden_bytes()
    code, out = answer(drifted, b"a\n" + reason)
    assert code == 1, out
    assert "toy[reference]: skipped: it is accepted only with a reason" in out
    assert drifted.golden_bytes() == before


@pytest.mark.skipif(os.name == "nt", reason="there are no pseudo-terminals there")
def test_variant_of_its_reference_cannot_be_accepted_on_a_terminal(drifted):
    """That answer is asked again, and ends the review of no other case."""
    drifted.edit("modelreg.yaml", "outputs:", "variants: {a: {batch_size: 1}, b: {batch_size: 2}}\noutputs:")
    drifted.pytest()
    code, out = answer(drifted, b"s\na\nr\ns\n")
    assert code == 1, out
    assert "toy[a]: judged against its reference's golden, which it cannot become: [r]eject or [s]kip?" in out
    assert "toy[a]: rejected" in out
    assert "toy[b]: drift" in out


class TestWholeness:
    """A review says what it does not see: a run folder that is not whole has nothing to hide."""

    def test_case_that_is_not_there_any_more_is_named(self, drifted):
        """The report knows what the run kept; the others are decided."""
        drifted.edit("modelreg.yaml", "outputs:", "variants: {own: {batch_size: 1, golden: own}}\noutputs:")
        drifted.pytest()
        shutil.rmtree(run_folder(drifted) / "toy[own]")
        result = drifted.modelreg("review", "--accept", "toy[reference]", "--reason", "x")
        assert result.ret == 3
        result.stdout.fnmatch_lines(
            ["*toy?own?: expected what the run kept of this case, found nothing; get the run again, whole",
             "toy?reference?: replaced from 6 samples*"]
        )  # fmt: skip
        again = drifted.modelreg("rejudge", run_folder(drifted).name)
        assert again.ret == 3
        again.stdout.fnmatch_lines(["toy?own?: missing -> error: not judged: *found nothing; get the run *"])

    def test_run_that_is_whole_says_nothing_of_it(self, drifted):
        """Just inside."""
        result = drifted.modelreg("review", "--accept", "toy[reference]", "--reason", "x")
        assert result.ret == 0
        assert "get the run again" not in result.stdout.str()
        assert "no report" not in result.stdout.str()

    @pytest.mark.parametrize("command", ["review", "rejudge"])
    def test_report_with_a_changed_byte_is_found_out(self, drifted, command):
        """A verdict that was edited, or damaged on its way, is told from the one that was written."""
        path = run_folder(drifted) / "report.json"
        text = path.read_text(encoding="utf-8")
        assert '"verdict": "drift"' in text
        path.write_text(text.replace('"verdict": "drift"', '"verdict": "match"'), encoding="utf-8")
        result = drifted.modelreg(command, run_folder(drifted).name)
        assert result.ret == 3
        lines = result.stdout if command == "review" else result.stderr
        lines.fnmatch_lines(["*report.json: bytes changed: *; get the run again, or remove the file*"])

    def test_run_without_a_report_says_so(self, drifted):
        """It was cut off, or somebody took a part of it: what is there is decided."""
        (run_folder(drifted) / "report.json").unlink()
        result = drifted.modelreg("review", "--accept-all", "--reason", "x")
        assert result.ret == 0
        result.stdout.fnmatch_lines(["*: no report: *", "toy?reference?: replaced from 6 samples*"])

    def test_folder_of_one_case_is_not_taken_for_the_run(self, drifted):
        """The run is the folder around it."""
        result = drifted.modelreg("review", str(run_folder(drifted) / "toy[reference]"))
        assert result.ret == 2
        result.stderr.fnmatch_lines([f"*got neither; is it {run_folder(drifted)}?"])


def test_explain_takes_the_last_run_that_has_a_report(drifted):
    """A later one that was interrupted has nothing to explain; it is said, and its id still refuses."""
    whole = run_folder(drifted)
    cut = whole.with_name("20991231T235959-000000Z")
    cut.mkdir()
    done = drifted.modelreg("explain")
    assert done.ret == 0
    told = done.stdout.str()
    assert f"{cut.name}: ended before it wrote a report; explained is the last run" in told
    assert "toy[reference]: drift" in told
    assert drifted.modelreg("explain", cut.name).ret == 2


def test_explain_says_nothing_of_other_runs_where_the_last_one_is_whole(drifted):
    """Just inside: there is one run, with its report."""
    assert "ended before" not in drifted.modelreg("explain").stdout.str()
