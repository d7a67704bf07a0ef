"""Inputs that changed after they were prepared: a preprocess that fills one buffer for every sample.

What belongs here: finding that out without digesting every input twice. Only memory that two
samples of a batch share can have been overwritten.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from pytest_modelreg.observe.arrays import is_tensor
from pytest_modelreg.observe.input_source import PreparedSample
from pytest_modelreg.observe.inputs import digest_sample, iterate_leaves


def find_overwritten(prepared: Sequence[PreparedSample]) -> dict[int, str]:
    """Return the samples whose inputs are no longer what they were, with what they are now.

    Returns
    -------
    dict of int to str
        Position in ``prepared`` -> digest of the inputs as they are.
    """
    if len(prepared) < 2:
        return {}
    extents = sorted(
        (first, last, index)
        for index, sample in enumerate(prepared)
        for first, last in _list_extents(sample.value)
    )
    shared: set[int] = set()
    end, owner = -1, -1
    for first, last, index in extents:
        if first < end and index != owner:
            shared |= {index, owner}
        if last > end:
            end, owner = last, index
    digests = {index: digest_sample(prepared[index].value) for index in sorted(shared)}
    return {
        index: digest for index, digest in digests.items() if digest != prepared[index].observed.input_digest
    }


def _list_extents(value: Any) -> Iterator[tuple[int, int]]:
    """Yield the first address of every leaf, and the one behind its last."""
    for _, leaf in iterate_leaves(value):
        if is_tensor(leaf):
            if str(leaf.layout) != "torch.strided":
                continue
            first, item_bytes = leaf.data_ptr(), leaf.element_size()
            steps = [step * item_bytes for step in leaf.stride()]
        elif isinstance(leaf, np.ndarray):
            first, item_bytes = leaf.__array_interface__["data"][0], leaf.itemsize
            steps = list(leaf.strides)
        else:
            continue
        if 0 in leaf.shape:
            continue
        reaches = [step * (length - 1) for step, length in zip(steps, leaf.shape, strict=True)]
        yield (
            first + sum(reach for reach in reaches if reach < 0),
            first + sum(reach for reach in reaches if reach > 0) + item_bytes,
        )
