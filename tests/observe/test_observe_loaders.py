"""Loaders: what each gives, and that what cannot be decoded names its sample."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest

from pytest_modelreg.domain.errors import SampleLoadError
from pytest_modelreg.domain.sample import RowFile, SampleSet
from pytest_modelreg.observe.loaders import LOADERS, find_loader, load_row, load_sample, pass_path
from pytest_modelreg.store import pin_rows, read_sample_set

Image = pytest.importorskip("PIL.Image")


def load(name: str, file: Path):
    """Load a file as the sample cat."""
    return load_sample(LOADERS[name], file, sample_id="cat", name=name)


def write_image(path: Path, mode: str = "RGB", size: tuple[int, int] = (64, 48), **options) -> Path:
    """Write an image of noise."""
    pixels = np.random.default_rng(0).integers(0, 255, (size[1], size[0], 3), dtype=np.uint8)
    Image.fromarray(pixels).convert(mode).save(path, **options)
    return path


@pytest.mark.parametrize(
    ("mode", "suffix"),
    [("RGB", "jpg"), ("L", "png"), ("P", "png"), ("CMYK", "jpg"), ("LA", "png"), ("RGBA", "png")],
)
def test_image_keeps_the_stored_mode(tmp_path, mode, suffix):
    """Converting is preprocessing: a palette image stays a palette image."""
    image = load("image", write_image(tmp_path / f"x.{suffix}", mode))
    assert image.mode == mode
    assert image.size == (64, 48)


def test_image_does_not_apply_exif_rotation(tmp_path):
    """EXIF orientation is the model owner's to apply, and still there to be applied."""
    exif = Image.Exif()
    exif[0x0112] = 6
    image = load("image", write_image(tmp_path / "x.jpg", exif=exif))
    assert image.size == (64, 48)
    assert image.getexif()[0x0112] == 6


def test_later_frames_can_still_be_read(tmp_path):
    """The image is whole: preprocess may seek in an animation."""
    frames = [Image.new("L", (8, 8), value) for value in (0, 255)]
    frames[0].save(tmp_path / "x.gif", save_all=True, append_images=frames[1:])
    image = load("image", tmp_path / "x.gif")
    image.seek(1)
    assert np.asarray(image.convert("L")).max() == 255


def test_truncated_image_is_an_error_naming_sample_and_file(tmp_path):
    """Half a photo in grey is not the sample that was pinned."""
    path = write_image(tmp_path / "x.jpg")
    path.write_bytes(path.read_bytes()[:700])
    with pytest.raises(SampleLoadError) as caught:
        load("image", path)
    assert "sample 'cat'" in str(caught.value)
    assert str(path) in str(caught.value)
    assert "truncated" in str(caught.value)


def test_truncated_image_is_an_error_also_where_pillow_was_told_to_tolerate_it(tmp_path, monkeypatch):
    """A flag that some import sets must not decide what the model sees; it stays as it was."""
    from PIL import ImageFile

    monkeypatch.setattr(ImageFile, "LOAD_TRUNCATED_IMAGES", True)
    path = write_image(tmp_path / "x.jpg")
    path.write_bytes(path.read_bytes()[:700])
    with pytest.raises(SampleLoadError):
        load("image", path)
    assert ImageFile.LOAD_TRUNCATED_IMAGES is True


def test_a_file_that_is_no_image_says_so_without_an_object_address(tmp_path):
    """Pillow's message names a buffer in memory; ours the file."""
    path = tmp_path / "x.jpg"
    path.write_bytes(b"not a photo")
    with pytest.raises(SampleLoadError, match="no image format that Pillow knows") as caught:
        load("image", path)
    assert "BytesIO" not in str(caught.value)


def test_decompression_bomb_is_an_error(tmp_path, monkeypatch):
    """A warning would be recorded and the memory eaten."""
    path = write_image(tmp_path / "x.png")
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 2000)
    with pytest.raises(SampleLoadError, match="decompression bomb"):
        load("image", path)
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 64 * 48)
    load("image", path)


def test_array_reads_npy_and_npz(tmp_path):
    """One array is given bare, several by name."""
    one, two = np.arange(3), np.ones((2, 2))
    np.save(tmp_path / "x.npy", one)
    np.savez(tmp_path / "one.npz", one)
    np.savez(tmp_path / "two.npz", a=one, b=two)
    np.testing.assert_array_equal(load("array", tmp_path / "x.npy"), one)
    np.testing.assert_array_equal(load("array", tmp_path / "one.npz"), one)
    loaded = load("array", tmp_path / "two.npz")
    assert sorted(loaded) == ["a", "b"]
    np.testing.assert_array_equal(loaded["b"], two)


def test_array_with_objects_is_refused(tmp_path):
    """A pickle inside an array would run code."""
    np.save(tmp_path / "x.npy", np.array([{"a": 1}], dtype=object))
    with pytest.raises(SampleLoadError, match="allow_pickle"):
        load("array", tmp_path / "x.npy")


@pytest.mark.parametrize("suffix", ["npy", "npz"])
@pytest.mark.parametrize("content", [b"", b"PK\x03\x04cut", b"\x93NUMPY\x01\x00cut", b"text"])
def test_broken_array_is_an_error(tmp_path, suffix, content):
    """Whatever numpy raises, the sample is named."""
    path = tmp_path / f"x.{suffix}"
    path.write_bytes(content)
    with pytest.raises(SampleLoadError, match="sample 'cat'"):
        load("array", path)


def test_text_is_utf8_with_its_line_ends(tmp_path):
    """The same bytes give the same text on every system."""
    path = tmp_path / "x.txt"
    path.write_bytes("grün\r\nblau\n".encode())
    assert load("text", path) == "grün\r\nblau\n"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(SampleLoadError, match="utf-8"):
        load("text", path)


@pytest.mark.parametrize("content", ["{'a': 1}", "NaN", '{"a": 1, "a": 2}', "", "[1,"])
def test_json_is_strict(tmp_path, content):
    """NaN, a repeated key and what is no JSON are refused."""
    path = tmp_path / "x.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(SampleLoadError, match="cannot be decoded"):
        load("json", path)


def test_json_bytes_and_path(tmp_path):
    """The remaining loaders give what their names say."""
    path = tmp_path / "x.json"
    path.write_text(json.dumps({"a": [1, None]}), encoding="utf-8")
    assert load("json", path) == {"a": [1, None]}
    assert load("bytes", path) == path.read_bytes()
    assert load("path", path) == path


def test_own_loader_gets_the_path_and_its_error_names_the_line(tmp_path):
    """module:fn is user code: file and line lead to it."""
    path = tmp_path / "x.bin"
    path.write_bytes(b"12")

    def broken(file: Path) -> int:
        return int(file.read_text()) // 0

    assert load_sample(lambda file: file.name, path, sample_id="cat", name="m:f") == "x.bin"
    with pytest.raises(
        SampleLoadError, match=rf"sample 'cat'.*'m:f'.*ZeroDivisionError.*{Path(__file__).name}:\d+"
    ):
        load_sample(broken, path, sample_id="cat", name="m:f")


def test_missing_file_is_an_error(tmp_path):
    """A sample that vanished since it was verified is named."""
    for name in ("image", "array", "text", "json", "bytes"):
        with pytest.raises(SampleLoadError, match="No such file"):
            load(name, tmp_path / "gone")


def test_missing_pillow_says_what_to_install(tmp_path, monkeypatch):
    """The extra is named."""
    import sys

    path = write_image(tmp_path / "x.png")
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(SampleLoadError, match=r"pip install 'pytest-modelreg\[vision\]'"):
        load("image", path)


def test_no_file_stays_open(tmp_path):
    """Thousands of samples must not run out of file handles."""
    for name, path in (("image", write_image(tmp_path / "x.png")), ("array", tmp_path / "x.npz")):
        if name == "array":
            np.savez(path, np.ones(3))
        loaded = load(name, path)
        path.rename(tmp_path / f"moved-{name}")
        assert loaded is not None
        assert not isinstance(getattr(loaded, "fp", None), io.BufferedReader)


def test_own_loader_that_returns_none_is_refused(tmp_path):
    """A forgotten return; null in a JSON file is a value."""
    path = tmp_path / "x.json"
    path.write_text("null", encoding="utf-8")
    with pytest.raises(SampleLoadError, match=r"'m:f'.*returned None: is a `return` missing\?"):
        load_sample(lambda file: None, path, sample_id="cat", name="m:f")
    assert load("json", path) is None


@pytest.mark.parametrize(
    ("loader", "name", "meant"),
    [
        ("image", "x.txt", "loader: text"),
        ("image", "x.NPY", "loader: array"),
        ("image", "x.dat", "the loader that reads it, or module:fn"),
        ("array", "x.json", "loader: json"),
        ("json", "x.png", "loader: image"),
        ("text", "x.jpg", "loader: image"),
    ],
)
def test_suffix_of_another_loader_is_the_likelier_cause(tmp_path, loader, name, meant):
    """A text file is no damaged photo: the loader is named first, replacing the file last."""
    path = tmp_path / name
    path.write_bytes(b"\xff words")
    with pytest.raises(SampleLoadError) as caught:
        load(loader, path)
    said = f"is no suffix of loader '{loader}': set {meant} in the suite file, or replace the file"
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("loader", "name"), [("image", "x.JPG"), ("image", "x"), ("array", "x.npz"), ("text", "x.srt")]
)
def test_fitting_suffix_leaves_the_loader_alone(tmp_path, loader, name):
    """Just inside: with a suffix that fits, or none, the file is what is wrong."""
    path = tmp_path / name
    path.write_bytes(b"\xff words")
    with pytest.raises(SampleLoadError, match="replace the file and pin it again") as caught:
        load(loader, path)
    assert "in the suite file" not in str(caught.value)


def test_a_row_that_changed_since_it_was_verified_names_its_sample(tmp_path):
    """Planted fault: what is loaded is not what is on record; an untouched row still loads."""
    file = tmp_path / "rows.jsonl"
    file.write_text('{"id": "cat", "x": 1}\n{"id": "dog", "x": 2}\n')
    pin_rows(file, id_column="id")
    samples = read_sample_set(
        SampleSet(folder=str(tmp_path), samples=(), rows=RowFile(name=file.name, id="id"))
    )
    file.write_text('{"id": "cat", "x": 1}\n{"id": "dog", "x": 22}\n')
    assert load_row(samples, samples.samples[0]) == {"x": 1}
    with pytest.raises(
        SampleLoadError, match=r"sample 'dog': .*rows\.jsonl: expected row 2 as it was verified"
    ):
        load_row(samples, samples.samples[1])
    file.unlink()
    with pytest.raises(
        SampleLoadError, match=r"sample 'cat': .*expected a file with a row a sample, got no file"
    ):
        load_row(samples, samples.samples[0])


def test_a_suites_own_loader_comes_first():
    """Ours by name otherwise; of rows there is nothing to be chosen."""
    assert find_loader("json", {}) is LOADERS["json"]
    assert find_loader("mine:load", {"loader": len}) is len
    assert find_loader("row", {}) is pass_path
