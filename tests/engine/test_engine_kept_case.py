"""``case.json``: what a review goes by, so that no bit of it changes unnoticed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_modelreg.domain.errors import GoldenError
from pytest_modelreg.domain.result import CaseResult
from pytest_modelreg.domain.verdict import Verdict
from pytest_modelreg.engine.kept_case import CASE_FILE, read_kept_case, write_decision, write_kept_case
from pytest_modelreg.engine.outcome import Outcome, Place
from pytest_modelreg.store import golden_sha256


@pytest.fixture
def path(tmp_path):
    """The record of a check of a Python test."""
    golden = tmp_path / "golden/py/tests.test_emb/test_a/x"
    result = CaseResult(suite="py", variant="a", verdict=Verdict.DRIFT, message="")
    write_kept_case(tmp_path, Outcome(result=result, place=Place(golden=golden, root=tmp_path)))
    return tmp_path / CASE_FILE


def test_any_flipped_bit_is_refused(path):
    """The place of the golden is in it: another one would get what was observed."""
    data = path.read_bytes()
    for position in range(len(data)):
        flipped = bytearray(data)
        flipped[position] ^= 1 << position % 8
        path.write_bytes(flipped)
        with pytest.raises(GoldenError, match="run the case again") as caught:
            read_kept_case(path.parent)
        assert "version control" not in str(caught.value)


def test_decision_is_kept_and_sealed(path):
    """Read back, and refused as well once a bit of it flips."""
    write_decision(read_kept_case(path.parent), "rejected")
    assert read_kept_case(path.parent).decision == "rejected"
    path.write_bytes(path.read_bytes().replace(b"rejected", b"rejectee"))
    with pytest.raises(GoldenError, match="bytes changed"):
        read_kept_case(path.parent)


def test_decision_does_not_vouch_for_damage_that_came_since(path):
    """Writing it anew would give other bytes a digest that fits them."""
    kept = read_kept_case(path.parent)
    path.write_bytes(path.read_bytes().replace(b"test_emb", b"tesu_emb"))
    with pytest.raises(GoldenError, match="bytes changed"):
        write_decision(kept, "accepted")


def test_record_of_an_older_release_is_read_and_then_sealed(path):
    """It carries no digest of its own until a decision is written."""
    kept = read_kept_case(path.parent)
    fields = json.loads(path.read_text(encoding="utf-8"))
    del fields["modelreg_sha256"]
    path.write_text(json.dumps({**fields, "modelreg_case": 1}), encoding="utf-8")
    assert read_kept_case(path.parent) == kept
    write_decision(kept, "accepted")
    assert read_kept_case(path.parent) == replace(kept, decision="accepted")
    assert json.loads(path.read_text(encoding="utf-8"))["modelreg_case"] == 2


def test_missing_record_says_to_run_again(tmp_path: Path):
    """Unlike a golden it cannot be had from anywhere else."""
    with pytest.raises(GoldenError, match="run the case again"):
        read_kept_case(tmp_path)


def test_record_names_the_golden_that_the_case_was_held_against(recorded):
    """What is shown later beside an observation must be the golden that it was judged by."""
    recorded.edit("toymodel.py", "scale=1.0", "scale=1.2")
    recorded.pytest("--modelreg-diagnose=off")
    (folder,) = (recorded.path / ".modelreg/runs").glob("*/toy[[]reference]")
    golden = recorded.path / "golden/toy/reference"
    assert read_kept_case(folder).golden_sha256 == golden_sha256(golden)
