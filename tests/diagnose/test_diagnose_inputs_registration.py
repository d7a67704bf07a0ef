"""Pictures from another place: turned, enlarged and moved by parts of a pixel, planted and measured."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from pytest_modelreg.diagnose.inputs import InputPair, explain_inputs

PHOTOS = Path(__file__).parents[2] / "fixtures" / "photos"
NAMES = ("sk-chelsea.jpg", "std-acanthus-mollis.jpg", "jxl-room.jpg", "sk-astronaut.jpg")
BILINEAR, BICUBIC = Image.Resampling.BILINEAR, Image.Resampling.BICUBIC


def resize(image: Image.Image, box: tuple[float, float, float, float] | None = None) -> Image.Image:
    """Squash a photo, or a part of it."""
    return image.resize((96, 96), BICUBIC, box=box)


def explain(change):
    """Return what is said of photos that are changed, without their files."""
    pairs = []
    for name in NAMES:
        with Image.open(PHOTOS / name) as file:
            image = file.convert("RGB")
        sides = [
            np.asarray(each, np.float32).transpose(2, 0, 1) / 64 - 2
            for each in (resize(image), change(image))
        ]
        pairs.append(
            InputPair(sample=name, path="", expected=sides[0], actual=sides[1], file=None, loader="array")
        )
    return explain_inputs(pairs, has_time=lambda: True)


@pytest.mark.parametrize("degrees", [1.0, 2.0, -4.0])
def test_turn_is_measured_in_degrees(degrees):
    """Corners that come in black do not hide it."""
    (finding,) = explain(lambda image: resize(image).rotate(degrees, BILINEAR))
    assert finding.cause.value == "preprocess.geometry"
    assert f"turned by {abs(degrees):.2g} degrees" in finding.evidence["actual"]
    assert finding.confidence > 0.8


def test_margin_that_is_cut_off_enlarges_what_is_left():
    """Eight pixels at each side of photos of several sizes: not the same zoom for all."""
    (finding,) = explain(lambda image: resize(image, (8, 8, image.width - 8, image.height - 8)))
    assert finding.cause.value == "preprocess.geometry"
    assert finding.evidence["actual"].startswith("enlarged 1.0")


def test_part_of_a_pixel_is_a_move():
    """A grid that starts half a pixel later, which no move by whole pixels is."""
    half = (1, 0, 0.5, 0, 1, 0)
    (finding,) = explain(
        lambda image: resize(image).transform((96, 96), Image.Transform.AFFINE, half, BICUBIC)
    )
    assert finding.cause.value == "preprocess.geometry"
    assert "0.5 px left" in finding.evidence["actual"]


@pytest.mark.parametrize("kernel", [BILINEAR, Image.Resampling.LANCZOS, Image.Resampling.BOX])
def test_another_kernel_is_no_other_place(kernel):
    """What differs in fine detail only is laid over each other already."""
    findings = explain(lambda image: image.resize((96, 96), kernel))
    assert all(finding.evidence["hypothesis"] != "registration" for finding in findings)


def test_other_pictures_are_laid_over_nothing():
    """A map that explains little is none."""
    rng = np.random.default_rng(0)
    (finding,) = explain(lambda image: Image.fromarray(rng.integers(0, 255, (96, 96, 3), np.uint8)))
    assert finding.evidence["hypothesis"] == "none"
