"""What a sample is, for people: a thumbnail, or a few words, by its loader."""

from __future__ import annotations

import json

import numpy as np
import pytest
from PIL import Image

from pytest_modelreg.domain.sample import Sample, SampleSet
from pytest_modelreg.engine.exhibits.faces import read_faces


@pytest.fixture
def face(tmp_path):
    """Return a function that returns the face of one file."""

    def read(name, loader, *, shown=("s",), **more):
        samples = SampleSet(
            folder=str(tmp_path), samples=(Sample(id="s", file=name, sha256="0" * 64, **more),)
        )
        return read_faces(samples, loader, shown)["s"]

    return read


@pytest.mark.parametrize("loader", ["image", "path", "shop.data:load"])
def test_picture_is_shown_whatever_loads_it(face, tmp_path, loader):
    """A suite's own loader reads files that people can look at too."""
    Image.new("RGB", (300, 200)).save(tmp_path / "a.png")
    found = face("a.png", loader, label="cat", tags=("night",))
    assert found.picture is not None
    assert found.stored_size == (300, 200)
    assert (found.label, found.tags) == ("cat", ("night",))


def test_sample_that_is_not_shown_is_not_opened(face):
    """Label and tags, which filters need, come from the table."""
    found = face("gone.png", "image", shown=(), tags=("night",))
    assert (found.picture, found.text, found.tags) == (None, "", ("night",))


def test_text_is_shown_as_it_begins(face, tmp_path):
    """In one line, and not the whole book."""
    (tmp_path / "a.txt").write_text("It was\n\n the best " + "of times, " * 1000, encoding="utf-8")
    found = face("a.txt", "text")
    assert found.text.startswith("It was the best of times")
    assert len(found.text) == 280


def test_array_is_shown_by_shape_and_first_values(face, tmp_path):
    """Also several in one file, and one that is no array."""
    np.save(tmp_path / "a.npy", np.arange(8, dtype=np.float32).reshape(2, 4))
    assert face("a.npy", "array").text == "float32 2 x 4: 0, 1, 2, 3, 4, 5, …"
    np.savez(tmp_path / "a.npz", left=np.zeros(2), right=np.ones((), np.int64))
    assert face("a.npz", "array").text == "left: float64 2: 0, 0; right: int64 one number: 1"
    (tmp_path / "b.npy").write_bytes(b"no array")
    (tmp_path / "b.npz").write_bytes(b"PK\x03\x04 no archive")
    assert face("b.npy", "array").text == face("b.npz", "array").text == ""


def test_json_and_other_files_are_shown_in_a_few_words(face, tmp_path):
    """What there is to be said without knowing what it means."""
    (tmp_path / "a.json").write_text(json.dumps({"age": 3}), encoding="utf-8")
    assert face("a.json", "json").text == '{"age": 3}'
    (tmp_path / "a.bin").write_bytes(bytes(100))
    assert face("a.bin", "bytes").text == "a.bin, 100 bytes"


def test_absent_file_has_no_face(face):
    """A report does not fail for want of a picture."""
    assert face("gone.bin", "bytes").text == ""
    assert face("gone.png", "image").picture is None
