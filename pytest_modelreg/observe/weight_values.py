"""The values of a state dict as named arrays, in the order in which they are digested.

What belongs here: what of a value counts. Most are tensors, but ``get_extra_state`` may return
anything, and what was left out would let two models pass for one. To let one more type count by
its content, give it a branch in :func:`_name_parts` or a spelling in :func:`_spell`.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_modelreg.domain.errors import ModelError, OutputError
from pytest_modelreg.observe.arrays import is_tensor, to_array

_MAX_DEPTH = 50
_NUMERIC_KINDS = "biufcSU"
_TORCH_WORDS = ("dtype", "device", "layout", "memory_format", "qscheme")

_Part = tuple[str, str, NDArray[Any]]


class WeightValues:
    """The values of one state dict.

    Parameters
    ----------
    state : mapping of str to Any
        As ``state_dict()`` returned it.

    Attributes
    ----------
    opaque : list of str
        Names of values whose content is unknown, complete when all parts were asked for: they
        count by their type alone, because a repr may hold an address.
    """

    def __init__(self, state: Mapping[str, Any]) -> None:
        self._state = state
        self.opaque: list[str] = []

    def list_parts(self) -> Iterator[_Part]:
        """Yield name, dtype and array, sorted by name; one tensor in memory at a time.

        Raises
        ------
        ModelError
            A tensor has no values yet: a lazy module that was never called.
        """
        for name in sorted(self._state):
            yield from self._name_parts(name, self._state[name])

    def _name_parts(self, name: str, value: Any, depth: int = 0) -> Iterator[_Part]:
        kind = f"{type(value).__module__}.{type(value).__qualname__}"
        if is_tensor(value):
            yield _read_tensor(name, value)
        elif isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in _NUMERIC_KINDS:
            yield name, f"numpy {value.dtype.str}", np.asarray(value)
        elif (spelt := _spell(value)) is not None:
            yield name, kind, np.frombuffer(spelt, np.uint8)
        elif isinstance(value, (tuple, list)) and value and depth < _MAX_DEPTH:
            # Packed parameters of quantised layers, among others.
            for index, item in enumerate(value):
                yield from self._name_parts(f"{name}.{index}", item, depth + 1)
        elif isinstance(value, Mapping) and depth < _MAX_DEPTH and None not in map(_spell, value):
            yield name, kind, np.asarray(len(value))
            for key in sorted(value, key=lambda key: (type(key).__qualname__, _spell(key))):
                yield from self._name_parts(f"{name}[{key!r}]", value[key], depth + 1)
        else:
            yield name, kind, np.empty(0, np.uint8)
            if not isinstance(value, (tuple, list)) or value:
                self.opaque.append(name)


def has_values(tensor: Any) -> bool:
    """Whether a tensor is no parameter of a lazy module that waits for its first call."""
    from torch.nn.parameter import is_lazy

    return not is_lazy(tensor)


def _read_tensor(name: str, tensor: Any) -> _Part:
    if not has_values(tensor):
        raise ModelError(
            f"weight {name!r} has no values yet; call the model once in its factory, so that "
            f"its lazy modules are complete"
        )
    try:
        array, dtype = to_array(tensor)
    except OutputError as error:
        raise ModelError(f"weight {name!r}: {error}") from error
    return name, dtype, array


def _spell(value: Any) -> bytes | None:
    """Return the bytes that stand for a word or a number; None for what is neither."""
    if value is None:
        return b""
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")
    if isinstance(value, (bytes, bytearray)):
        return bytes(value)
    if isinstance(value, io.BytesIO):
        return value.getvalue()
    for number in (bool, int, float, complex):
        if isinstance(value, number):
            return number.__repr__(value).encode()
    torch = sys.modules.get("torch")
    words = () if torch is None else tuple(getattr(torch, word) for word in _TORCH_WORDS)
    return str(value).encode() if isinstance(value, words) else None
