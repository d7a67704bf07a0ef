"""What is kept of a project's code as JSON values, both ways.

What belongs here: the keys of its files and variables, as part of a trace's record.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pytest_modelreg.domain.project_code import SIDES, ProjectReads, SourceFile, VariableFact
from pytest_modelreg.store.json_object import JsonObject


def side_fields(files: Iterable[SourceFile]) -> dict[str, list[str]]:
    """Return files by side, which is shorter than sides by file."""
    by_side = {side: [source.file for source in files if side in source.sides] for side in SIDES}
    return {side: names for side, names in by_side.items() if names}


def read_files(fields: JsonObject, key: str, sides_key: str) -> tuple[SourceFile, ...]:
    """Return the files of one key, with their sides, where older records have none; raises GoldenError."""
    if key not in fields:
        return ()
    digests = fields.object(key)
    by_side = fields.object(sides_key) if sides_key in fields else None
    names = {
        side: frozenset(by_side.texts(side)) for side in SIDES if by_side is not None and side in by_side
    }
    return tuple(
        SourceFile(
            file=file,
            sha256=digests.sha256(file),
            sides=tuple(side for side, files in names.items() if file in files),
        )
        for file in sorted(fields.mapping(key))
    )


def reads_fields(reads: ProjectReads) -> dict[str, Any]:
    """Return what the project's code reads as JSON values."""
    return {
        "data_files": {source.file: source.sha256 for source in reads.data_files},
        "data_sides": side_fields(reads.data_files),
        "variables": [
            {"name": each.name, "state": each.state, "files": each.files, "sides": each.sides}
            for each in reads.variables
        ],
    }


def read_reads(fields: JsonObject) -> ProjectReads:
    """Return what :func:`reads_fields` wrote; raises GoldenError by key."""
    return ProjectReads(
        data_files=read_files(fields, "data_files", "data_sides"),
        variables=tuple(
            VariableFact(
                name=each.text("name"),
                state=each.text("state"),
                files=each.texts("files"),
                sides=each.texts("sides"),
            )
            for each in fields.records("variables")
        ),
    )
