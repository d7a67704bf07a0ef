"""Preprocessing with habits that it must not have: found out, named, and harmless to the next case."""

from __future__ import annotations

import pytest


def test_changed_argument_is_named(rehearsal):
    """The answers are right, so it is a match; what the loader returned was changed, so it is said."""
    assert "preprocess changes what the loader returned for" in rehearsal.told("habits[mutating]")


@pytest.mark.parametrize(
    ("case", "cause", "habit", "words"),
    [
        ("habits[stateful]", "preprocess.other", "stateful", "keeps state between samples"),
        ("habits[one-buffer]", "preprocess.other", "stateful", "one buffer for several samples"),
        ("habits[random]", "nondeterminism", "random", "of preprocessing, not of the model"),
        ("staged[random-crop]", "nondeterminism", "random", "of preprocessing, not of the model"),
    ],
)
def test_habit_is_the_cause_of_the_drift(rehearsal, case, cause, habit, words):
    """Named in the report, as preprocessing's: nobody looks for it in the model."""
    found, *_ = rehearsal.case(case)["causes"]
    assert found["cause"] == cause
    assert found["evidence"]["habit"] == habit
    assert words in found["summary"]


def test_one_buffer_is_told_by_the_samples_that_it_cost(rehearsal):
    """All but the last of every batch of four were overwritten."""
    found, *_ = rehearsal.case("habits[one-buffer]")["causes"]
    assert found["evidence"]["samples"] == rehearsal.case("habits[one-buffer]")["drifted_samples"]


def test_random_stage_is_named(rehearsal):
    """The stage that draws, out of eight."""
    found, *_ = rehearsal.case("staged[random-crop]")["causes"]
    assert "RandomCrop(size=(224, 224), padding=None)" in found["summary"]


def test_coin_that_falls_to_either_side_is_told(rehearsal):
    """Every photo has a seed of its own, so that some are flipped and some are not."""
    found, *_ = rehearsal.case("staged[random-flip]")["causes"]
    assert found["cause"] == "nondeterminism"
    assert "RandomHorizontalFlip(p=0.5)" in found["summary"]


@pytest.mark.parametrize("before", ["mutating", "stateful", "one-buffer", "random"])
def test_next_variant_is_not_poisoned(rehearsal, before):
    """The reference's own preprocessing, right after: the inputs are bit by bit what they were."""
    case = rehearsal.case(f"habits[after-{before}]")
    assert case["verdict"] == "match"
    assert case["inputs_identical"] is True
