"""Base projects: written from ``projects/``, and their goldens recorded once for every flavour.

What belongs here: making the folder that a fault is then planted in a copy of. A base project
is a folder of ``projects/`` with a suite whose variants are left out (``suite.yaml``, which nobody takes
for a suite of this repository), its modules, and ``prepare.py``, which makes samples and weights and is
not part of the project.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import threading
from pathlib import Path

from benchmarks.attribution.fault import Fault
from benchmarks.attribution.runner import Runner, make_environment

PROJECTS = Path(__file__).resolve().parent / "projects"
PHOTOS = PROJECTS.parents[2] / "fixtures/photos"
CHOSEN_PHOTOS = (
    "edge-16bit-gray.png",
    "edge-cmyk.jpg",
    "edge-exif-orient3.jpg",
    "edge-exif-orient6.jpg",
    "edge-gray-L.png",
    "edge-la.png",
    "edge-palette-trns.png",
    "edge-rgba.png",
    "edge-tiny-32.png",
    "edge-wide-8to1.jpg",
    "mpl-grace-hopper.jpg",
    "sk-coffee.jpg",
    "sp-ascent.jpg",
    "std-airplane-from-above.jpg",
)
PHOTO_PROJECTS = ("photos", "staged", "tensors")
LEFT_BEHIND = shutil.ignore_patterns(".modelreg", "__pycache__")


class BaseProjects:
    """The projects of one run, each recorded when the first fault asks for it."""

    def __init__(self, folder: Path, runner: Runner) -> None:
        self.folder = folder
        self.runner = runner
        self._made: set[str] = set()  # an earlier run's golden was recorded by another state of the tool
        self._locks: dict[str, threading.Lock] = {}
        self._lock = threading.Lock()

    def copy_for(self, fault: Fault, target: Path) -> None:
        """Copy the fault's base project, golden included, as if somebody had checked it out."""
        source = self._find_recorded(fault)
        shutil.copytree(source, target, ignore=LEFT_BEHIND)

    def _find_recorded(self, fault: Fault) -> Path:
        """Return the folder with the golden that the fault is judged against."""
        plain = self.folder / fault.project
        with self._lock_for(fault.project):
            if plain.name not in self._made:
                self._write(fault.project, plain)
                self._made.add(plain.name)
        key = repr((fault.project, fault.before, sorted(fault.recorded_with.items())))
        flavour = self.folder / f"{fault.project}-{hashlib.sha256(key.encode()).hexdigest()[:8]}"
        with self._lock_for(flavour.name):
            if flavour.name not in self._made:
                shutil.rmtree(flavour, ignore_errors=True)
                shutil.copytree(plain, flavour, ignore=LEFT_BEHIND)
                for edit in fault.before:
                    edit.apply(flavour)
                self.runner.record(flavour, variables=fault.recorded_with)
                self._made.add(flavour.name)
        return flavour

    def _lock_for(self, name: str) -> threading.Lock:
        with self._lock:
            return self._locks.setdefault(name, threading.Lock())

    def _write(self, name: str, folder: Path) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        unfinished = folder.with_name(f"{name}.unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        shutil.copytree(PROJECTS / name, unfinished, ignore=LEFT_BEHIND)
        (unfinished / "suite.yaml").rename(unfinished / "modelreg.yaml")
        (unfinished / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
        if name in PHOTO_PROJECTS:
            (unfinished / "samples").mkdir()
            for photo in CHOSEN_PHOTOS:
                shutil.copy(PHOTOS / photo, unfinished / "samples" / photo)
        for command in (["prepare.py"], ["-m", "pytest_modelreg", "pin", "samples"]):
            done = subprocess.run(
                [sys.executable, *command],
                cwd=unfinished,
                env=make_environment({}),
                capture_output=True,
                text=True,
            )
            if done.returncode:
                raise SystemExit(f"base project {name}: {command}: {done.stdout}{done.stderr}")
        (unfinished / "prepare.py").unlink()
        unfinished.rename(folder)
