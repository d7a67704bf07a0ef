"""The first stage of a pipeline that differs."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from pytest_modelreg.diagnose.stages import StageChange, find_stage_change
from pytest_modelreg.domain.cause import Cause
from pytest_modelreg.domain.observation import Stage
from tests.diagnose.conftest import IDS, Bench, Side

RESIZE = "Resize(size=[224, 224], interpolation=bicubic, antialias=True)"
NORMALIZE = "Normalize(mean=[0.485], std=[0.229])"


def stage(description: str, digest: str) -> Stage:
    """Return a stage whose output has one digest for every sample."""
    return Stage(
        name=description.partition("(")[0], description=description, digests=tuple(digest for _ in IDS)
    )


def change(bench: Bench, then: Sequence[Stage], now: Sequence[Stage]) -> StageChange | None:
    """Return what changed between two pipelines."""
    drift = bench.drift(Side(stages=then), Side(stages=now))
    return find_stage_change(drift.golden.observation, drift.observation)


@pytest.mark.parametrize(
    ("was", "becomes", "cause"),
    [
        (RESIZE, RESIZE.replace("bicubic", "bilinear"), Cause.PREPROCESS_INTERPOLATION),
        (RESIZE, RESIZE.replace("True", "False"), Cause.PREPROCESS_INTERPOLATION),
        (RESIZE, RESIZE.replace("224, 224", "256, 256"), Cause.PREPROCESS_GEOMETRY),
        (NORMALIZE, NORMALIZE.replace("0.485", "0.5"), Cause.PREPROCESS_NORMALIZATION),
        ("CenterCrop(size=(224, 224))", "CenterCrop(size=(223, 223))", Cause.PREPROCESS_GEOMETRY),
        ("ToTensor()", "PILToTensor()", Cause.PREPROCESS_VALUE_RANGE),
    ],
)
def test_a_changed_setting_names_the_cause(bench: Bench, was: str, becomes: str, cause: Cause):
    """What changed in the description says what such a stage does."""
    found = change(
        bench, [stage(was, "1"), stage("Last()", "2")], [stage(becomes, "3"), stage("Last()", "4")]
    )
    assert found is not None
    assert found.position == 1
    assert found.cause is cause
    assert (found.expected, found.actual, found.n_samples) == (was, becomes, 4)


def test_a_stage_that_was_left_out_is_named(bench: Bench):
    """Those after it differ in their output only because it is gone."""
    then = [stage(RESIZE, "1"), stage("ToTensor()", "2"), stage(NORMALIZE, "3")]
    found = change(bench, then, then[:2])
    assert found is not None
    assert "is gone" in str(found)
    assert found.cause is Cause.PREPROCESS_NORMALIZATION


def test_a_stage_that_became_the_last_is_not_blamed(bench: Bench):
    """Its output is digested as the model's input then: another digest of the same numbers."""
    then = [stage(RESIZE, "1"), stage("ToTensor()", "2"), stage(NORMALIZE, "3")]
    found = change(bench, then, [then[0], stage("ToTensor()", "another")])
    assert found is not None
    assert found.name == "Normalize"


def test_a_new_stage_is_named(bench: Bench):
    """A stage that was put in moves all that follow by one place."""
    then = [stage(RESIZE, "1"), stage(NORMALIZE, "3")]
    found = change(bench, then, [then[0], stage("SwapBgr()", "9"), stage(NORMALIZE, "4")])
    assert found is not None
    assert (found.position, found.expected, found.actual) == (2, "", "SwapBgr()")
    assert found.cause is Cause.PREPROCESS_CHANNEL_ORDER


def test_other_output_of_the_same_description_is_told_as_such(bench: Bench):
    """Its code changed, or the library below it."""
    found = change(bench, [stage("decode()", "1")], [stage("decode()", "2")])
    assert found is not None
    assert "the same stage with the same settings now gives other values" in str(found)


def test_equal_outputs_are_no_change(bench: Bench):
    """A stage that is described otherwise and returns the same moved nothing."""
    assert change(bench, [stage(RESIZE, "1")], [stage(RESIZE + " ", "1")]) is None
    assert change(bench, [stage(RESIZE, "1")], []) is None


def test_a_stage_that_was_moved_is_told_as_moved(bench: Bench):
    """Neither gone nor new: with both places."""
    then = [stage("Load()", "0"), stage(RESIZE, "1"), stage("ToTensor()", "2"), stage(NORMALIZE, "3")]
    now = [stage("Load()", "0"), stage("ToTensor()", "4"), stage(RESIZE, "5"), stage(NORMALIZE, "6")]
    found = change(bench, then, now)
    assert found is not None
    assert found.cause is None
    assert str(found) in (
        "stage ToTensor() moved from place 3 to place 2",
        f"stage {RESIZE} moved from place 2 to place 3",
    )


def test_a_second_stage_of_one_kind_is_new_and_not_moved(bench: Bench):
    """Just inside: the golden's is where it was."""
    then = [stage(RESIZE, "1"), stage(NORMALIZE, "2")]
    now = [stage(RESIZE, "1"), stage(NORMALIZE, "2"), stage(RESIZE, "3")]
    found = change(bench, then, now)
    assert found is not None
    assert "is new" in str(found)


def test_libraries_below_a_stage_that_is_the_same_are_named(bench: Bench):
    """Whose release is another one; those that are the same are not."""
    then = Side(stages=[stage("decode()", "1")], facts={"pillow.version": "10.0", "numpy.version": "2.0"})
    now = Side(stages=[stage("decode()", "2")], facts={"pillow.version": "11.0", "numpy.version": "2.0"})
    drift = bench.drift(then, now)
    found = find_stage_change(drift.golden.observation, drift.observation)
    assert found is not None
    assert str(found).endswith("its code, or a library below it, changed (pillow.version 10.0 -> 11.0)")
