"""Edits of a project folder: what a fault is planted with.

What belongs here: small values that say what to change, each with ``apply(folder)``. An edit
that does not find what it is to replace raises, so that no fault is planted in vain. To add a
kind of edit, write a frozen dataclass with that method; a change of a file's content that is
not text is a function of ``changes.py`` behind :class:`Change`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from benchmarks.attribution import changes


class Edit(Protocol):
    """A change of a project folder."""

    def apply(self, folder: Path) -> None:
        """Carry it out."""


@dataclass(frozen=True)
class Replace:
    """Replace a text that stands exactly once in a file."""

    file: str
    old: str
    new: str

    def apply(self, folder: Path) -> None:
        """Carry it out."""
        path = folder / self.file
        text = path.read_text(encoding="utf-8")
        if text.count(self.old) != 1:
            raise ValueError(f"{self.file}: expected {self.old!r} once, got it {text.count(self.old)} times")
        path.write_text(text.replace(self.old, self.new), encoding="utf-8")


@dataclass(frozen=True)
class Append:
    """Put text behind a file's end; the file is made where there is none."""

    file: str
    text: str

    def apply(self, folder: Path) -> None:
        """Carry it out."""
        path = folder / self.file
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write(self.text)


@dataclass(frozen=True)
class Vary:
    """Add a variant to the suite that ends without one."""

    body: str
    name: str = "changed"

    def apply(self, folder: Path) -> None:
        """Carry it out."""
        Append("modelreg.yaml", f"variants:\n  {self.name}: {self.body}\n").apply(folder)


@dataclass(frozen=True)
class Change:
    """Call a function of ``changes.py`` on a file."""

    function: str
    file: str
    arguments: tuple[Any, ...] = ()

    def apply(self, folder: Path) -> None:
        """Carry it out."""
        getattr(changes, self.function)(folder / self.file, *self.arguments)


@dataclass(frozen=True)
class Pin:
    """Accept the sample files as they are now."""

    def apply(self, folder: Path) -> None:
        """Carry it out."""
        command = [sys.executable, "-m", "pytest_modelreg", "pin", "samples", "--update"]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)


@dataclass(frozen=True)
class Script:
    """Run Python code in the project's folder, on one thread."""

    code: str

    def apply(self, folder: Path) -> None:
        """Carry it out."""
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", self.code],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
        )
        if done.returncode:
            raise ValueError(f"script failed: {done.stderr[-2000:]}")
