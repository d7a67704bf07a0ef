"""A JSON record with a format version and a digest of itself: written, and opened only when whole.

What belongs here: what golden.json, observation.json and the other records that somebody decides by
have in common. To seal one more record, give it a key for its version; where an older release wrote it
without a digest, that is version 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pytest_modelreg import __version__
from pytest_modelreg.domain.errors import GoldenError, GoldenFormatError
from pytest_modelreg.store.array_file import RESTORE
from pytest_modelreg.store.json_object import JsonObject
from pytest_modelreg.store.json_text import parse_json, render_json
from pytest_modelreg.store.naming import shown
from pytest_modelreg.store.own_digest import BLANK, OWN_DIGEST_KEY, find_own_digest_fault, write_own_digest

RUN_AGAIN = "run the case again"
"""What to do about a damaged file of a run: nobody has it in version control."""


def seal_record(fields: Mapping[str, Any], *, key: str, version: int) -> bytes:
    """Return the bytes of a record with its version and its own digest.

    Parameters
    ----------
    key : str
        The key of the version: ``modelreg_golden``.
    """
    return write_own_digest(render_json({**fields, key: version, OWN_DIGEST_KEY: BLANK}))


def open_sealed(data: bytes, path: Path, *, key: str, newest: int) -> JsonObject:
    """Return the keys of a record once its bytes are known to be those that were written.

    Version 1 carries no digest and is taken as it is.

    Raises
    ------
    GoldenError
        When they are not, or are no JSON.
    GoldenFormatError
        When the version is newer than ``newest``.
    """
    value = parse_json(data, path)
    fault = find_own_digest_fault(data)
    try:
        version = _require_format(value, path, key, newest)
    except GoldenFormatError as error:
        if fault is None:
            raise
        # Not "record it again": what a newer release may have written is never replaced by this one.
        raise GoldenFormatError(
            f"{error}; where no newer release wrote it, restore it from version control, or remove the "
            "file and record the golden again"
        ) from error
    if fault is not None and (version > 1 or OWN_DIGEST_KEY in value):
        raise GoldenError(f"{shown(path)}: bytes changed: {fault}; {RESTORE}")
    return JsonObject(value, path)


@contextmanager
def advising(advice: str) -> Iterator[None]:
    """Let errors about files that are no golden's end in what to do about those.

    Raises
    ------
    GoldenError
        The error from inside, with ``advice`` in the place of how a golden is restored.
    """
    try:
        yield
    except GoldenFormatError as error:
        kept = str(error).partition("; where no newer release wrote it")
        otherwise = f"; where no newer release wrote it, {advice}" if kept[1] else ""
        raise GoldenFormatError(f"{kept[0]}{otherwise}") from error
    except GoldenError as error:
        raise GoldenError(str(error).replace(RESTORE, advice)) from error


def _require_format(value: Mapping[str, Any], path: Path, key: str, newest: int) -> int:
    """Return a file's format version, held against the newest that this release reads."""
    version = value.get(key)
    if type(version) is not int or version < 1:
        raise GoldenError(
            f"{shown(path)}: {key}: expected a format version, got {version!r}: not written by"
            f" pytest-modelreg; {RESTORE}"
        )
    if version > newest:
        raise GoldenFormatError(
            f"{shown(path)}: {key}: expected format {newest} at most, which pytest-modelreg"
            f" {__version__} reads, got {version}; upgrade pytest-modelreg"
        )
    return version
