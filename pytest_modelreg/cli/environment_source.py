"""What the words after ``modelreg env --diff`` mean: recorded fingerprints, or the present one."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_modelreg.domain.errors import GoldenError, UsageFault
from pytest_modelreg.domain.listing import name_some

if TYPE_CHECKING:
    from pytest_modelreg.domain.environment import FactValue, Fingerprint

NOW = "now"
"""The word for this process; a file of that name is ``./now``."""

RECORD_FILES = ("golden.json", "report.json", "observation.json")
"""What a folder is asked for, in this order."""

_EXPECTED = "a golden, a run folder, a report.json or an observation.json, by folder or file, or now"
_MAX_NAMED = 5


def read_recorded(word: str) -> Fingerprint:
    """Return the fingerprint that a file or folder records.

    Raises
    ------
    UsageFault
        When it is not there, is none of the records, or is damaged.
    """
    path = _find_record(Path(word))
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageFault(
            f"{word}: expected {_EXPECTED}, got what cannot be read: {error.strerror}"
        ) from error
    return _decode(data, path)


def take_present(packages: Iterable[str], project: Mapping[str, FactValue]) -> Fingerprint:
    """Return the fingerprint of this process, once packages are imported.

    Importing takes seconds, and what fails explains unknown facts: both are said on
    standard error.
    """
    from pytest_modelreg.fingerprint import collect, load_packages

    wanted = list(packages)
    if wanted:
        print(f"importing {', '.join(wanted)} to ask for its facts", file=sys.stderr, flush=True)
    for name, reason in load_packages(wanted).items():
        print(f"{name} cannot be imported, its facts stay unknown: {reason}", file=sys.stderr)
    return collect(project=project)


def _find_record(path: Path) -> Path:
    if not path.is_dir():
        if not path.exists():
            raise UsageFault(f"{path}: expected {_EXPECTED}, found nothing there")
        if not path.is_file():  # reading a pipe would wait for whoever writes it
            raise UsageFault(f"{path}: expected {_EXPECTED}, got a pipe, a device or a socket")
        return path
    for name in RECORD_FILES:
        if (path / name).is_file():
            return path / name
    below = sorted(found.parent for found in path.rglob(RECORD_FILES[0]))
    if below:
        named = name_some(below, _MAX_NAMED)
        raise UsageFault(f"{path}: expected the folder of one golden, got one above {named}; name one")
    raise UsageFault(f"{path}: expected {_EXPECTED}, got a folder without any of {', '.join(RECORD_FILES)}")


def _decode(data: bytes, path: Path) -> Fingerprint:
    """Return the fingerprint in a record, whatever its file is called."""
    from pytest_modelreg.report import read_fingerprint_record
    from pytest_modelreg.store import decode_golden, decode_observation, parse_json

    readers: dict[str, Callable[[dict[str, Any]], Fingerprint]] = {
        "modelreg_golden": lambda _: decode_golden(data, path).observation.fingerprint,
        "modelreg_observation": lambda _: decode_observation(data, path).fingerprint,
        "modelreg_report": lambda fields: read_fingerprint_record(fields["environment"]),
    }
    try:
        fields = parse_json(data, path)
    except GoldenError as error:
        raise UsageFault(f"{path}: expected {_EXPECTED}, got a file that is no strict JSON object") from error
    for key, read in readers.items():
        if key in fields:
            try:
                return read(fields)
            except GoldenError as error:
                raise UsageFault(str(error)) from error
            except (AttributeError, KeyError, TypeError, ValueError) as error:
                raise UsageFault(f"{path}: expected a whole report, got a damaged one ({error})") from error
    raise UsageFault(f"{path}: expected {_EXPECTED}, got JSON without any of {', '.join(readers)}")
