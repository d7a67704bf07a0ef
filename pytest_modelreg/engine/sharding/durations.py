"""``modelreg-durations.json``: how long each case took, for shards that take equally long.

What belongs here: the committed file, read and written. It lies in the project's folder and says nothing but
seconds by case id; whoever changes it changes which shard a case is in, and nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

from pytest_modelreg.domain.errors import GoldenError, UsageFault
from pytest_modelreg.store import parse_json, replace_atomically
from pytest_modelreg.store.json_object import JsonObject
from pytest_modelreg.store.json_text import render_json
from pytest_modelreg.store.sealed_record import advising

DURATIONS_FILE = "modelreg-durations.json"
"""Its name, in the project's folder."""

DURATIONS_FORMAT = 1

_KEY = "modelreg_durations"
_ADVICE = "write it with: modelreg merge RUN... --durations FILE, or remove it"


def read_durations(path: Path) -> dict[str, float] | None:
    """Return seconds by case id; None where there is no such file.

    Raises
    ------
    UsageFault
        When it is none of ours, naming the place in it.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UsageFault(f"{path}: expected durations of cases: {error.strerror or error}") from error
    try:
        with advising(_ADVICE):
            fields = JsonObject(parse_json(data, path), path)
            version = fields.integer(_KEY)
            cases = fields.object("cases")
            found = {name: cases.number(name) for name in fields.mapping("cases")}
    except GoldenError as error:
        raise UsageFault(str(error)) from error
    if version != DURATIONS_FORMAT:
        raise UsageFault(f"{path}: {_KEY}: expected {DURATIONS_FORMAT}, got {version}; {_ADVICE}")
    for name, duration_s in found.items():
        if not (math.isfinite(duration_s) and duration_s >= 0):
            raise UsageFault(f"{path}: cases.{name}: expected seconds from 0, got {duration_s}; {_ADVICE}")
    return found


def write_durations(durations_s: Mapping[str, float], path: Path) -> None:
    """Write seconds by case id, rounded so that a diff shows only what matters.

    Raises
    ------
    UsageFault
        When the file cannot be written.
    """
    cases = {name: _round(duration_s) for name, duration_s in durations_s.items()}
    try:
        replace_atomically(path, render_json({_KEY: DURATIONS_FORMAT, "cases": cases}))
    except OSError as error:
        raise UsageFault(f"{path}: durations cannot be written: {error.strerror or error}") from error


def _round(duration_s: float) -> float:
    """Return two significant digits, but no finer than a hundredth of a second."""
    if duration_s < 0.01:
        return 0.01
    return round(duration_s, min(2, 1 - math.floor(math.log10(duration_s))))
