"""What a regeneration leaves beside a golden, removed: only files of ours that nobody names.

What belongs here: which names are ours, and which of those files may go. To add a kind of
file, add its name to ``ARRAY_NAME`` or ``_OURS``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from pytest_modelreg.domain.errors import GoldenError
from pytest_modelreg.store.codec import open_golden, read_summary
from pytest_modelreg.store.golden_root import ARRAY_NAME, GOLDEN_FILE
from pytest_modelreg.store.golden_store import pending_summary, read_golden_bytes
from pytest_modelreg.store.json_text import parse_json
from pytest_modelreg.store.summary_table import SUMMARY_FILE

TEMPORARY = ".tmp"
"""How the names of files end that are not yet renamed to their place."""

_OURS = re.compile(
    rf"(({ARRAY_NAME.pattern}|summary\.[0-9a-f]{{12}}\.csv)(\.tmp)?|(golden\.json|\.gitattributes)\.tmp)"
)


def sweep(folder: Path) -> None:
    """Remove files of ours that ``golden.json`` does not name; never a user's file.

    Whatever cannot be removed is left for the next regeneration: it does no harm.
    """
    try:
        named = _finish_summary(folder)
    except (OSError, GoldenError):  # what a damaged golden.json names is not known
        named = None
    with suppress(OSError):
        for entry in list(os.scandir(folder)):
            stray = entry.name.endswith(TEMPORARY) or (named is not None and entry.name not in named)
            if stray and _OURS.fullmatch(entry.name) and not entry.is_dir(follow_symlinks=False):
                with suppress(OSError):
                    os.unlink(entry.path)


def _finish_summary(folder: Path) -> set[str]:
    """Rename a summary that a failure left under its content name; return all names to keep."""
    data = read_golden_bytes(folder)
    if data is None:
        return set()
    path = folder / GOLDEN_FILE
    # What a damaged record names is not to be believed: its arrays may be all that is left.
    fields = open_golden(data, path)
    named = set(_named_files(parse_json(data, path)))
    summary = read_summary(fields)
    if summary is not None:
        waiting = pending_summary(summary.sha256)
        named.add(waiting)
        with suppress(OSError):
            os.replace(folder / waiting, folder / SUMMARY_FILE)
    return named


def _named_files(value: Any) -> Iterator[str]:
    """Yield every file name in a parsed ``golden.json``, under keys of later releases too."""
    if isinstance(value, dict):
        for key, item in value.items():
            if key == "file" and isinstance(item, str):
                yield item
            yield from _named_files(item)
    elif isinstance(value, list):
        for item in value:
            yield from _named_files(item)
