"""Damaged and foreign array files: each is one line that names the file."""

from __future__ import annotations

import os
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_modelreg.domain.array_file import ArrayFile
from pytest_modelreg.domain.errors import GoldenError
from pytest_modelreg.domain.observation import OutputRecord
from pytest_modelreg.store import OutputWriter, open_output
from pytest_modelreg.store.array_file import header_bytes


@pytest.fixture
def record(tmp_path: Path) -> OutputRecord:
    """A regular float32 output of shape (4, 3) in ``tmp_path``."""
    writer = OutputWriter(tmp_path, "logits", per="sample", n_rows=4)
    writer.append(np.arange(12, dtype=np.float32).reshape(4, 3), dtype="float32")
    return writer.close()


@pytest.fixture
def ragged(tmp_path: Path) -> OutputRecord:
    """A ragged output of rows (1, 2) and (3, 2) in ``tmp_path``."""
    writer = OutputWriter(tmp_path, "boxes", per="sample", n_rows=2)
    writer.append_ragged([np.ones((1, 2)), np.ones((3, 2))], dtype="float64")
    return writer.close()


def _fault(folder: Path, record: OutputRecord) -> str:
    with pytest.raises(GoldenError) as caught:
        open_output(folder, record)
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_header_is_read_by_numpy(tmp_path: Path, record: OutputRecord) -> None:
    """The files are ordinary .npy files, aligned to 64 bytes."""
    assert np.load(tmp_path / record.values.file, allow_pickle=False).tolist()[3] == [9.0, 10.0, 11.0]
    assert (tmp_path / record.values.file).stat().st_size == 128 + 48


@given(
    shape=st.lists(st.integers(0, 2**40), min_size=1, max_size=32).map(tuple),
    dtype=st.sampled_from(["<f4", "|b1", "<c16", "<u2"]),
)
def test_header_length_depends_on_axes_alone(shape: tuple[int, ...], dtype: str) -> None:
    """A header can be rewritten with other lengths without moving the data."""
    row_axes = len(shape) - 1
    header = header_bytes(np.dtype(dtype), shape, row_axes=row_axes)
    assert len(header) == len(header_bytes(np.dtype("?"), (2**63,) * len(shape), row_axes=row_axes))
    assert len(header) % 64 == 0
    assert header.endswith(b"\n")


def test_missing_file(tmp_path: Path, record: OutputRecord) -> None:
    """A file that is gone is named with what to do."""
    (tmp_path / record.values.file).unlink()
    message = _fault(tmp_path, record)
    assert record.values.file in message
    assert "No such file" in message
    assert "restore it from version control" in message
    assert "modelreg regen" in message


@pytest.mark.parametrize("kept", [0, 5, 11, 40, 127, 128, 175])
def test_truncated_file(tmp_path: Path, record: OutputRecord, kept: int) -> None:
    """A file cut at any place is an error that names it, never a shorter array."""
    path = tmp_path / record.values.file
    path.write_bytes(path.read_bytes()[:kept])
    assert record.values.file in _fault(tmp_path, record)


def test_trailing_bytes(tmp_path: Path, record: OutputRecord) -> None:
    """Bytes after the array are no part of it and are refused."""
    path = tmp_path / record.values.file
    path.write_bytes(path.read_bytes() + b"\0")
    assert "expected 176 bytes" in _fault(tmp_path, record)


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros((3, 4), np.float32), r"shape: expected (4, 3) as recorded, got (3, 4)"),
        (np.zeros((4, 3), np.int32), "descr: expected '<f4' as recorded, got '<i4'"),
        (np.zeros((4, 3), ">f4"), "descr: expected '<f4' as recorded, got '>f4'"),
        (
            np.asfortranarray(np.zeros((4, 3), np.float32)),
            "fortran_order: expected False as recorded, got True",
        ),
    ],
    ids=["shape", "dtype", "byte order", "fortran"],
)
def test_header_that_differs_from_the_record(
    tmp_path: Path, record: OutputRecord, array: np.ndarray, message: str
) -> None:
    """The record decides what a file must hold; the header is never believed."""
    np.save(tmp_path / record.values.file, array)
    assert message in _fault(tmp_path, record)


def test_header_that_lies_about_its_shape(tmp_path: Path, record: OutputRecord) -> None:
    """Record and header that agree on a shape the bytes do not have are refused."""
    path = tmp_path / record.values.file
    data = path.read_bytes()
    path.write_bytes(data.replace(b"(4, 3)", b"(9, 3)"))
    assert "expected 236 bytes" in _fault(tmp_path, replace(record, shape=(9, 3)))


def test_same_array_saved_by_numpy_is_accepted(tmp_path: Path, record: OutputRecord) -> None:
    """Only the content counts, not this release's padding: other versions of the header open too."""
    array = np.arange(12, dtype=np.float32).reshape(4, 3)
    for version in ((1, 0), (2, 0), (3, 0)):
        with open(tmp_path / record.values.file, "wb") as stream, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            np.lib.format.write_array(stream, array, version=version)
        assert open_output(tmp_path, record).rows(0, 4).tolist() == array.tolist()


def test_pickle_is_never_loaded(tmp_path: Path, record: OutputRecord) -> None:
    """An object array would run code when loaded: it is refused by its header."""
    np.save(tmp_path / record.values.file, np.array([[1], "x"], dtype=object), allow_pickle=True)
    assert "got '|O'" in _fault(tmp_path, record)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "an empty file"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0", "git lfs pull"),
        (b"PK\x03\x04 something else that is long enough", "begins with"),
        (b"\x93NUMPY\x01\x00\x10\x00" + b"__import__('os')", "expected a .npy header"),
        (b"\x93NUMPY\x01\x00\x10\x00" + b"(" * 16, "expected a .npy header"),
    ],
)
def test_foreign_bytes(tmp_path: Path, record: OutputRecord, data: bytes, message: str) -> None:
    """What lies there instead of an array is said, with the way out where there is one."""
    (tmp_path / record.values.file).write_bytes(data)
    assert message in _fault(tmp_path, record)


@settings(max_examples=200)
@given(data=st.data())
def test_any_flipped_header_byte_is_an_error_or_harmless(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """A damaged header never becomes another exception or another array."""
    folder = tmp_path_factory.mktemp("flip")
    writer = OutputWriter(folder, "logits", per="sample", n_rows=2)
    writer.append(np.arange(6, dtype=np.float32).reshape(2, 3), dtype="float32")
    record = writer.close()
    path = folder / record.values.file
    content = bytearray(path.read_bytes())
    content[data.draw(st.integers(0, 127))] ^= data.draw(st.integers(1, 255))
    path.write_bytes(bytes(content))
    try:
        answer = str(open_output(folder, record).rows(0, 2).tolist())
    except GoldenError as error:
        answer = str(error)
    assert record.values.file in answer or answer == "[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]"


@pytest.mark.parametrize(
    "name", ["../x.npy", "/etc/passwd", "a/b.npy", "a\\b.npy", "C:x.npy", "..", ".", "", "a\0b"]
)
def test_name_that_leaves_the_folder(tmp_path: Path, record: OutputRecord, name: str) -> None:
    """File names in a record are data from elsewhere: nothing outside is ever opened."""
    bad = replace(record, values=ArrayFile(file=name, sha256=record.values.sha256))
    message = _fault(tmp_path, bad)
    assert "expected the name of a file in the same folder" in message
    assert repr(name) in message


def test_link_that_leaves_the_folder(tmp_path: Path, record: OutputRecord) -> None:
    """A link to a file elsewhere is refused even when its content would fit."""
    inside = tmp_path / "golden"
    inside.mkdir()
    os.symlink(tmp_path / record.values.file, inside / record.values.file)
    assert "a link that leaves it" in _fault(inside, record)


def test_golden_folder_may_be_a_link(tmp_path: Path, record: OutputRecord) -> None:
    """Just inside: the folder itself may lie anywhere."""
    linked = tmp_path / "linked"
    os.symlink(tmp_path, linked)
    assert open_output(linked, record).n_rows == 4


def test_unknown_dtype_in_record(tmp_path: Path, record: OutputRecord) -> None:
    """A dtype of a later release is named with the ones that are known."""
    assert "got 'float4'" in _fault(tmp_path, replace(record, dtype="float4"))


@pytest.mark.parametrize("shape", [(), (-1, 3), (4, -1)])
def test_impossible_shape_in_record(tmp_path: Path, record: OutputRecord, shape: tuple[int, ...]) -> None:
    """A regular output has a row axis and no open lengths."""
    assert "expected a shape with a row axis" in _fault(tmp_path, replace(record, shape=shape))


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ([[2, 2], [2, 2]], "got (2, 2)"),
        ([[1, 2], [-3, 2]], "negative or impossible"),
        ([[1, 2], [2**62, 2]], "negative or impossible"),
        ([[1, 2], [4, 2]], "shape: expected (5, 2) as recorded, got (4, 2)"),
    ],
)
def test_counts_that_do_not_fit(tmp_path: Path, ragged: OutputRecord, counts: list, message: str) -> None:
    """Shapes of ragged rows are held against the record and against the values."""
    assert ragged.counts is not None
    np.save(tmp_path / ragged.counts.file, np.array(counts, np.int64))
    assert message in _fault(tmp_path, ragged)


@pytest.mark.parametrize("shape", [(2,), (0, -1, 2), ()])
def test_ragged_record_without_rows_or_axes(
    tmp_path: Path, ragged: OutputRecord, shape: tuple[int, ...]
) -> None:
    """A ragged record needs rows and at least one axis in each."""
    assert "expected a " in _fault(tmp_path, replace(ragged, shape=shape))
