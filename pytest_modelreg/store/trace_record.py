"""``trace.json``: what was kept of a case for a later diagnosis, beside its tables, for another process.

What belongs here: the file. Its fields are ``trace_codec``'s.
"""

from __future__ import annotations

from pathlib import Path

from pytest_modelreg.domain.errors import GoldenError, RunFolderError
from pytest_modelreg.domain.trace import Trace
from pytest_modelreg.store.durable_file import replace_atomically
from pytest_modelreg.store.naming import shown
from pytest_modelreg.store.sealed_record import RUN_AGAIN, advising, open_sealed, seal_record
from pytest_modelreg.store.trace_codec import read_trace_fields, trace_fields

TRACE_FILE = "trace.json"
TRACE_KEY = "modelreg_trace"
TRACE_FORMAT = 2
"""With a digest of its own, as all formats from 2 on."""


def write_trace_record(folder: Path, trace: Trace) -> Path:
    """Write a trace beside its tables, in one step.

    Returns
    -------
    pathlib.Path
        ``trace.json``.

    Raises
    ------
    RunFolderError
        When the folder cannot be written.
    """
    path = folder / TRACE_FILE
    record = {"trace": trace_fields(trace)}
    try:
        replace_atomically(path, seal_record(record, key=TRACE_KEY, version=TRACE_FORMAT))
    except OSError as error:
        raise RunFolderError(
            f"{shown(path)}: cannot be written: {error.strerror or error};"
            " free space or give write access, then run again"
        ) from error
    return path


def read_trace_record(folder: Path) -> Trace:
    """Read the trace that :func:`write_trace_record` wrote.

    Raises
    ------
    GoldenError
        When the file is missing or damaged.
    """
    path = folder / TRACE_FILE
    try:
        data = path.read_bytes()
    except OSError as error:
        raise GoldenError(
            f"{shown(path)}: expected the record of a trace: {error.strerror or error}; {RUN_AGAIN}"
        ) from error
    with advising(RUN_AGAIN):
        fields = open_sealed(data, path, key=TRACE_KEY, newest=TRACE_FORMAT)
        return read_trace_fields(fields.object("trace"))
