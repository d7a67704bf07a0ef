"""Outputs to disk and back: exact for every dtype, layout and batching."""

from __future__ import annotations

import itertools
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from pytest_modelreg.domain.errors import OutputError
from pytest_modelreg.domain.observation import OutputRecord
from pytest_modelreg.store import OutputWriter, file_digest, open_output
from pytest_modelreg.store.element_type import DTYPE_NAMES, decode, storage_dtype

NATIVE = [name for name in DTYPE_NAMES if not name.startswith(("bfloat", "float8"))]
CODED = [name for name in DTYPE_NAMES if name not in NATIVE]


def _write(
    folder: Path,
    batches: Sequence[np.ndarray | list[np.ndarray]],
    dtype: str,
    path: str = "logits",
    n: int | None = None,
) -> OutputRecord:
    with OutputWriter(
        folder, path, per="sample", n_rows=sum(map(len, batches)) if n is None else n
    ) as writer:
        for batch in batches:
            if isinstance(batch, list):
                writer.append_ragged(batch, dtype=dtype)
            else:
                writer.append(batch, dtype=dtype)
        return writer.close()


def _stored(folder: Path, record: OutputRecord) -> np.ndarray:
    return np.load(folder / record.values.file, allow_pickle=False)


def _assert_bits(actual: np.ndarray, expected: np.ndarray) -> None:
    assert actual.shape == expected.shape
    assert actual.dtype == expected.dtype
    assert np.ascontiguousarray(actual).tobytes() == np.ascontiguousarray(expected).tobytes()


@st.composite
def _arrays_of_any_dtype(draw):
    name = draw(st.sampled_from(DTYPE_NAMES))
    shape = draw(hnp.array_shapes(min_dims=1, max_dims=4, min_side=0, max_side=4))
    shape = (max(1, shape[0]), *shape[1:])
    return name, draw(hnp.arrays(storage_dtype(name), shape))


@given(
    case=_arrays_of_any_dtype(), cut=st.integers(0, 4), layout=st.sampled_from(["C", "F", "strided", "big"])
)
def test_round_trip_is_exact(case: tuple[str, np.ndarray], cut: int, layout: str) -> None:
    """Bits survive whatever the dtype, shape, memory layout, byte order and batches."""
    name, array = case
    given_array = array
    if layout == "F":
        given_array = np.asfortranarray(array)
    elif layout == "strided":
        given_array = np.repeat(array, 2, axis=0)[::2]
    elif layout == "big":
        given_array = array.astype(array.dtype.newbyteorder(">"))
    with tempfile.TemporaryDirectory() as folder:
        record = _write(Path(folder), [given_array[:cut], given_array[cut:]], name)
        output = open_output(Path(folder), record)
        assert record.shape == array.shape
        assert (output.dtype, output.n_rows, output.is_ragged) == (name, len(array), False)
        _assert_bits(_stored(Path(folder), record), array)
        expected = decode(array, name)
        _assert_bits(output.rows(0, len(array)), expected)
        for index in range(len(array)):
            assert output.row_shape(index) == array.shape[1:]
            _assert_bits(output.row(index), expected[index, ...])


@st.composite
def _ragged_rows(draw):
    name = draw(st.sampled_from(DTYPE_NAMES))
    n_axes = draw(st.integers(1, 3))
    trailing = draw(st.tuples(*[st.integers(0, 3)] * (n_axes - 1))) if draw(st.booleans()) else None
    rows = []
    for _ in range(draw(st.integers(1, 6))):
        shape = (draw(st.integers(0, 3)), *(trailing or draw(st.tuples(*[st.integers(0, 3)] * (n_axes - 1)))))
        rows.append(draw(hnp.arrays(storage_dtype(name), shape)))
    return name, rows


@given(case=_ragged_rows(), cut=st.integers(0, 6))
def test_ragged_round_trip_is_exact(case: tuple[str, list[np.ndarray]], cut: int) -> None:
    """Rows of different lengths come back in their own shapes, bit by bit."""
    name, rows = case
    with tempfile.TemporaryDirectory() as folder:
        record = _write(Path(folder), [rows[:cut], rows[cut:]], name)
        output = open_output(Path(folder), record)
        assert output.is_ragged == (len({row.shape for row in rows}) > 1)
        for index, row in enumerate(rows):
            assert output.row_shape(index) == row.shape
            _assert_bits(output.row(index), decode(row, name))


@given(
    lengths=st.lists(st.integers(0, 3), min_size=1, max_size=8), cuts=st.lists(st.integers(0, 8), max_size=3)
)
def test_bytes_do_not_depend_on_batches(lengths: list[int], cuts: list[int]) -> None:
    """Equal content gives equal files and records, however it arrived and turned ragged."""
    rows = [
        np.arange(2 * length, dtype=np.float32).reshape(length, 2) + index
        for index, length in enumerate(lengths)
    ]
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        expected = _write(Path(one), [rows], "float32")
        edges = sorted({0, len(rows), *(min(cut, len(rows)) for cut in cuts)})
        batches = [rows[start:stop] for start, stop in itertools.pairwise(edges)]
        stacked = [np.stack(batch) if len({row.shape for row in batch}) == 1 else batch for batch in batches]
        assert _write(Path(other), stacked, "float32") == expected
        assert sorted(os.listdir(one)) == sorted(os.listdir(other))


def test_file_name_carries_path_and_digest(tmp_path: Path) -> None:
    """A file says which output it is and what its bytes are; nothing else is left."""
    record = _write(tmp_path, [np.zeros((2, 3), np.float32)], "float32", path="features.0.pooled")
    digest = file_digest(tmp_path / record.values.file)
    assert record.values.sha256 == digest
    assert os.listdir(tmp_path) == [f"outputs.features.0.pooled.{digest[:12]}.npy"]


def test_ragged_files_carry_path_and_digest(tmp_path: Path) -> None:
    """Counts are int64 with axes (row, dimension), named apart, digests right."""
    rows = [np.zeros((2, 4), np.float32), np.ones((0, 4), np.float32)]
    record = _write(tmp_path, [rows], "float32", path="boxes")
    assert record.counts is not None
    for file in (record.values, record.counts):
        assert file_digest(tmp_path / file.file) == file.sha256
    assert record.counts.file == f"outputs.boxes.counts.{record.counts.sha256[:12]}.npy"
    assert record.shape == (2, -1, 4)
    counts = np.load(tmp_path / record.counts.file, allow_pickle=False)
    _assert_bits(counts, np.array([[2, 4], [0, 4]], np.int64))
    assert _stored(tmp_path, record).shape == (2, 4)
    assert len(os.listdir(tmp_path)) == 2


def test_rows_that_differ_in_trailing_axes_are_flattened(tmp_path: Path) -> None:
    """Masks of different sizes lie one after the other in a 1-d file."""
    rows = [np.ones((2, 3), np.int16), np.ones((1, 5), np.int16)]
    record = _write(tmp_path, [rows], "int16")
    assert _stored(tmp_path, record).shape == (11,)
    assert record.shape == (2, -1, -1)


def test_single_values_per_row(tmp_path: Path) -> None:
    """A scalar a sample is an output of shape (n,)."""
    record = _write(tmp_path, [np.float64([1.0, -0.0]), [np.array(3.0)]], "float64")
    assert record.shape == (3,)
    row = open_output(tmp_path, record).row(1)
    assert row.shape == ()
    assert np.signbit(row)


@pytest.mark.parametrize("values", [[2**53 + 1, -(2**63)], [2**64 - 1, 2**53 + 1]])
def test_wide_integers_are_exact(tmp_path: Path, values: list[int]) -> None:
    """No integer goes through a float on its way."""
    dtype = "int64" if min(values) < 0 else "uint64"
    record = _write(tmp_path, [np.array(values, dtype)], dtype)
    assert open_output(tmp_path, record).rows(0, 2).tolist() == values


def test_stored_blocks_are_read_only(tmp_path: Path) -> None:
    """Nobody changes a golden through a view of it."""
    output = open_output(tmp_path, _write(tmp_path, [np.zeros((2, 2), np.float32)], "float32"))
    with pytest.raises(ValueError, match="read-only"):
        output.rows(0, 1)[0, 0] = 1


def test_row_out_of_range(tmp_path: Path) -> None:
    """A row that does not exist is not the last one."""
    output = open_output(tmp_path, _write(tmp_path, [np.zeros((2, 2), np.float32)], "float32"))
    for index in (-1, 2):
        with pytest.raises(IndexError, match="of 2"):
            output.row(index)


def test_ragged_output_has_no_blocks(tmp_path: Path) -> None:
    """Asking for a block of rows that differ in shape says what to do instead."""
    output = open_output(tmp_path, _write(tmp_path, [[np.zeros(1), np.zeros(2)]], "float64"))
    with pytest.raises(OutputError, match="one by one"):
        output.rows(0, 1)


def test_dtype_change_between_batches_names_the_output(tmp_path: Path) -> None:
    """A model that answers in another dtype midway is an error, never a cast."""
    writer = OutputWriter(tmp_path, "heads.a", per="sample", n_rows=3)
    writer.append(np.zeros((2, 1), np.float32), dtype="float32")
    with pytest.raises(OutputError, match=r"'heads\.a'.*expected float32.*got float64 at row 2"):
        writer.append(np.zeros((1, 1)), dtype="float64")


def test_values_must_be_held_as_the_dtype_says(tmp_path: Path) -> None:
    """bfloat16 that arrives as float32 would be stored as other numbers: refused."""
    with pytest.raises(OutputError, match="bfloat16 values held as uint16, got float32"):
        _write(tmp_path, [np.zeros((2, 1), np.float32)], "bfloat16")


def test_unknown_dtype_lists_the_known_ones(tmp_path: Path) -> None:
    """complex32 and the like are refused with what can be recorded."""
    with pytest.raises(OutputError, match=r"complex32 cannot be recorded.*complex64"):
        _write(tmp_path, [np.zeros((2, 1), np.uint32)], "complex32")


def test_rows_of_other_number_of_axes_are_refused(tmp_path: Path) -> None:
    """A row that loses an axis midway is another output, not a ragged one."""
    with pytest.raises(OutputError, match=r"expected rows of 2 axes.*got shape \(3,\) at row 1"):
        _write(tmp_path, [[np.zeros((1, 3)), np.zeros(3)]], "float64")
    with pytest.raises(OutputError, match="expected rows of 1 axes"):
        _write(tmp_path, [np.zeros((1, 3)), np.zeros(3)], "float64")


@pytest.mark.parametrize(
    ("n", "message"), [(4, "expected 4 rows.*got 3"), (2, "expected 2 rows.*got more: 3")]
)
def test_number_of_rows_must_fit(tmp_path: Path, n: int, message: str) -> None:
    """A row too few or too many is named with both numbers, and leaves no file."""
    with pytest.raises(OutputError, match=message):
        _write(tmp_path, [np.zeros((3, 2))], "float64", n=n)
    assert os.listdir(tmp_path) == []


def test_nothing_written_is_an_error(tmp_path: Path) -> None:
    """An output that never came cannot be recorded as empty."""
    with pytest.raises(OutputError, match=r"expected 2 rows.*got 0"):
        _write(tmp_path, [], "float64", n=2)


def test_single_value_instead_of_rows(tmp_path: Path) -> None:
    """A bare number has no row axis."""
    with pytest.raises(OutputError, match="rows along axis 0"):
        _write(tmp_path, [np.array(1.0)], "float64", n=1)


def test_full_disk_is_an_output_error(tmp_path: Path) -> None:
    """What the system says about the disk reaches the user with the output's name."""
    with pytest.raises(OutputError, match=r"'logits': cannot be written to .*No such file"):
        _write(tmp_path / "gone", [np.zeros((1, 1))], "float64")


def test_no_file_stays_open(tmp_path: Path) -> None:
    """A model with more outputs than a process may open files can be recorded."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    in_use = max(int(number) for number in os.listdir("/dev/fd"))  # other tests' maps may still be open
    resource.setrlimit(resource.RLIMIT_NOFILE, (in_use + 64, hard))
    try:
        writers = [OutputWriter(tmp_path, f"o{index}", per="sample", n_rows=1) for index in range(200)]
        for writer in writers:
            writer.append(np.zeros((1, 1)), dtype="float64")
        records = [writer.close() for writer in writers]
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert len({record.values.file for record in records}) == 200


MEMORY_SCRIPT = """
import resource, sys
from pathlib import Path
import numpy as np
from pytest_modelreg.store import OutputWriter, open_output
def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
folder, turn_ragged = Path(sys.argv[1]), sys.argv[2] == "ragged"
batch = np.ones((256, 1000), np.float32)
before = peak()
writer = OutputWriter(folder, "logits", per="sample", n_rows=256 * 200 + turn_ragged)
for _ in range(200):
    writer.append(batch, dtype="float32")
if turn_ragged:
    writer.append(np.ones((1, 7), np.float32), dtype="float32")
output = open_output(folder, writer.close())
total = 0.0
if turn_ragged:
    total = sum(float(output.row(i).sum()) for i in range(output.n_rows))
else:
    total = sum(float(output.rows(i, i + 256).sum()) for i in range(0, output.n_rows, 256))
assert total == 256 * 200 * 1000 + 7 * turn_ragged, total
print(peak() - before)
"""


@pytest.mark.parametrize("kind", ["regular", "ragged"])
def test_memory_is_bounded_by_a_batch(tmp_path: Path, kind: str) -> None:
    """200 MB written and read in one pass cost far less, also when it turns ragged at the end."""
    command = [sys.executable, "-c", MEMORY_SCRIPT, str(tmp_path), kind]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(done.stdout) < 64 * 1024  # KiB
