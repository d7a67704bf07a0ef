"""The list of planted faults is well formed, and its outcomes are counted as they are said to be."""

from __future__ import annotations

import ast
import shutil
from collections import Counter
from pathlib import Path

import pytest

from benchmarks.attribution.base_project import PROJECTS
from benchmarks.attribution.edits import Append, Edit, Replace, Vary
from benchmarks.attribution.fault import BENIGN, HELD_OUT, TUNING, Fault
from benchmarks.attribution.faults import FAULTS
from benchmarks.attribution.interval import compute_wilson
from benchmarks.attribution.score import passes, write_table
from benchmarks.attribution.trial import Outcome
from pytest_modelreg.domain.cause import Cause

VOCABULARY = {cause.value for cause in Cause}
FREE_OF_A_MINIMUM = {"preprocess.other", "unknown", "runtime.optimization"}
FAULT = Fault(
    name="toy-fault", kind="model.code", project="toy", also=("model.mode",), why="both", affected=("a",)
)
HARMLESS = Fault(name="toy-harmless", kind=BENIGN, project="toy")


def test_names_are_unique_and_begin_with_their_project() -> None:
    """A row is found by its name, and its part depends on it."""
    names = Counter(fault.name for fault in FAULTS)

    assert [name for name, count in names.items() if count > 1] == []
    assert all(fault.name.startswith(f"{fault.project}-") for fault in FAULTS)
    assert {fault.project for fault in FAULTS} == {folder.name for folder in PROJECTS.iterdir()}


def test_causes_are_of_the_vocabulary_and_others_have_a_reason() -> None:
    """A row is named rightly by words of the closed vocabulary only, by several only with a reason."""
    for fault in FAULTS:
        assert set(fault.accepted) <= ({BENIGN} if fault.is_benign else VOCABULARY), fault.name
        assert bool(fault.also) == bool(fault.why), fault.name
        assert len(set(fault.accepted)) == len(fault.accepted), fault.name


def test_every_cause_is_planted_in_three_ways_at_least() -> None:
    """No cause of the vocabulary is scored on fewer than three faults."""
    planted = Counter(fault.kind for fault in FAULTS)

    assert {cause for cause in VOCABULARY - FREE_OF_A_MINIMUM if planted[cause] < 3} == set()
    assert planted[BENIGN] >= 20


def test_every_kind_has_rows_in_both_parts() -> None:
    """The third that is put aside tests every kind that the rest is tuned on."""
    parts = {kind: {f.part for f in FAULTS if f.kind == kind} for kind in {f.kind for f in FAULTS}}

    assert {kind for kind, found in parts.items() if found != {TUNING, HELD_OUT}} == set()
    assert 0.28 < sum(fault.part == HELD_OUT for fault in FAULTS) / len(FAULTS) < 0.38


@pytest.mark.parametrize("project", sorted(folder.name for folder in PROJECTS.iterdir()))
def test_texts_that_are_replaced_stand_in_the_project(project: str, tmp_path: Path) -> None:
    """Every row changes its base project's files, and leaves code that Python reads."""
    for fault in FAULTS:
        if fault.project == project:
            folder = tmp_path / fault.name
            shutil.copytree(PROJECTS / project, folder)
            (folder / "suite.yaml").rename(folder / "modelreg.yaml")
            for edit in (*fault.before, *fault.plant):
                if _is_of_text(edit):
                    edit.apply(folder)
            for file in folder.rglob("*.py"):
                ast.parse(file.read_text(encoding="utf-8"))


def _is_of_text(edit: Edit) -> bool:
    """Whether an edit needs none of the files that are made when the project is."""
    is_text = isinstance(edit, (Append, Replace, Vary))
    return is_text and not getattr(edit, "file", "").startswith("samples/")


def test_text_that_does_not_stand_once_is_refused(tmp_path: Path) -> None:
    """A fault is never planted in vain: an edit that finds nothing, or too much, raises."""
    (tmp_path / "code.py").write_text("one one\n", encoding="utf-8")

    for old in ("one", "two"):
        with pytest.raises(ValueError, match=f"expected '{old}' once"):
            Replace("code.py", old, "three").apply(tmp_path)


@pytest.mark.parametrize(
    ("n_right", "n_total", "low", "high"),
    [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
        (10, 10, 0.7225, 1.0),
    ],
)
def test_interval_is_wilsons(n_right: int, n_total: int, low: float, high: float) -> None:
    """The score interval agrees with R. G. Newcombe, Statistics in Medicine 17 (1998), table I."""
    assert compute_wilson(n_right, n_total) == pytest.approx((low, high), abs=5e-5)


def test_interval_without_a_trial_is_everything() -> None:
    """Of nothing, nothing is known."""
    assert compute_wilson(0, 0) == (0.0, 1.0)


def _outcome(fault: Fault, verdict: str, *causes: str, drifted: tuple[str, ...] = ()) -> Outcome:
    found = tuple((cause, 0.9, "") for cause in causes)
    return Outcome(fault=fault, verdict=verdict, causes=found, drifted=drifted)


def test_only_the_first_cause_counts() -> None:
    """A fault is named rightly by the first cause, its own or one as right, and by no later one."""
    assert _outcome(FAULT, "drift", "model.code").is_right
    assert _outcome(FAULT, "drift", "model.mode", "unknown").is_right
    assert not _outcome(FAULT, "drift", "unknown", "model.code").is_right
    assert not _outcome(FAULT, "drift").is_right


def test_an_undetected_fault_is_wrong() -> None:
    """A match, an error and a run without a report do not detect a fault that should drift."""
    for verdict in ("match", "error", "none"):
        assert not _outcome(FAULT, verdict, "model.code").is_detected
        assert not _outcome(FAULT, verdict, "model.code").is_right


def test_anything_but_a_match_of_a_benign_change_is_a_false_alarm() -> None:
    """A benign change that cannot be run is as much of an alarm as one that drifts."""
    assert _outcome(HARMLESS, "match").is_right
    for verdict in ("drift", "error", "stale", "none"):
        assert _outcome(HARMLESS, verdict).is_detected
        assert not _outcome(HARMLESS, verdict).is_right


def test_other_samples_than_known_are_listed() -> None:
    """A fault that hits other samples than it must is told, whatever its cause is called."""
    assert "affected: toy-fault: expected a, got b" in write_table([_outcome(FAULT, "drift", drifted=("b",))])
    assert "affected" not in write_table([_outcome(FAULT, "drift", drifted=("a",))])


def test_goal_is_all_detected_none_false_and_nineteen_in_twenty_right() -> None:
    """The benchmark passes at exactly 95 %, and with neither a missed fault nor a false alarm."""
    right, wrong = _outcome(FAULT, "drift", "model.code"), _outcome(FAULT, "drift", "unknown")

    assert passes([*[right] * 19, wrong, _outcome(HARMLESS, "match")])
    assert not passes([*[right] * 18, wrong])
    assert not passes([*[right] * 40, _outcome(FAULT, "match")])
    assert not passes([*[right] * 40, _outcome(HARMLESS, "drift")])
