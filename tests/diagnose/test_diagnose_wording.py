"""Two descriptions held against each other, setting by setting."""

from __future__ import annotations

import math

from pytest_modelreg.diagnose.wording import contrast, tell_apart


def test_a_setting_of_several_numbers_is_told_whole():
    """Commas inside of brackets part nothing."""
    told = contrast(
        "Normalize(mean=(0.485, 0.456, 0.406), std=(0.2, 0.2, 0.2))",
        "Normalize(mean=(0.5, 0.5, 0.5), std=(0.2, 0.2, 0.2))",
    )
    assert told == "Normalize: mean: (0.485, 0.456, 0.406) -> (0.5, 0.5, 0.5)"


def test_settings_are_paired_by_name_and_not_by_place():
    """One more in between moves none of the others."""
    told = contrast("Resize(size=64, antialias=True)", "Resize(size=64, mode='a, b', antialias=False)")
    assert told == "Resize: antialias: True -> False, mode: (not named) -> 'a, b'"


def test_settings_without_a_name_are_paired_by_place():
    """A convolution's channels."""
    assert contrast("Conv2d(3, 8, bias=False)", "Conv2d(3, 16, bias=False)") == "Conv2d: 8 -> 16"


def test_another_kind_is_told_with_both_descriptions():
    """Its settings are not those of the other."""
    assert contrast("ReLU()", "GELU(approximate='none')") == "was ReLU() and is GELU(approximate='none')"


def test_what_no_number_says_is_not_told_as_infinite():
    """NaN on one side only, or another shape."""
    assert tell_apart(0.0123) == "0.012 apart"
    assert "inf " not in tell_apart(math.inf)
    assert "finite" in tell_apart(math.inf)
