"""Ids that a Python test gives its samples, as text.

What belongs here: what can be an id. To take one more type, add it to :func:`_name_sample`.
"""

from __future__ import annotations

import os
import unicodedata
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from pytest_modelreg.domain.errors import OutputError
from pytest_modelreg.observe.arrays import read_shape, to_array
from pytest_modelreg.observe.output_tree import describe_value, is_leaf


def name_samples(sample_ids: Any) -> tuple[str, ...]:
    """Return sample ids as text.

    Parameters
    ----------
    sample_ids : sequence, array or tensor
        Text, numbers or paths, one axis.

    Raises
    ------
    OutputError
        For anything else, none at all, or an id that is repeated, empty or holds a control
        character.
    """
    if isinstance(sample_ids, (str, bytes, Mapping, set, frozenset)) or not hasattr(sample_ids, "__iter__"):
        raise OutputError(
            f"sample_ids: expected a sequence of ids, one a sample, got {describe_value(sample_ids)}"
        )
    names = tuple(_name_sample(index, given) for index, given in enumerate(_list_ids(sample_ids)))
    repeated = next((name for name, count in Counter(names).items() if count > 1), None)
    if repeated is not None or not names:
        got = "none" if repeated is None else f"{repeated!r} twice"
        raise OutputError(f"sample_ids: expected one id a sample, each once, got {got}")
    return names


def _list_ids(sample_ids: Any) -> list[Any]:
    """Return ids as a list: those of an array or tensor are its values."""
    if is_leaf(sample_ids):
        array = sample_ids if isinstance(sample_ids, np.ndarray) else to_array(sample_ids)[0]
        if array.ndim != 1:
            raise OutputError(f"sample_ids: expected one axis, got shape {list(array.shape)}")
        found: list[Any] = array.tolist()
        return found
    try:
        return list(sample_ids)
    except Exception as error:
        raise OutputError(f"sample_ids: raised {type(error).__name__}: {error}") from error


def _name_sample(index: int, given: Any) -> str:
    found = given
    if isinstance(given, os.PathLike):
        found = os.fspath(given)
    elif is_leaf(given) and read_shape(given) == ():
        found = to_array(given)[0].item() if not isinstance(given, (str, int, float)) else given
    if isinstance(found, (str, int, float)):
        name = str(found)
        if not name.strip() or any(unicodedata.category(char) == "Cc" for char in name):
            raise OutputError(
                f"sample_ids[{index}]: expected an id that can be read, without control characters, "
                f"got {name!r:.60}"
            )
        return name
    raise OutputError(f"sample_ids[{index}]: expected text or a number, got {describe_value(given)}")
