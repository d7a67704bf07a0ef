"""Files that are there whole or not at all, also after a crash.

What belongs here: write, copy, rename and sync, each one step of a commit. Every
function lets ``OSError`` through; the caller knows what the file was for.
"""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
from contextlib import suppress
from pathlib import Path

_CHUNK_BYTES = 1 << 20
_NO_FOLDER_SYNC = frozenset({errno.EINVAL, errno.ENOTSUP, errno.EBADF})


def write_synced(path: Path, data: bytes) -> None:
    """Write a file and wait until the disk has it."""
    with open(path, "wb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())


def copy_synced(source: Path, target: Path) -> str:
    """Copy a file, wait until the disk has it and return the sha256 of what was written.

    A copy and never a hard link: a later write into the run folder's file would
    otherwise change the golden behind its back.
    """
    sha = hashlib.sha256()
    with open(source, "rb") as reader, open(target, "wb") as writer:
        while chunk := reader.read(_CHUNK_BYTES):
            sha.update(chunk)
            writer.write(chunk)
        writer.flush()
        os.fsync(writer.fileno())
    return sha.hexdigest()


def sync_folder(folder: Path) -> None:
    """Make the renames done in a folder survive a power cut, where the system can."""
    if os.name == "nt":  # directories cannot be opened there; NTFS journals renames
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        # Some network and user-space file systems refuse to sync a directory: nothing
        # more can be done there, and the rename itself has happened.
        if error.errno not in _NO_FOLDER_SYNC:
            raise
    finally:
        os.close(descriptor)


def replace_atomically(path: Path, data: bytes) -> None:
    """Give ``path`` new bytes in one step; readers see the old file or the new one.

    The temporary file is hidden and named at random, so that two processes may do it
    at once and a folder listing does not take it for data.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}.tmp")
    try:
        write_synced(temporary, data)
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
    sync_folder(path.parent)
