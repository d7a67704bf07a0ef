"""Inputs of odd or changed form: nothing raises, and what can be said is said."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

from pytest_modelreg.diagnose.inputs import InputPair, explain_inputs

PHOTO = Path(__file__).parents[2] / "fixtures" / "photos" / "sk-coffee.jpg"
TRUNCATED = next((Path(__file__).parents[2] / "fixtures" / "broken").glob("*.jpg"))
VALUES = np.random.default_rng(0).standard_normal((3, 32, 32)).astype(np.float32)


def explain(expected, actual, *, path: str = "", file: Path | None = None, loader: str = "array"):
    """Return the findings for one sample; warnings are errors."""
    pair = InputPair(
        sample="s",
        path=path,
        expected=np.asarray(expected),
        actual=np.asarray(actual),
        file=file,
        loader=loader,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return explain_inputs([pair], has_time=lambda: True)


ODD = {
    "number": (1.0, 2.0),
    "whole number": (1, 2),
    "one pixel": (np.ones((3, 1, 1)), 2 * np.ones((3, 1, 1))),
    "nothing, of other shapes": (np.zeros((0, 3)), np.zeros((0, 4))),
    "all missing": (VALUES, VALUES * np.nan),
    "some infinite": (VALUES, np.where(VALUES > 2, np.inf, VALUES)),
    "complex": (VALUES + 1j, VALUES + 2j),
    "words": (np.array(["a", "b"]), np.array(["a", "c"])),
    "bytes": (np.array([b"a"]), np.array([b"bcd"])),
    "objects": (np.array([{}, 1], object), np.array([{}, 2], object)),
    "days": (np.array(["2020-01-01"], "M8[D]"), np.array(["2020-01-02"], "M8[D]")),
    "other channels": (VALUES, VALUES[:2]),
    "other axes": (VALUES, VALUES.ravel()),
    "huge": (VALUES.astype(np.float64) * 1e300, VALUES.astype(np.float64) * 1.5e300),
    "golden constant": (np.zeros((3, 32, 32)), VALUES),
    "today constant": (VALUES, np.zeros((3, 32, 32))),
    "both constant": (np.ones((3, 32, 32)), np.zeros((3, 32, 32))),
    "five axes": (VALUES[None, None], np.cumsum(VALUES, axis=2)[None, None]),
    "truth values": (VALUES > 0, np.roll(VALUES, 7) > 0.5),
}


@pytest.mark.parametrize("case", ODD)
def test_odd_input_gets_an_answer_that_names_no_setting(case):
    """No form raises or warns, and nothing is explained by a line through too little."""
    (finding,) = explain(*ODD[case])
    assert finding.cause.value == "preprocess.other"
    assert finding.evidence["samples"] == ["s"]


@pytest.mark.parametrize("file", [Path("/nonexistent.png"), Path(__file__), TRUNCATED, PHOTO.parent])
def test_unreadable_file_leaves_what_arrays_tell(file):
    """A file that is gone, no image, damaged, or a folder."""
    noise = np.random.default_rng(1).standard_normal(VALUES.shape).astype(np.float32)
    (finding,) = explain(VALUES, noise, file=file, loader="image")
    assert finding.cause.value == "preprocess.other"


@pytest.mark.parametrize(
    "expected", [VALUES, np.zeros((3, 32, 32)), np.ones((3, 9, 3000)), np.full((3, 32, 32), np.nan)]
)
def test_picture_that_no_recipe_makes_is_named_nothing(expected):
    """A photo's file beside inputs that have nothing to do with it."""
    rng = np.random.default_rng(1)
    findings = explain(expected, rng.standard_normal(expected.shape), file=PHOTO, loader="image")
    assert all(
        finding.confidence < 0.5 or finding.evidence["hypothesis"] == "missing values" for finding in findings
    )


def test_no_pairs_have_no_cause():
    """Nothing to compare."""
    assert explain_inputs([], has_time=lambda: True) == ()


@pytest.mark.parametrize(
    "value", [1.0, VALUES, VALUES * np.nan, np.array(["a"]), np.zeros((0, 3)), np.array([None], object)]
)
def test_equal_inputs_of_any_form_have_no_cause(value):
    """NaN at the same places included."""
    assert explain(value, np.copy(value)) == ()


def test_dtype_alone_is_named_as_such():
    """The values agree."""
    (finding,) = explain(VALUES, VALUES.astype(np.float64))
    assert finding.cause.value == "preprocess.other"
    assert (finding.evidence["expected"], finding.evidence["actual"]) == ("float32", "float64")


def test_half_precision_is_a_change_of_dtype_only():
    """Rounding to the coarser dtype is no change of values."""
    (finding,) = explain(VALUES, VALUES.astype(np.float16))
    assert finding.evidence["hypothesis"] == "dtype"


def test_cast_to_integers_is_a_change_of_range():
    """Whole numbers as floats or as integers."""
    whole = np.round(10 * VALUES)
    (finding,) = explain(whole, whole.astype(np.int32))
    assert finding.cause.value == "preprocess.value_range"
    assert finding.evidence["hypothesis"] == "dtype"


def test_input_that_one_side_lacks_is_named_by_its_path():
    """An empty array stands for no input."""
    (new,) = explain(np.zeros(0), VALUES, path="mask")
    (gone,) = explain(VALUES, np.zeros(0), path="mask")
    assert (new.evidence["input"], new.evidence["actual"]) == ("mask", "present")
    assert (gone.evidence["input"], gone.evidence["actual"]) == ("mask", "empty")


def test_inputs_of_several_paths_are_explained_one_by_one():
    """A dict of two: the one that changed has the finding."""
    pairs = [
        InputPair(sample=f"s{i}", path=path, expected=VALUES, actual=actual, file=None, loader="array")
        for i in range(3)
        for path, actual in (("image", VALUES[:, :, ::-1]), ("mask", VALUES))
    ]
    (finding,) = explain_inputs(pairs, has_time=lambda: True)
    assert finding.evidence["input"] == "image"
    assert finding.summary.startswith("input image: today's inputs are mirrored left to right")


def test_evidence_is_made_of_builtins():
    """It goes into the report as it is."""

    def walk(value):
        if isinstance(value, dict):
            for key, item in value.items():
                assert type(key) is str
                walk(item)
        elif isinstance(value, list):
            for item in value:
                walk(item)
        else:
            assert value is None or type(value) in (str, int, float, bool)

    for actual in (VALUES[::-1], 2 * VALUES, VALUES[:, 1:], np.clip(VALUES, -1, 1), np.roll(VALUES, 3, 1)):
        for finding in explain(VALUES, actual):
            walk(finding.evidence)
