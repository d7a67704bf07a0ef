"""What a row is called and belongs to: its id, label and tags, as text.

What belongs here: from the values of such columns to the text that ``samples.csv`` would have.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pytest_modelreg.store.rows.content import show_value
from pytest_modelreg.store.sample_table import has_unprintable


def read_id(value: Any) -> str:
    """Return a sample's id.

    Raises
    ------
    ValueError
        It is no printable text and no integer.
    """
    value = _to_python(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"expected text or an integer as id, got {show_value(value)}")
    if has_unprintable(value):
        raise ValueError(f"expected an id of printable characters, got {show_value(value)}")
    return value


def read_label(value: Any) -> str | None:
    """Return the ground truth as text; None for null and for empty text.

    Raises
    ------
    ValueError
        It is no text, number, true or false.
    """
    value = _to_python(value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))  # class indices beside missing ones are floats in a table
    if isinstance(value, float) and value != value:
        return None
    if isinstance(value, (str, int, float)):
        return str(value) or None
    if value is None:
        return None
    raise ValueError(f"expected a label that is text or a number, got {show_value(value)}")


def read_tags(value: Any) -> tuple[str, ...]:
    """Return the groups that a row is in: text separated by spaces, or a list of text.

    Raises
    ------
    ValueError
        It is neither, or a tag of a list has a space in it.
    """
    value = _to_python(value)
    if value is None:
        return ()
    if isinstance(value, str):
        return tuple(value.split())
    if isinstance(value, list) and all(
        isinstance(tag, str) and tag and tag.split() == [tag] for tag in value
    ):
        return tuple(value)
    raise ValueError(f"expected tags separated by spaces, or a list of tags, got {show_value(value)}")


def _to_python(value: Any) -> Any:
    return value.tolist() if isinstance(value, (np.generic, np.ndarray)) else value
