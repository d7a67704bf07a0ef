"""What stands in the place of a file whose bytes live elsewhere: git-lfs and DVC.

What belongs here: telling that a tool did not fetch a file, and the command that does. To
add a tool, add how its stand-in is recognised.
"""

from __future__ import annotations

from pathlib import Path

LFS_POINTER = b"version https://git-lfs"
"""How a file begins that git-lfs did not fetch."""

_LFS = "a git-lfs pointer; run `git lfs pull` (once before: `git lfs install`)"


def describe_pointer(start: bytes) -> str | None:
    """Return what a file is that begins with ``start``, and the command to run; None for others."""
    return _LFS if start.startswith(LFS_POINTER) else None


def describe_unfetched(path: Path) -> str | None:
    """Return which tool has the bytes of a missing file, and the command to run; None for others.

    DVC keeps ``<name>.dvc`` beside what it tracks, a file or a folder above it.
    """
    for place in (path, *path.parents[:5]):
        if place.name and place.with_name(place.name + ".dvc").is_file():
            return f"nothing but {place.name}.dvc; run `dvc pull`"
    return None
