"""A file that a record names."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class ArrayFile:
    """One file that a record names: an array, or the table for people of a golden.

    Parameters
    ----------
    file : str
        Name inside the observation's folder: no path, no link.
    sha256 : str
        Of the file's bytes, 64 hex digits; the name carries the first 12.
    """

    file: str
    sha256: str
