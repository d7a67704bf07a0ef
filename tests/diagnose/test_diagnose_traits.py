"""What affected samples have in common, read from files, tags and labels."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_modelreg.diagnose.traits import find_common_trait, read_orientations

PHOTOS = Path(__file__).parents[2] / "fixtures" / "photos"
FILES = {file.name: file for file in sorted(PHOTOS.iterdir()) if file.suffix in (".jpg", ".png", ".webp")}


@pytest.mark.parametrize(
    ("affected", "trait"),
    [
        (["edge-palette-trns.png"], "image mode P"),
        (["edge-cmyk.jpg"], "image mode CMYK"),
        (["edge-16bit-gray.png"], "16 bits a channel"),
        (["edge-exif-orient3.jpg", "edge-exif-orient6.jpg"], "an EXIF orientation other than upright"),
        (["edge-exif-orient6.jpg"], "EXIF orientation 6"),
        (["edge-la.png", "edge-palette-trns.png", "edge-rgba.png"], "transparency"),
        (["edge-webp.webp"], "file type .webp"),
        (["edge-tiny-32.png"], "a short side under 64 px"),
    ],
)
def test_trait_of_the_affected_is_read_from_the_header(affected, trait):
    """All affected have it and (nearly) no other has."""
    found = find_common_trait(FILES, affected)
    assert found == trait or (found is not None and found.startswith(trait))


def test_trait_of_nearly_all_others_is_none():
    """Landscape photos, of which most are not affected."""
    assert find_common_trait(FILES, ["sk-chelsea.jpg", "sk-coffee.jpg"]) is None


@pytest.mark.parametrize("affected", [[], list(FILES)], ids=["none", "all"])
def test_no_subset_has_no_trait(affected):
    """What all have in common tells nothing."""
    assert find_common_trait(FILES, affected) is None


def test_tag_comes_before_what_the_file_tells():
    """The suite's own words are the best ones."""
    tags = {name: ("night",) if name.startswith("hdri-night") else () for name in FILES}
    assert find_common_trait(FILES, ["hdri-night0.jpg"], tags=tags) == "tag night"


def test_label_tells_where_nothing_else_does():
    """Samples without files, one class of them affected."""
    labels = {"a": "cat", "b": "cat", "c": "dog", "d": "bird"}
    assert find_common_trait({}, ["a", "b"], labels=labels) == "label cat"


def test_two_labels_are_named_together():
    """No label is common to all, but two cover them and no other sample."""
    labels = {"a": "cat", "b": "dog", "c": "bird", "d": "fish"}
    assert find_common_trait({}, ["a", "b"], labels=labels) == "label cat or dog"


def test_one_exception_in_ten_is_allowed():
    """A sample with the tag that is not affected, among many without it."""
    tags = {f"s{i}": ("night",) if i < 4 else () for i in range(24)}
    assert find_common_trait({}, ["s0", "s1", "s2"], tags=tags) == "tag night"
    tags |= {f"s{i}": ("night",) for i in range(4, 12)}
    assert find_common_trait({}, ["s0", "s1", "s2"], tags=tags) is None


def test_files_that_cannot_be_read_have_no_image_traits(tmp_path):
    """Gone, or no image."""
    text = tmp_path / "a.txt"
    text.write_text("no image", encoding="utf-8")
    files = {"a": text, "b": tmp_path / "gone.png", "c": tmp_path}
    assert read_orientations(files) == {}
    assert find_common_trait(files, ["a"]) == "file type .txt"
