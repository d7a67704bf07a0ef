"""``trace.<what>.<digest>.npy``: facts kept for later, beside the outputs of an observation.

What belongs here: writing and reading one float64 table, or plain bytes. What they mean is the
record's that names them.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_modelreg.domain.array_file import ArrayFile
from pytest_modelreg.domain.errors import RunFolderError
from pytest_modelreg.store.array_file import file_in, header_bytes, map_array
from pytest_modelreg.store.naming import shown

_DTYPE = np.dtype("<f8")
_BYTE = np.dtype("|u1")


def write_trace(folder: Path, what: str, table: NDArray[Any]) -> ArrayFile:
    """Write a table.

    Parameters
    ----------
    what : str
        Part of the file's name: ``inputs``.
    table : numpy.ndarray
        float64, axes (row, column).

    Raises
    ------
    RunFolderError
        When it cannot be written.
    """
    data = header_bytes(_DTYPE, table.shape, row_axes=1) + np.ascontiguousarray(table, _DTYPE).tobytes()
    return _write(folder, what, data)


def write_trace_bytes(folder: Path, what: str, data: bytes) -> ArrayFile:
    """Write bytes as an array: uint8, axes (byte,).

    Raises
    ------
    RunFolderError
        When they cannot be written.
    """
    return _write(folder, what, header_bytes(_BYTE, (len(data),), row_axes=0) + data)


def read_trace(folder: Path, record: ArrayFile, shape: tuple[int, int]) -> NDArray[np.float64]:
    """Return a table, axes (row, column), read-only.

    Raises
    ------
    GoldenError
        When the file is missing, or its header says something else than ``shape``.
    """
    return map_array(folder, record, _DTYPE, shape).block(0, shape[0])


def find_trace_bytes(folder: Path, record: ArrayFile, n_bytes: int) -> tuple[Path, int]:
    """Return the file of an array that :func:`write_trace_bytes` wrote, and where its data begins.

    Raises
    ------
    GoldenError
        When the file is missing, or its header says something else than ``n_bytes``.
    """
    map_array(folder, record, _BYTE, (n_bytes,))
    path = file_in(folder, record.file)
    return path, path.stat().st_size - n_bytes


def _write(folder: Path, what: str, data: bytes) -> ArrayFile:
    sha256 = hashlib.sha256(data).hexdigest()
    path = folder / f"trace.{what}.{sha256[:12]}.npy"
    partial = path.with_name(path.name + ".part")
    try:
        partial.write_bytes(data)
        os.replace(partial, path)
    except OSError as error:
        raise RunFolderError(
            f"{shown(path)}: cannot be written: {error.strerror or error};"
            " free space or give write access, then run again"
        ) from error
    return ArrayFile(file=path.name, sha256=sha256)
