"""Removing a golden that nobody needs any more; its ``golden.json`` goes first.

What belongs here: the order of the steps. A removal that is cut off leaves files without a
golden, which the next regeneration or removal of the place tidies; never half a golden.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path

from pytest_modelreg.domain.errors import GoldenError
from pytest_modelreg.store.durable_file import sync_folder
from pytest_modelreg.store.golden_root import GOLDEN_FILE
from pytest_modelreg.store.lock import locked
from pytest_modelreg.store.naming import shown

_OURS = re.compile(r"(outputs|trace)\..+\.npy|summary(\.[0-9a-f]{12})?\.csv|\.gitattributes|.+\.tmp")


def remove_golden(folder: Path) -> None:
    """Remove a golden's files, and its folder and those above it where nothing is left in them.

    Files that are not ours stay, and the folder with them.

    Raises
    ------
    GoldenError
        When a file cannot be removed, or another process holds the folder.
    """
    try:
        with locked(folder):
            with suppress(FileNotFoundError):
                os.unlink(folder / GOLDEN_FILE)
            sync_folder(folder)
            for entry in list(os.scandir(folder)):
                if _OURS.fullmatch(entry.name) and not entry.is_dir(follow_symlinks=False):
                    os.unlink(entry.path)
    except OSError as error:
        raise GoldenError(f"{shown(folder)}: cannot be removed: {error.strerror or error}") from error
    place = folder
    with suppress(OSError):  # not empty: something else is in it
        while True:
            place.rmdir()
            place = place.parent
