"""Artefacts: files made of a model once a session and shared by the cases that need them.

What belongs here: keeping what is expensive to make (an exported graph) under the
identity of what it was made of. What an artefact is, its runtime knows.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path


class Artefacts:
    """A folder of files by key, each made at most once.

    Parameters
    ----------
    folder : Path
        Made when the first artefact is; whoever hands it out removes it.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def make(self, key: str, name: str, build: Callable[[Path], None]) -> Path:
        """Return the path of an artefact, which ``build`` makes if it is not there.

        Parameters
        ----------
        key : str
            Everything the artefact depends on, as text.
        name : str
            Name of the main file, ``model.onnx``; files that ``build`` writes beside it are
            kept with it.
        build : callable
            Called with the path to write, in an empty folder of its own. When it raises,
            nothing is kept.
        """
        digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:24]
        folder = self._folder / digest
        if not (folder / name).exists():
            unfinished = self._folder / f"{digest}.{os.getpid()}.unfinished"
            unfinished.mkdir(parents=True)
            try:
                build(unfinished / name)
                os.replace(unfinished, folder)
            finally:
                _remove(unfinished)
        return folder / name


def _remove(folder: Path) -> None:
    if folder.exists():
        for file in folder.iterdir():
            file.unlink()
        folder.rmdir()
