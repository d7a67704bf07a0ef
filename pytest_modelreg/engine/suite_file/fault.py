"""Faults of a suite file while they are gathered, and the words they are put in.

What belongs here: key paths, how a value is named in ``got X``, and the log that keeps
faults with their line. What is wrong is decided elsewhere.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pytest_modelreg.domain.errors import Fault, SuiteFileError

KeyPath = tuple[str | int, ...]
"""Where something sits in a file: keys, and indexes of lists."""

_MAX_SHOWN_CHARS = 60


class FaultLog:
    """Gathers the faults of one file, so that all are reported at once.

    Parameters
    ----------
    file : str
        The file as messages call it.
    """

    def __init__(self, file: str) -> None:
        self.file = file
        self._faults: list[tuple[int, Fault]] = []
        self._lines: dict[KeyPath, list[int]] = {}

    def add(self, line: int, path: KeyPath, message: str) -> None:
        """Note one fault at a line (from 1; 0 for the file as a whole)."""
        where = f"{self.file}:{line}" if line else self.file
        fault = Fault(where=where, key=render_path(path), message=message)
        self._lines.setdefault(path, []).append(line)
        self._faults.append((line, fault))

    def stop(self, line: int, message: str, path: KeyPath = ()) -> SuiteFileError:
        """Note a fault after which nothing more can be read; return the error to raise."""
        self.add(line, path, message)
        return SuiteFileError(self.faults)

    def has(self, path: KeyPath, *, line: int | None = None) -> bool:
        """Whether a fault was noted at exactly this key path (and line)."""
        if line is None:
            return path in self._lines
        return line in self._lines.get(path, ())

    def has_below(self, path: KeyPath) -> bool:
        """Whether a fault was noted at this key path or inside what is there."""
        return any(noted[: len(path)] == path for noted in self._lines)

    @property
    def faults(self) -> tuple[Fault, ...]:
        """The faults, by line."""
        return tuple(fault for _, fault in sorted(self._faults, key=lambda entry: entry[0]))


def render_path(path: KeyPath) -> str:
    """Return a key path as messages show it: ``outputs.logits.checks``, ``python_path[1]``."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            shown = part if part.isprintable() and part else json.dumps(part)
            text += ("." if text else "") + shorten(shown)
    return text


def shorten(text: str) -> str:
    """Return text cut to what fits into one line of a message."""
    return text if len(text) <= _MAX_SHOWN_CHARS else text[: _MAX_SHOWN_CHARS - 3] + "..."


def describe_value(value: Any) -> str:
    """Return what was found in the file, as the reader would have written it."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and not math.isfinite(value):
        return ".nan" if math.isnan(value) else ("-.inf" if value < 0 else ".inf")
    if isinstance(value, dict):
        return "a mapping" if value else "an empty mapping"
    if isinstance(value, list):
        return "a list" if value else "an empty list"
    if isinstance(value, str):
        return shorten(repr(value))
    return shorten(str(value))


def list_names(names: Sequence[str]) -> str:
    """Return ``one of a, b, c``, or the only name there is."""
    return names[0] if len(names) == 1 else f"one of {', '.join(names)}"


def show_file(path: Path, rootdir: Path) -> str:
    """Return a file as messages call it: relative to the root folder when inside it."""
    try:
        return path.relative_to(rootdir).as_posix()
    except ValueError:
        return str(path)
