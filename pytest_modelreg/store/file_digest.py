"""sha256 of files, read in chunks. Nothing is cached: a digest is a fact of this moment."""

from __future__ import annotations

import hashlib
from pathlib import Path

_CHUNK_BYTES = 1 << 20


def file_digest(path: Path) -> str:
    """Return the sha256 of a file's bytes, 64 hex digits.

    Raises
    ------
    OSError
        When the file cannot be read.
    """
    sha = hashlib.sha256()
    with open(path, "rb") as stream:
        while chunk := stream.read(_CHUNK_BYTES):
            sha.update(chunk)
    return sha.hexdigest()
