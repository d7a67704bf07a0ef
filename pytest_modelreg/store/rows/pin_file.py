"""The file beside a file with rows that pins it: ``<file>.pin.json``.

What belongs here: its text. One row a line, so that a diff shows which rows changed. To add a fact of the
file as a whole, add it to :class:`Pin` and to both directions below.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_modelreg.domain.errors import Fault, SampleSetError
from pytest_modelreg.store.durable_file import replace_atomically
from pytest_modelreg.store.naming import shown

PIN_FORMAT = 1
PIN_SUFFIX = ".pin.json"
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, kw_only=True)
class Pin:
    """What a file with rows held when it was pinned.

    Parameters
    ----------
    sha256 : str
        Of the file's bytes, 64 hex digits.
    id : str or None
        Column that ids were read from; None: the row's number, from 1.
    rows : mapping of str to str
        Digest of everything that a row holds, by id, in the file's order.
    """

    sha256: str
    id: str | None
    rows: dict[str, str]


def pin_path(path: Path) -> Path:
    """Return where the pin of a file with rows is."""
    return path.with_name(path.name + PIN_SUFFIX)


def pin_command(path: Path, id_column: str | None, *, update: bool = False) -> str:
    """Return the command that pins a file, for messages."""
    named = "" if id_column is None else f" --id {id_column}"
    return f"`modelreg pin {shown(path)}{named}{' --update' if update else ''}`"


def write_pin(path: Path, pin: Pin) -> None:
    """Write the pin of the file ``path``; ``OSError`` passes."""
    head = {"modelreg_pin": PIN_FORMAT, "file": path.name, "sha256": pin.sha256, "id": pin.id}
    lines = [f"  {_line(key)}: {_line(value)}," for key, value in head.items()]
    rows = ",\n".join(f"    [{_line(name)}, {_line(digest)}]" for name, digest in pin.rows.items())
    text = "\n".join(["{", *lines, '  "rows": [', rows, "  ]", "}", ""])
    replace_atomically(pin_path(path), text.encode())


def read_pin(path: Path) -> Pin | None:
    """Return the pin of the file ``path``, None when there is none.

    Raises
    ------
    SampleSetError
        It cannot be read, is of a newer format, or is no pin at all.
    """
    place = pin_path(path)
    try:
        fields = json.loads(place.read_bytes().decode("utf-8-sig"))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _refuse(place, f"cannot be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise _refuse(
            place, f"expected JSON as `modelreg pin` writes it, got other text ({error})"
        ) from error
    try:
        return _read(fields)
    except (KeyError, TypeError, ValueError) as error:
        version = fields.get("modelreg_pin") if isinstance(fields, dict) else None
        if isinstance(version, int) and version > PIN_FORMAT:
            message = f"expected a pin of format {PIN_FORMAT}, got {version}; upgrade pytest-modelreg"
        else:
            message = (
                "expected what `modelreg pin` writes, got something else; restore it, or pin again without it"
            )
        raise _refuse(place, message) from error


def _read(fields: Any) -> Pin:
    rows = [(str(name), str(digest)) for name, digest in fields["rows"]]
    named = fields["id"]
    digests = [fields["sha256"], *(digest for _, digest in rows)]
    is_whole = all(isinstance(digest, str) and _SHA256.fullmatch(digest) for digest in digests)
    if fields["modelreg_pin"] != PIN_FORMAT or not is_whole or len(dict(rows)) < len(rows):
        raise ValueError("no pin")
    return Pin(sha256=fields["sha256"], id=None if named is None else str(named), rows=dict(rows))


def _line(value: Any) -> str:
    return json.dumps(value)


def _refuse(place: Path, message: str) -> SampleSetError:
    return SampleSetError([Fault(where=shown(place), message=message)])
