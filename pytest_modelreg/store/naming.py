"""Names that come from suites and models, made into names of files and folders.

What belongs here: the rules by which any string becomes one path component that is
valid on Linux, macOS and Windows, and how paths are shown. To add a forbidden name,
add it to ``_RESERVED``; to add a family of files, add its function here and its
pattern to ``golden_sweep``.
"""

from __future__ import annotations

import hashlib
import os
import re
import unicodedata
from pathlib import Path

MAX_COMPONENT = 80
"""Longest readable part of a name, in characters; what is longer is cut and hashed."""

_MAX_BYTES = 160
_MARK = "~"  # Only names with a hash carry it, so that no plain name equals a hashed one.
_FOLDER_PUNCTUATION = frozenset("_-.[]()@=+, ")
_OUTPUT_PLAIN = re.compile(r"[a-z0-9_.\-]+")
_RESERVED = frozenset(
    ["con", "prn", "aux", "nul", "conin$", "conout$"]
    + [f"{port}{number}" for port in ("com", "lpt") for number in "0123456789¹²³"]
)


def safe_component(name: str) -> str:
    """Return a folder name for a suite, variant or case.

    Ordinary names (letters, digits, ``_-.[]()@=+,`` and inner spaces) come back
    unchanged; all others keep what is readable and get a hash of the whole name.

    Notes
    -----
    Upper and lower case are kept, because class and test names are written in both;
    two names that differ only in case are told apart when a golden is written.
    """
    if _is_plain_folder(name):
        return name
    return _hashed(name, "".join(char if _is_plain_char(char) else "_" for char in name))


def output_name(path: str) -> str:
    """Return the part of a file name that stands for an output path.

    Injective also where file systems ignore case: only lower-case paths come back
    unchanged, ``Logits`` gets a hash.
    """
    if _OUTPUT_PLAIN.fullmatch(path) and len(path) <= MAX_COMPONENT:
        return path
    return _hashed(path, re.sub(r"[^A-Za-z0-9_.\-]", "_", path))


def shown(path: Path) -> str:
    """Return the path as messages show it: relative to the working directory when inside."""
    try:
        relative = os.path.relpath(path)
    except (ValueError, OSError):  # another drive on Windows; a working directory that is gone
        return str(path)
    return str(path) if relative.startswith("..") else relative


def _is_plain_char(char: str) -> bool:
    return char.isalnum() or char in _FOLDER_PUNCTUATION


def _is_plain_folder(name: str) -> bool:
    return (
        bool(name)
        and len(name) <= MAX_COMPONENT
        and len(name.encode("utf-8", "surrogatepass")) <= _MAX_BYTES
        and all(_is_plain_char(char) for char in name)
        # macOS treats composed and decomposed spellings of one letter as one name.
        and unicodedata.normalize("NFC", name) == name
        and name[0] not in ". "
        and name[-1] not in ". "
        and name.split(".")[0].strip().casefold() not in _RESERVED
    )


def _hashed(name: str, readable: str) -> str:
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    kept = unicodedata.normalize("NFC", readable)[: MAX_COMPONENT - 20]
    kept = kept.encode("utf-8", "ignore")[: _MAX_BYTES - 20].decode("utf-8", "ignore").strip(". ")
    if kept.split(".")[0].strip().casefold() in _RESERVED:
        kept = "_" + kept
    return f"{kept}{_MARK}{digest}"
