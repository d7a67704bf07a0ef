"""What tests of row sets share: writing a file of each format with the same rows."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROWS = [
    {"name": "ann", "age": 31, "income": 2.5, "y": 1, "tags": "old rich"},
    {"name": "bob", "age": 22, "income": 1.25, "y": 0, "tags": ""},
    {"name": "eve", "age": 57, "income": 4.0, "y": 1, "tags": "old"},
]

Writer = Callable[..., Path]


def write_rows(path: Path, rows: list[dict[str, Any]], **options: Any) -> Path:
    """Write rows as the format that the file's name says."""
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8", newline="\n")
    elif path.suffix == ".npz":
        save = np.savez_compressed if options.get("compressed") else np.savez
        save(path, **{name: np.array([row[name] for row in rows]) for name in rows[0]})
    else:
        arrow = pytest.importorskip("pyarrow")
        parquet = pytest.importorskip("pyarrow.parquet")
        table = arrow.table({name: [row[name] for row in rows] for name in rows[0]})
        parquet.write_table(table, path, row_group_size=options.get("row_group_size", 2))
    return path


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Writer:
    """Write a file with rows in the working directory; its name is relative."""
    monkeypatch.chdir(tmp_path)

    def write_file(name: str, rows: list[dict[str, Any]] = ROWS, **options: Any) -> Path:
        return write_rows(Path(name), rows, **options)

    return write_file
