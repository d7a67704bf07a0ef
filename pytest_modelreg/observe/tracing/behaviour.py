"""What becomes of a model's answers when it is run in other ways on the same inputs.

What belongs here: running it again, from another seed, alone and in a batch, and looking at what that
left behind. Each is a relative error against the first pass, of one sample alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_modelreg.domain.errors import CaseError, OutputError
from pytest_modelreg.observe.arrays import to_array
from pytest_modelreg.observe.inputs import is_word, iterate_leaves
from pytest_modelreg.observe.model import is_module
from pytest_modelreg.observe.seeding import SEED
from pytest_modelreg.store.element_type import decode

OTHER_SEED = SEED + 1
N_REPEATED = 3
"""Samples that are run again: what a model draws, it draws for every sample."""

Answer = list[NDArray[np.float64]]
RunSamples = Callable[[Sequence[int], int], Answer]
"""Takes positions of samples and a seed, runs them as one batch, and returns the answer."""


def read_answer(returned: Any) -> Answer:
    """Return the numbers of what a model returned, leaf by leaf; what is no number is left out."""
    return list(_iterate_numbers(returned))


def measure_rerun(run: RunSamples, first: Sequence[Answer], *, seed: int) -> float:
    """Return how far another pass with a seed is from the first one, at most."""
    worst = 0.0
    for position, answer in enumerate(first[:N_REPEATED]):
        worst = max(worst, rel_l2(answer, run([position], seed)))
    return worst


def measure_alone(run: RunSamples, first: Sequence[Answer]) -> float | None:
    """Return how far samples in one batch are from each alone, at most.

    Returns
    -------
    float or None
        None where they cannot be batched, or the answer cannot be taken apart again.
    """
    n_samples = len(first)
    if n_samples < 2:
        return None
    try:
        together = run(range(n_samples), SEED)
    except CaseError:  # inputs of several shapes, or a model that takes one at a time
        return None
    worst = 0.0
    for position, alone in enumerate(first):
        rows: Answer = []
        for leaf, own in zip(together, alone, strict=False):
            if leaf.shape[:1] != (n_samples,) or own.shape[:1] != (1,) or leaf.shape[1:] != own.shape[1:]:
                return None
            rows.append(leaf[position : position + 1])
        if len(together) != len(alone):
            return None
        worst = max(worst, rel_l2(alone, rows))
    return worst


def list_untouched(model: Any) -> tuple[str, ...]:
    """Return running statistics that are as a new module has them: mean zero, variance one."""
    if not is_module(model):
        return ()
    found = []
    for name, part in model.named_modules():
        mean, variance = getattr(part, "running_mean", None), getattr(part, "running_var", None)
        if mean is None or variance is None or not mean.numel():
            continue
        if not bool(mean.any()) and bool((variance == 1).all()):
            prefix = f"{name}." if name else ""
            found += [f"{prefix}running_mean", f"{prefix}running_var"]
    return tuple(found)


def rel_l2(expected: Answer, actual: Answer) -> float:
    """Return the Euclidean norm of the difference over the expected norm, all leaves together.

    Infinite where they differ in form, or in where they are finite.
    """
    if [leaf.shape for leaf in expected] != [leaf.shape for leaf in actual]:
        return math.inf
    square = difference = 0.0
    for one, other in zip(expected, actual, strict=True):
        if not np.array_equal(np.isfinite(one), np.isfinite(other)):
            return math.inf
        finite = np.isfinite(one)
        square += float(np.sum(one[finite] ** 2))
        difference += float(np.sum((other[finite] - one[finite]) ** 2))
    if difference == 0.0:
        return 0.0
    return math.sqrt(difference / square) if square else math.inf


def _iterate_numbers(returned: Any) -> Iterator[NDArray[np.float64]]:
    for _, leaf in iterate_leaves(returned):
        if is_word(leaf):
            continue
        try:
            array, dtype = to_array(leaf)
        except OutputError:
            continue
        numbers = decode(array, dtype)
        if numbers.dtype.kind == "c":
            numbers = np.stack([numbers.real, numbers.imag], axis=-1)
        yield numbers.astype(np.float64)
