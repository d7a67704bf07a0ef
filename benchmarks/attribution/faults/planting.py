"""Shorter ways to write rows: one text replaced in a base project's pipeline, network or suite.

What belongs here: functions that return a row or its edits, for more than one family. The base
project is the first word of the row's name.
"""

from __future__ import annotations

from typing import Any

from benchmarks.attribution.edits import Edit, Replace
from benchmarks.attribution.fault import Fault


def edit_file(file: str, name: str, kind: str, *texts: str, **more: Any) -> Fault:
    """Return a row that replaces texts in a file: old, new, old, new and so on."""
    edits = replace_texts(file, *texts)
    return Fault(
        name=name, kind=kind, project=name.split("-")[0], plant=(*edits, *more.pop("plant", ())), **more
    )


def edit_pipeline(name: str, kind: str, *texts: str, **more: Any) -> Fault:
    """Return a row that replaces texts in ``pipeline.py``."""
    return edit_file("pipeline.py", name, kind, *texts, **more)


def edit_network(name: str, kind: str, *texts: str, **more: Any) -> Fault:
    """Return a row that replaces texts in ``network.py``."""
    return edit_file("network.py", name, kind, *texts, **more)


def edit_suite(name: str, kind: str, *texts: str, **more: Any) -> Fault:
    """Return a row that replaces texts in ``modelreg.yaml``."""
    return edit_file("modelreg.yaml", name, kind, *texts, **more)


def plant(name: str, kind: str, *edits: Edit, **more: Any) -> Fault:
    """Return a row with these edits."""
    return Fault(name=name, kind=kind, project=name.split("-")[0], plant=edits, **more)


def replace_texts(file: str, *texts: str) -> tuple[Edit, ...]:
    """Return the edits that replace old, new, old, new and so on in a file."""
    return tuple(Replace(file, old, new) for old, new in zip(texts[::2], texts[1::2], strict=True))


def add_stage(code: str, before: str) -> tuple[str, ...]:
    """Return the texts that define a function ``stage`` in ``staged`` and put it before another stage."""
    return (
        "pipeline = Compose(",
        f"{code}\n\n\npipeline = Compose(",
        f"        {before}",
        f"        stage,\n        {before}",
    )
