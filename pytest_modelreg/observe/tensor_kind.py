"""Tensors of a class of their own, taken apart and made again: torchvision's ``tv_tensors``, for one.

What belongs here: which tensors are no more than their numbers and a few attributes, and making one
of another memory. A class that computes or stores in its own way is refused: its numbers are not all
that it is.
"""

from __future__ import annotations

import enum
import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_PLAIN = (bool, int, float, str, type(None), enum.Enum)


@dataclass(frozen=True, kw_only=True)
class TensorKind:
    """A class of tensors, and what one of them knows beside its numbers.

    Parameters
    ----------
    name : str
        ``module:class``, importable; empty for a plain tensor.
    attributes : mapping of str to Any
        Plain values: the format of boxes, the size of the image that they lie in.
    """

    name: str = ""
    attributes: Mapping[str, Any] = field(default_factory=dict)

    def wrap(self, tensor: Any) -> Any:
        """Return a plain tensor as one of this kind, in the same memory.

        Raises
        ------
        ImportError
            The class cannot be imported here.
        """
        if not self.name:
            return tensor
        made = tensor.as_subclass(find_class(self.name))
        made.__dict__.update(self.attributes)
        return made


PLAIN_TENSOR = TensorKind()


def read_kind(tensor: Any) -> TensorKind | None:
    """Return the kind of a tensor; None for one that is more than numbers in memory and plain attributes."""
    import torch

    if tensor.layout != torch.strided or tensor.device.type != "cpu":
        return None
    if tensor.requires_grad or tensor.is_quantized or tensor.is_conj() or tensor.is_neg():
        return None
    kind = type(tensor)
    if kind is torch.Tensor:
        return PLAIN_TENSOR
    name = f"{kind.__module__}:{kind.__qualname__}"
    if issubclass(kind, torch.nn.Parameter) or kind.__torch_dispatch__ is not torch.Tensor.__torch_dispatch__:
        return None
    try:
        if find_class(name) is not kind:
            return None
    except ImportError:  # made inside a function, or in a script
        return None
    attributes = dict(tensor.__dict__)
    return TensorKind(name=name, attributes=attributes) if _is_plain(list(attributes.values())) else None


def find_class(name: str) -> Any:
    """Import the class of a :class:`TensorKind`.

    Raises
    ------
    ImportError
        There is no such module or class.
    """
    module, _, path = name.partition(":")
    found: Any = importlib.import_module(module)
    for part in path.split("."):
        found = getattr(found, part, None)
    if not isinstance(found, type):
        raise ImportError(f"{module} has no class {path}")
    return found


def _is_plain(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return all(map(_is_plain, value))
    return isinstance(value, _PLAIN)
