"""Tables of traces: written under the digest of their content, read as recorded or refused."""

from __future__ import annotations

import hashlib
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pytest_modelreg.domain.errors import GoldenError, RunFolderError
from pytest_modelreg.store import read_trace, write_trace

TABLE = np.array([[1.0, -2.5, 0.0], [np.nan, np.inf, 1e-300]])


def test_round_trip_is_exact(tmp_path: Path) -> None:
    """NaN, which says that nothing is known, comes back too."""
    record = write_trace(tmp_path, "inputs", TABLE)
    np.testing.assert_array_equal(read_trace(tmp_path, record, (2, 3)), TABLE)


def test_name_is_the_digest_of_the_content(tmp_path: Path) -> None:
    """Equal content has one name and one file, other content another; no temporary file is left."""
    record = write_trace(tmp_path, "inputs", TABLE)
    data = (tmp_path / record.file).read_bytes()
    assert record.sha256 == hashlib.sha256(data).hexdigest()
    assert record.file == f"trace.inputs.{record.sha256[:12]}.npy"
    assert write_trace(tmp_path, "inputs", TABLE[:, :]) == record
    assert os.listdir(tmp_path) == [record.file]
    assert write_trace(tmp_path, "inputs", TABLE + 1).file != record.file


def test_file_is_plain_numpy(tmp_path: Path) -> None:
    """Anybody can look into it, without this package and without pickle."""
    record = write_trace(tmp_path, "inputs", TABLE.T[::-1])
    np.testing.assert_array_equal(np.load(tmp_path / record.file, allow_pickle=False), TABLE.T[::-1])


def test_bytes_do_not_depend_on_layout_or_byte_order(tmp_path: Path) -> None:
    """A golden recorded again on another machine keeps its bytes."""
    record = write_trace(tmp_path, "inputs", TABLE)
    assert write_trace(tmp_path, "inputs", np.asfortranarray(TABLE).astype(">f8")) == record


def test_table_of_no_rows(tmp_path: Path) -> None:
    """An empty sample set is no fault of the file."""
    record = write_trace(tmp_path, "inputs", np.zeros((0, 10)))
    assert read_trace(tmp_path, record, (0, 10)).shape == (0, 10)


def test_what_is_read_cannot_be_written_to(tmp_path: Path) -> None:
    """The file is mapped: nobody may change a golden by changing an array."""
    table = read_trace(tmp_path, write_trace(tmp_path, "inputs", TABLE), (2, 3))
    with pytest.raises(ValueError, match="read-only"):
        table[0, 0] = 5.0


@pytest.mark.parametrize("shape", [(3, 2), (2, 4), (1, 3)])
def test_other_shape_than_recorded_is_refused(tmp_path: Path, shape: tuple[int, int]) -> None:
    """Rows of other samples must not be taken for these."""
    record = write_trace(tmp_path, "inputs", TABLE)
    with pytest.raises(GoldenError, match=rf"{record.file}: header: shape: expected .* as recorded"):
        read_trace(tmp_path, record, shape)


def test_missing_or_shortened_file_is_named(tmp_path: Path) -> None:
    """With what to do about it."""
    record = write_trace(tmp_path, "inputs", TABLE)
    path = tmp_path / record.file
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(GoldenError, match=rf"{record.file}: expected \d+ bytes.*restore it"):
        read_trace(tmp_path, record, (2, 3))
    path.unlink()
    with pytest.raises(GoldenError, match=rf"{record.file}: cannot be read.*restore it"):
        read_trace(tmp_path, record, (2, 3))


def test_name_that_leaves_the_folder_is_refused(tmp_path: Path) -> None:
    """A record is data from elsewhere."""
    record = write_trace(tmp_path, "inputs", TABLE)
    (tmp_path / "inner").mkdir()
    with pytest.raises(GoldenError, match="expected the name of a file in the same folder"):
        read_trace(tmp_path / "inner", replace(record, file=f"../{record.file}"), (2, 3))


def test_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    """A full or vanished disk is an error of this package, not a traceback."""
    with pytest.raises(RunFolderError, match=r"gone/trace\.inputs\..*: cannot be written.*then run again"):
        write_trace(tmp_path / "gone", "inputs", TABLE)
