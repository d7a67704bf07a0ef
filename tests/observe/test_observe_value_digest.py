"""Digests of what stands between two stages."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from pytest_modelreg.observe import value_digest
from pytest_modelreg.observe.value_digest import VALUE_DIGITS, digest_value, is_decoded_image
from pytest_modelreg.trace import digest_arrays

torch = pytest.importorskip("torch")
Image = pytest.importorskip("PIL.Image")


def palette_image(colour: int):
    """Return an image whose pixels are all index 1, of this colour."""
    image = Image.new("P", (2, 2), 1)
    image.putpalette([0, 0, 0, colour, 0, 0])
    return image


DIFFERENT = {
    "pixel": (Image.new("RGB", (2, 2), (1, 2, 3)), Image.new("RGB", (2, 2), (1, 2, 4))),
    "mode": (Image.new("L", (2, 2)), Image.new("P", (2, 2))),
    "size": (Image.new("L", (2, 3)), Image.new("L", (3, 2))),
    "palette": (palette_image(10), palette_image(11)),
    "tensor": (torch.zeros(2), torch.tensor([0.0, 1e-30])),
    "dtype": (np.zeros(2, np.int32), np.zeros(2, np.float32)),
    "key": ({"a": np.ones(1)}, {"b": np.ones(1)}),
    "nesting": ([np.ones(1), {"x": np.ones(1)}], [np.ones(1), {"x": np.zeros(1)}]),
    "text": ("a", "b"),
    "kind": ("a", b"a"),
    "none": (None, ""),
    "path": (Path("a"), Path("b")),
    "numbers": ([1, 2], [1, 3]),
    "empty": ([], {}),
    "long": (2**70, 2**71),
    "type": (object(), re.compile("a")),
}


@pytest.mark.parametrize("name", DIFFERENT)
def test_a_difference_is_another_digest(name):
    """Planted faults: one for everything that counts."""
    one, other = DIFFERENT[name]
    assert digest_value(one) != digest_value(other)


def test_what_is_equal_has_one_digest():
    """Just inside: an image copied, a tensor and an array, other strides, an object at another address."""
    image = Image.new("RGB", (2, 2), (1, 2, 3))
    assert digest_value(image) == digest_value(image.copy())
    assert digest_value(torch.ones(2)) == digest_value(np.ones(2, np.float32))
    assert digest_value(np.ones((2, 3)).T) == digest_value(np.ones((3, 2)))
    assert digest_value(object()) == digest_value(object())
    assert re.fullmatch("[0-9a-f]{16}", digest_value(image))


MODES = [
    *("1", "L", "LA", "La", "P", "PA", "RGB", "RGBA", "RGBa", "RGBX"),
    *("CMYK", "YCbCr", "LAB", "HSV", "I", "F", "I;16", "I;16B", "I;16L"),
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("size", [(0, 3), (3, 0), (1, 1), (13, 7), (701, 401), (40_001, 5)])
def test_an_image_counts_by_the_bytes_that_it_has_as_a_whole(monkeypatch, mode, size):
    """Goldens hold these digests: reading an image strip by strip must give the same ones."""
    monkeypatch.setattr(value_digest, "_WHOLE_BYTES", 100)
    image = Image.new(mode, size)
    n_bytes = len(image.tobytes())
    image.frombytes(np.random.default_rng(0).integers(0, 256, n_bytes, np.uint8).tobytes())
    whole = np.frombuffer(image.tobytes(), np.uint8)
    parts = [("", f"image {mode} {size[0]}x{size[1]}", whole)]
    if mode in ("P", "PA"):
        parts.append(("palette", "palette", np.asarray(image.getpalette() or [], np.uint8)))
    assert digest_value(image) == digest_arrays(parts, algorithm="sha1")[:VALUE_DIGITS]


def test_an_undecoded_image_is_none_to_be_touched(tmp_path):
    """Decoding it would take draft() away from the preprocess that it is for."""
    Image.new("RGB", (2, 2)).save(tmp_path / "x.png")
    with Image.open(tmp_path / "x.png") as image:
        assert not is_decoded_image(image)
        image.load()
        assert is_decoded_image(image)
    assert is_decoded_image(Image.new("L", (1, 1)))
    assert not is_decoded_image(np.ones(1))
