"""The weights of each resize, held against the libraries whose conventions they are."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from PIL import Image
from torch.nn.functional import interpolate

from pytest_modelreg.diagnose.inputs.resampling import (
    resize,
    resize_in_integers,
    weigh_antialiased,
    weigh_area,
    weigh_plain,
)

HEIGHT, WIDTH = 150, 211
SIZES = (32, 96, 150, 300)
FILTERS = {"bilinear": 2, "bicubic": 3, "box": 4}


@pytest.fixture(scope="module")
def levels() -> np.ndarray:
    """Return whole levels, float32 (3, 150, 211)."""
    return np.random.default_rng(0).integers(0, 256, (3, HEIGHT, WIDTH)).astype(np.float32)


def weigh(function, kernel: str, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the weights of rows and columns of a whole picture."""
    return function(kernel, HEIGHT, size, 0, HEIGHT), function(kernel, WIDTH, size, 0, WIDTH)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kernel", ["bilinear", "bicubic"])
@pytest.mark.parametrize("antialias", [True, False])
def test_floats_are_resized_as_torch_does(levels, kernel, size, antialias):
    """Smaller and larger, with and without antialias: float32 rounding apart."""
    expected = interpolate(torch.from_numpy(levels)[None], (size, size), mode=kernel, antialias=antialias)
    made = resize(levels, *weigh(weigh_antialiased if antialias else weigh_plain, kernel, size))
    np.testing.assert_allclose(made, expected[0].numpy(), atol=0.02)


@pytest.mark.parametrize("size", [75, 105, 300])
def test_nearest_takes_torch_s_pixels(levels, size):
    """The pixel at or before the position, not the one below the centre."""
    expected = interpolate(torch.from_numpy(levels)[None], (size, size), mode="nearest")
    np.testing.assert_array_equal(resize(levels, *weigh(weigh_plain, "nearest", size)), expected[0].numpy())


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kernel", ["bilinear", "bicubic"])
def test_whole_levels_are_resized_as_torch_s_uint8_kernels_do(levels, kernel, size):
    """Bit by bit: int16 weights, rounded after each pass."""
    tensor = torch.from_numpy(levels.astype(np.uint8))[None]
    expected = interpolate(tensor, (size, size), mode=kernel, antialias=True)
    made = resize_in_integers(levels, *weigh(weigh_antialiased, kernel, size))
    np.testing.assert_array_equal(made, expected[0].numpy())


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kernel", list(FILTERS))
def test_antialiased_weights_are_pillow_s(levels, kernel, size):
    """Of float pictures, which Pillow does not round."""
    made = resize(levels, *weigh(weigh_antialiased, kernel, size))
    expected = [np.asarray(Image.fromarray(plane).resize((size, size), FILTERS[kernel])) for plane in levels]
    np.testing.assert_allclose(made, expected, atol=0.02)


def test_part_of_a_picture_is_resized_as_pillow_s_box(levels):
    """The kernel sees pixels beside the box, as in a resize that is followed by a crop."""
    box = (20.5, 10.0, 180.5, 130.0)
    rows = weigh_antialiased("bicubic", HEIGHT, 64, box[1], box[3])
    columns = weigh_antialiased("bicubic", WIDTH, 64, box[0], box[2])
    expected = Image.fromarray(levels[0]).resize((64, 64), 3, box=box)
    np.testing.assert_allclose(resize(levels[:1], rows, columns)[0], expected, atol=0.02)


def test_area_is_the_mean_of_what_is_covered(levels):
    """Every pixel by the part of it that lies in the square, as OpenCV's INTER_AREA."""
    made = resize(levels, weigh_area(HEIGHT, 50, 0, HEIGHT), weigh_area(WIDTH, WIDTH, 0, WIDTH))
    np.testing.assert_allclose(made, levels.reshape(3, 50, 3, WIDTH).mean(axis=2), rtol=1e-5)
    np.testing.assert_allclose(weigh_area(5, 2, 0, 5), [[0.4, 0.4, 0.2, 0, 0], [0, 0, 0.2, 0.4, 0.4]])


@pytest.mark.parametrize("function", [weigh_antialiased, weigh_plain])
@pytest.mark.parametrize("kernel", ["bilinear", "bicubic"])
def test_weights_of_a_pixel_add_up_to_one(function, kernel):
    """A flat picture stays flat, borders included."""
    np.testing.assert_allclose(function(kernel, 97, 31, 0, 97).sum(axis=1), 1, rtol=1e-12)
