"""A file that a record names, as JSON values, both ways.

What belongs here: the two keys that every record uses for it.
"""

from __future__ import annotations

from pytest_modelreg.domain.array_file import ArrayFile
from pytest_modelreg.store.json_object import JsonObject


def file_fields(file: ArrayFile) -> dict[str, str]:
    """Return a named file as JSON values."""
    return {"file": file.file, "sha256": file.sha256}


def read_file_fields(fields: JsonObject) -> ArrayFile:
    """Return the file that :func:`file_fields` wrote; raises GoldenError by key."""
    return ArrayFile(file=fields.text("file"), sha256=fields.sha256("sha256"))
