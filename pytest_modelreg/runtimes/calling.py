"""How a model is called with a batch when the suite has no ``forward`` of its own.

What belongs here: the one rule that every runtime shares, so that a model is called
the same way whatever runs it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any


def call_model(model: Callable[..., Any], batch: Any) -> Any:
    """Call a model by the type of its batch.

    A mapping becomes keyword arguments, a tuple positional ones; a tensor, an array or
    a list (what collation gives when shapes differ) is the single argument.
    """
    if isinstance(batch, Mapping):
        return model(**batch)
    if isinstance(batch, tuple):
        return model(*batch)
    return model(batch)
