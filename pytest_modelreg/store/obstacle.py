"""A file where a folder should be, found so that messages can name it.

What belongs here: telling the one reason for which a folder cannot be made or entered
that neither access rights nor free space mend.
"""

from __future__ import annotations

from pathlib import Path

from pytest_modelreg.store.naming import shown


def describe_obstacle(folder: Path) -> str | None:
    """Return a clause on the file that stands where ``folder`` or one above it should be.

    None when there is no such file: the fault is another one.
    """
    for place in (folder, *folder.parents):
        try:
            if place.is_dir():
                return None
            if place.is_symlink() or place.exists():
                return f"expected a folder at {shown(place)}, got a file; move it away"
        except OSError:  # a folder above may not be looked into: its own fault is told instead
            return None
    return None
