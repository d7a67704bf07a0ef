"""Small pictures for reports: what a file holds, as it is stored."""

from __future__ import annotations

import io
import warnings

import numpy as np
import pytest
from PIL import Image

from pytest_modelreg.observe.thumbnail import draw_levels, draw_overlay, draw_thumbnail


def open_picture(picture):
    """Return a picture's levels, axes (row, column, channel)."""
    image = Image.open(io.BytesIO(picture.data))
    assert image.size == (picture.width, picture.height)
    return np.asarray(image).astype(int)


def save(tmp_path, image, name="a.png", **options):
    """Write a picture and return its path."""
    path = tmp_path / name
    image.save(path, **options)
    return path


def test_photo_is_shrunk_by_its_longer_side(tmp_path):
    """Its stored size is told beside, which boxes are relative to."""
    path = save(tmp_path, Image.new("RGB", (640, 320), "navy"), "a.jpg")
    picture, size = draw_thumbnail(path, largest_px=120)
    assert (picture.width, picture.height) == (120, 60)
    assert size == (640, 320)
    assert picture.media_type == "image/jpeg"
    assert len(picture.data) < 2000


def test_exif_does_not_rotate_it(tmp_path):
    """Boxes and masks lie over the pixels as the loader gives them."""
    exif = Image.Exif()
    exif[0x0112] = 6
    path = save(tmp_path, Image.new("RGB", (200, 100)), "a.jpg", exif=exif)
    picture, _ = draw_thumbnail(path, largest_px=50)
    assert (picture.width, picture.height) == (50, 25)


def test_what_is_transparent_is_on_white(tmp_path):
    """Black on black would look like nothing; also where a palette says so."""
    clear = Image.new("RGBA", (40, 40), (0, 0, 0, 0))
    assert open_picture(draw_thumbnail(save(tmp_path, clear), largest_px=40)[0]).min() > 250
    palette = Image.new("P", (40, 40), 0)
    palette.putpalette([0, 0, 0, 255, 0, 0])
    path = save(tmp_path, palette, "p.png", transparency=0)
    assert open_picture(draw_thumbnail(path, largest_px=40)[0]).min() > 250


def test_deep_grey_is_shown_by_its_upper_bits(tmp_path):
    """Cut off at 255, a 16-bit picture would be white."""
    levels = np.linspace(0, 65535, 64 * 64).reshape(64, 64).astype(np.uint16)
    shown = open_picture(draw_thumbnail(save(tmp_path, Image.fromarray(levels)), largest_px=64)[0])
    assert shown.min() < 5
    assert shown.max() > 250
    assert abs(int(shown.mean()) - 127) < 3


@pytest.mark.parametrize("mode", ["1", "L", "CMYK", "YCbCr", "LAB", "F", "I"])
def test_every_mode_that_a_file_can_have_is_shown(tmp_path, mode):
    """A gallery has no holes where the pipeline reads the file."""
    image = Image.new(mode if mode != "LAB" else "LAB", (30, 20))
    assert draw_thumbnail(save(tmp_path, image, "a.tif"), largest_px=16) is not None


@pytest.mark.parametrize("content", [b"", b"no picture", b"\x89PNG\r\n\x1a\n\x00\x00", b"GIF89a"])
def test_what_is_no_picture_has_none(tmp_path, content):
    """Whatever its name says."""
    path = tmp_path / "a.png"
    path.write_bytes(content)
    assert draw_thumbnail(path, largest_px=16) is None


def test_half_a_photo_has_none(tmp_path):
    """Half of it in grey is not the sample that was pinned."""
    rng = np.random.default_rng(0)
    path = save(tmp_path, Image.fromarray(rng.integers(0, 255, (90, 90, 3), dtype=np.uint8)), "a.jpg")
    path.write_bytes(path.read_bytes()[:-2000])
    assert draw_thumbnail(path, largest_px=16) is None


def test_oddities_of_a_file_are_nobodys_warning(tmp_path):
    """Planted: a run with ``-W error`` ends with its page all the same."""
    path = tmp_path / "a.jpg"
    Image.new("RGB", (40, 30)).save(path, exif=b"Exif\0\0II*\0\x08\0\0\0\x02\0\x1a\x01\x05\0")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="EXIF"):
            Image.open(path)
        assert draw_thumbnail(path, largest_px=20) is not None


def test_bomb_is_not_unpacked(tmp_path, monkeypatch):
    """A file of a few bytes may claim gigabytes."""
    path = save(tmp_path, Image.new("L", (64, 64)))
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 100)
    assert draw_thumbnail(path, largest_px=16) is None


def test_tiny_array_is_enlarged_pixel_by_pixel():
    """Smoothed, the pattern that a rearrangement leaves would not show."""
    levels = np.zeros((8, 8, 3), np.uint8)
    levels[::2] = 255
    shown = open_picture(draw_levels(levels, largest_px=80))
    assert shown.shape == (80, 80, 3)
    assert shown[4].min() > 240
    assert shown[14].max() < 15


def test_overlay_keeps_its_colours_and_what_is_clear():
    """Classes are told by colour: no pixel is a mixture of two."""
    levels = np.zeros((300, 200, 4), np.uint8)
    levels[:150] = (230, 159, 0, 150)
    picture = draw_overlay(levels, largest_px=100)
    assert picture.media_type == "image/png"
    assert (picture.width, picture.height) == (67, 100)
    shown = open_picture(picture)
    assert {tuple(colour) for colour in shown.reshape(-1, 4).tolist()} == {(230, 159, 0, 150), (0, 0, 0, 0)}
