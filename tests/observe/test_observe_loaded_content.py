"""Copies of what a loader returned: equal until it is changed, and cheap."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from pytest_modelreg.observe.loaded_content import WHOLE_BYTES, copy_content

LARGE = WHOLE_BYTES // 4 + 1000


def change_pixel(image):
    """Change one pixel."""
    image.putpixel((1, 1), 7)


def change_palette(image):
    """Change what the pixels mean."""
    image.putpalette([9] * 768)


def make_image(mode="RGB"):
    """Return a black photo."""
    return pytest.importorskip("PIL.Image").new(mode, (4, 4))


CHANGES = {
    "array": (lambda: np.zeros(3), lambda x: x.__setitem__(1, 2)),
    "tensor": (lambda: torch.zeros(3, dtype=torch.bfloat16), lambda x: x.add_(1)),
    "bytearray": (lambda: bytearray(b"ab"), lambda x: x.append(1)),
    "text in a dict": (lambda: {"text": "a", "ids": [1, 2.5, None]}, lambda x: x["ids"].pop()),
    "array in a dict": (lambda: {"image": np.zeros(3), "size": (2, 3)}, lambda x: x["image"].fill(1)),
    "tensor in a tuple": (lambda: (torch.zeros(3), {"id": 1}), lambda x: x[0].add_(1)),
    "removed key": (lambda: {"image": torch.zeros(3), "size": 1}, lambda x: x.pop("size")),
    "pixel": (make_image, change_pixel),
    "palette": (lambda: make_image("P"), change_palette),
    "photo in a dict": (
        lambda: {"image": make_image(), "target": {"box": [1, 2]}},
        lambda x: change_pixel(x["image"]),
    ),
    "large array": (lambda: np.zeros(LARGE, np.float32), lambda x: x.__imul__(0).__iadd__(1)),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_in_place_shows(name):
    """Of every kind of thing that loaders return."""
    make, change = CHANGES[name]
    loaded = make()
    before = copy_content(loaded, is_whole=False)
    assert before is not None
    assert copy_content(loaded, is_whole=False) == before
    change(loaded)
    assert copy_content(loaded, is_whole=False) != before


def test_a_whole_copy_shows_a_change_of_one_element():
    """Some rows of a large array stand for it only where the whole would be too dear."""
    loaded = np.zeros(LARGE, np.float32)
    some, whole = (copy_content(loaded, is_whole=is_whole) for is_whole in (False, True))
    loaded[1] = 1
    assert copy_content(loaded, is_whole=True) != whole
    assert copy_content(loaded, is_whole=False) == some
    assert len(some[-1]) <= WHOLE_BYTES


@pytest.mark.parametrize("loaded", ["text", b"bytes", 3, 2.5, None, np.float32(1)])
def test_what_cannot_change_is_not_copied(loaded):
    """A long text costs nothing."""
    assert copy_content(loaded, is_whole=True) is None


def test_what_is_undecoded_or_closed_is_left_alone(tmp_path):
    """A loader and a preprocess of one's own may have an agreement."""
    pillow = pytest.importorskip("PIL.Image")
    pillow.new("L", (4, 4)).save(tmp_path / "a.png")
    with pillow.open(tmp_path / "a.png") as image:
        assert copy_content(image, is_whole=True) is None
        assert image.tile
