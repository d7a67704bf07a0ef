"""What was edited in the project, told where it serves."""

from __future__ import annotations

from pytest_modelreg.diagnose import Answer
from pytest_modelreg.diagnose.diagnosis import explain_drift
from pytest_modelreg.diagnose.model import explain_code
from pytest_modelreg.domain.cause import Cause
from pytest_modelreg.domain.project_code import ProjectReads, SourceFile, VariableFact
from tests.diagnose.conftest import IDS, Bench, GivenReplay, Side

SIDES = {"net.py": ("model",), "feats.py": ("preprocess",), "config.py": ("model", "preprocess")}
THEN = dict.fromkeys(SIDES, "1" * 64)


def side(*edited: str, inputs: str = "", reads: ProjectReads | None = None) -> Side:
    """Return a side with some files edited, and other inputs of one sample."""
    sources = {name: ("2" if name in edited else "1") * 64 for name in THEN}
    fed = {name: f"{name}{inputs if name == 'd' else ''}" for name in IDS}
    return Side(sources=sources, sides=SIDES, inputs=fed, reads=reads)


def reads(digest: str = "1", state: str = "", of: str = "model") -> ProjectReads:
    """Return a data file and a variable of one side."""
    return ProjectReads(
        data_files=(SourceFile(file="pre.json", sha256=digest * 64, sides=(of,)),),
        variables=(VariableFact(name="SCALE", state=state, files=("net.py",), sides=(of,)),),
    )


def test_an_edit_of_preprocessing_is_not_the_model_s(bench: Bench):
    """It is told with the cause on the inputs instead."""
    drift = bench.drift(side(), side("feats.py", inputs="x"), drifted=["d"])
    (finding,) = explain_drift(drift, GivenReplay())
    assert finding.cause is Cause.PREPROCESS_OTHER
    assert "edited since: feats.py" in finding.summary


def test_an_edit_of_the_model_is_told_as_before(bench: Bench):
    """Just inside: the same edit in a file that the model is made of."""
    (finding,) = explain_code(bench.drift(side(), side("net.py", "feats.py")))
    assert finding.evidence["files"] == ["net.py"]
    assert finding.confidence == 0.75


def test_an_edit_of_a_shared_file_says_little_where_just_changed_inputs_drift(bench: Bench):
    """The samples that are fed as before are answered as before."""
    (finding,) = explain_code(bench.drift(side(), side("config.py", inputs="x"), drifted=["d"]))
    assert finding.confidence == 0.3
    (all_drift,) = explain_code(bench.drift(side(), side("config.py", inputs="x")))
    assert all_drift.confidence == 0.75


def test_a_file_of_unknown_side_is_the_model_s_while_inputs_are_the_same(bench: Bench):
    """Goldens from before sides were kept; with other inputs it may as well be preprocessing's."""
    then, now = {"old.py": "1" * 64}, {"old.py": "2" * 64}
    (finding,) = explain_code(bench.drift(Side(sources=then), Side(sources=now)))
    assert finding.evidence["files"] == ["old.py"]
    fed = {name: f"{name}x" for name in IDS}
    assert explain_code(bench.drift(Side(sources=then), Side(sources=now, inputs=fed))) == []


def test_an_edited_data_file_of_the_model_is_named(bench: Bench):
    """A configuration beside the code."""
    (finding,) = explain_code(bench.drift(side(reads=reads("1")), side(reads=reads("2"))))
    assert "edited since: pre.json" in finding.summary


def test_data_files_are_not_compared_with_a_golden_that_has_none(bench: Bench):
    """Just inside: one from before they were kept says nothing of them."""
    assert explain_code(bench.drift(side(), side(reads=reads("2")))) == []


def test_a_data_file_and_a_variable_of_preprocessing_are_told_with_its_cause(bench: Bench):
    """Both are named, neither is a cause of the model's."""
    then, now = reads("1", of="preprocess"), reads("2", "abc", of="preprocess")
    drift = bench.drift(side(reads=then), side(inputs="x", reads=now), drifted=["d"])
    (finding,) = explain_drift(drift, GivenReplay())
    assert "edited since: pre.json; SCALE, which net.py reads, is set and was not" in finding.summary


def test_a_variable_without_which_the_case_agrees_is_the_environment(bench: Bench):
    """Taken away in a process of its own, as it was for the golden."""
    drift = bench.drift(side(reads=reads()), side(reads=reads(state="abc")))
    replay = GivenReplay({"without SCALE": Answer(agrees=True, rel_l2=0.0, before=0.3, samples=("a",))})
    finding = explain_drift(drift, replay)[0]
    assert (finding.cause, finding.confidence) == (Cause.ENVIRONMENT, 0.96)
    assert "SCALE, which net.py reads, is set and was not" in finding.summary
    assert replay.asked[-1].variables == {"SCALE": None}


def test_a_variable_without_which_the_drift_stays_is_no_cause(bench: Bench):
    """Just inside: it is set, and moves nothing."""
    drift = bench.drift(side(reads=reads()), side(reads=reads(state="abc")))
    replay = GivenReplay({"without SCALE": Answer(agrees=False, rel_l2=0.3, before=0.3, samples=("a",))})
    assert Cause.ENVIRONMENT not in {finding.cause for finding in explain_drift(drift, replay)}


def test_another_value_is_told_as_a_possibility(bench: Bench):
    """No golden keeps it, so that it cannot be set back."""
    drift = bench.drift(side(reads=reads(state="abc")), side(reads=reads(state="def")))
    finding = explain_drift(drift, GivenReplay())[0]
    assert finding.cause is Cause.ENVIRONMENT
    assert finding.confidence < 0.5
    assert "SCALE, which net.py reads, has another value" in finding.summary
