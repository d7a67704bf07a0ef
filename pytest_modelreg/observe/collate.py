"""Collation: from the samples of a batch to what the model is called with.

What belongs here: the default, and calling the suite's own ``collate``. The default
stacks leaf by leaf; a leaf whose shapes differ becomes a plain list. Nothing that it
returns shares memory with a sample.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from pytest_modelreg.domain.errors import PreprocessError
from pytest_modelreg.observe.arrays import is_tensor
from pytest_modelreg.observe.inputs import iterate_leaves
from pytest_modelreg.observe.user_code import attributed


def collate_batch(
    samples: Sequence[Any],
    *,
    sample_ids: Sequence[str],
    collate: Callable[[list[Any]], Any] | None,
    reference: str | None,
) -> Any:
    """Turn preprocessed samples into one batch.

    Parameters
    ----------
    samples : sequence
        As ``convert_sample`` returned them.
    sample_ids : sequence of str
        Their ids, for messages.
    collate : callable or None
        The suite's own, called with the list of samples; None for the default.
    reference : str or None
        Of ``collate``, for messages.

    Raises
    ------
    PreprocessError
        The suite's collate raised or returned None, or the samples differ in structure or dtype.
    """
    if collate is not None:
        what = f"samples {sample_ids[0]!r} to {sample_ids[-1]!r}: collate {reference!r}"
        with attributed(PreprocessError, what):
            batch = collate(list(samples))
        if batch is None:
            raise PreprocessError(f"{what} returned None: is a `return` missing?")
        return batch
    return _stack(list(samples), list(sample_ids), "")


def find_unequal_shapes(samples: Sequence[Any], sample_ids: Sequence[str]) -> str | None:
    """Return a clause naming two samples whose inputs differ in shape; None when none do."""
    first: dict[str, tuple[int, ...]] = {}
    for sample, sample_id in zip(samples, sample_ids, strict=True):
        for path, leaf in iterate_leaves(sample):
            if not hasattr(leaf, "shape"):
                continue
            shape = tuple(leaf.shape)
            if shape != first.setdefault(path, shape):
                at = f" at {path}" if path else ""
                return f"{sample_ids[0]!r} has {list(first[path])} and {sample_id!r} {list(shape)}{at}"
    return None


def _stack(items: list[Any], ids: list[str], path: str) -> Any:
    first, form = items[0], _form_of(items[0])
    for item, sample_id in zip(items, ids, strict=True):
        if _form_of(item) != form:
            at = f" at {path}" if path else ""
            raise PreprocessError(
                f"preprocess{at}: expected one structure and dtype for all samples, got {form} for "
                f"{ids[0]!r} and {_form_of(item)} for {sample_id!r}; return the same from preprocess, or "
                f"give the suite a collate"
            )
    if isinstance(first, Mapping):
        return {
            key: _stack([item[key] for item in items], ids, f"{path}.{key}" if path else str(key))
            for key in first
        }
    if isinstance(first, (tuple, list)):
        columns = [
            _stack([item[index] for item in items], ids, f"{path}.{index}" if path else str(index))
            for index in range(len(first))
        ]
        if isinstance(first, list):
            return columns
        return type(first)(*columns) if hasattr(first, "_fields") else tuple(columns)
    if is_tensor(first):
        return _stack_tensors(items)
    if isinstance(first, np.ndarray):
        same = all(item.shape == first.shape for item in items)
        return np.stack(items) if same else [item.copy() for item in items]
    return items


def _stack_tensors(tensors: list[Any]) -> Any:
    import torch

    if all(tensor.shape == tensors[0].shape for tensor in tensors):
        return torch.stack(tensors)
    # A model that works in place must not reach what preprocess may still hold.
    return [tensor.clone() for tensor in tensors]


def _form_of(item: Any) -> str:
    if isinstance(item, Mapping):
        return f"a mapping of {', '.join(sorted(map(str, item)))}"
    if isinstance(item, (tuple, list)):
        return f"a {type(item).__name__} of {len(item)}"
    if is_tensor(item):
        return f"a tensor of {str(item.dtype).removeprefix('torch.')}"
    if isinstance(item, np.ndarray):
        return f"an array of {item.dtype}"
    return type(item).__name__
