"""Points of every sample's inputs, gathered as they pass, and how many of them a golden keeps.

What belongs here: from prepared samples to one table, and from that table to a smaller one. Where the
points of an array are is ``trace.points``'.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from math import prod
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pytest_modelreg.domain.trace import InputPoints, LeafForms, LeafPoints
from pytest_modelreg.observe.input_source import PreparedSample
from pytest_modelreg.observe.inputs import is_word, iterate_leaves, name_arrays
from pytest_modelreg.store.element_type import decode
from pytest_modelreg.store.trace_file import read_trace, write_trace
from pytest_modelreg.trace import N_STATISTICS, N_VALUES, count_places, list_places, read_points, seed_points

SHARE = 0.25
"""Of what exact inputs leave of ``trace_mb``: what a golden's points may weigh."""

FEWEST_VALUES = 32
"""Of one input: fewer tell too little, and then fewer samples are kept."""

_MOST_GATHERED = 16 << 20
_ITEM_BYTES = 8

Numbers = NDArray[np.float64]
Entry = tuple[str, LeafForms, Numbers]
"""Id, form and numbers of a sample."""


class PointGatherer:
    """Reads points of the samples of a case, one after the other.

    Parameters
    ----------
    n_samples : int
        How many are to come: of many, fewer values each are taken.
    """

    def __init__(self, n_samples: int) -> None:
        self._n_values = N_VALUES
        while self._n_values > FEWEST_VALUES and n_samples * self._n_values * _ITEM_BYTES > _MOST_GATHERED:
            self._n_values //= 2
        self._left = _MOST_GATHERED
        self._entries: dict[str, Entry] = {}

    def add(self, sample: PreparedSample) -> None:
        """Read the points of one sample; none of one whose inputs are all words."""
        name = sample.observed.id
        leaves, parts = [], []
        arrays = zip(iterate_leaves(sample.value), name_arrays(sample.value), strict=True)
        for (_, leaf), (path, dtype, array) in arrays:
            numbers = None if is_word(leaf) else decode(array, dtype)
            if numbers is None or numbers.dtype.kind not in "biuf":
                continue
            found = read_points(numbers, self._n_values, seed_points(name))
            leaves.append(
                LeafPoints(
                    path=path,
                    dtype=dtype,
                    shape=tuple(numbers.shape),
                    axis=found.axis,
                    n_places=found.values.shape[1],
                )
            )
            parts += [found.values.reshape(-1), found.statistics.reshape(-1)]
        size = sum(part.nbytes for part in parts)
        if parts and size <= self._left:
            self._left -= size
            self._entries[name] = (name, tuple(leaves), np.concatenate(parts))

    def forget(self, names: Sequence[str]) -> None:
        """Drop samples: what was read is not what the model was fed."""
        for name in names:
            self._entries.pop(name, None)

    def write(self, folder: Path) -> InputPoints | None:
        """Write what was gathered; None where there is nothing.

        Raises
        ------
        RunFolderError
            When the file cannot be written.
        """
        return _write(folder, list(self._entries.values()))


def keep_points(
    folder: Path, points: InputPoints, *, without: Collection[str], max_bytes: float
) -> InputPoints | None:
    """Write as much of gathered points as may be kept; None where that is nothing.

    First every sample gets fewer values, down to :data:`FEWEST_VALUES` an input; then fewer samples, evenly
    spread, keep theirs.

    Parameters
    ----------
    folder : Path
        Where their file is, and the new one is written.
    without : collection of str
        Samples whose inputs are kept as a whole.
    max_bytes : float
        What the new file may weigh.

    Raises
    ------
    GoldenError, RunFolderError
        When a file is not as recorded, or cannot be written.
    """
    entries = [entry for entry in list_points(folder, points) if entry[0] not in without]
    n_values = N_VALUES
    while n_values > FEWEST_VALUES and _weigh(entries) > max_bytes:
        n_values //= 2
        entries = [_thin(entry, n_values) for entry in entries]
    weight = _weigh(entries)
    if weight > max_bytes:
        n_kept = int(len(entries) * max_bytes / weight)
        picks = np.linspace(0, len(entries) - 1, n_kept).round().astype(int)
        entries = [entries[pick] for pick in dict.fromkeys(picks.tolist())]
        while entries and _weigh(entries) > max_bytes:  # inputs of several sizes
            entries.pop()
    return _write(folder, entries)


def list_points(folder: Path, points: InputPoints) -> Iterator[Entry]:
    """Yield id, form and numbers of every sample.

    Raises
    ------
    GoldenError
        When the file is not as recorded.
    """
    numbers = read_trace(folder, points.file, (points.n_numbers, 1))[:, 0]
    start = 0
    for name, index in zip(points.samples, points.form_of, strict=True):
        form = points.forms[index]
        end = start + sum(count_numbers(leaf) for leaf in form)
        yield name, form, numbers[start:end]
        start = end


def count_numbers(leaf: LeafPoints) -> int:
    """Return how many numbers there are of one input."""
    return leaf.n_channels * (leaf.n_places + N_STATISTICS)


def _weigh(entries: Sequence[Entry]) -> int:
    return sum(numbers.nbytes for _, _, numbers in entries)


def _thin(entry: Entry, n_values: int) -> Entry:
    """Return a sample with the first places of each input."""
    name, form, numbers = entry
    leaves, parts, start = [], [], 0
    for leaf in form:
        n_places = min(leaf.n_places, count_places(leaf.shape, leaf.axis, n_values))
        end = start + leaf.n_channels * leaf.n_places
        values = numbers[start:end].reshape(leaf.n_channels, leaf.n_places)
        n_all = prod(leaf.shape) // leaf.n_channels
        # All places lie in order, not as they are drawn.
        kept = list_places(n_all, n_places, seed_points(name)) if n_all == leaf.n_places else slice(n_places)
        start = end + leaf.n_channels * N_STATISTICS
        leaves.append(replace(leaf, n_places=n_places))
        parts += [values[:, kept].reshape(-1), numbers[end:start]]
    return name, tuple(leaves), np.concatenate(parts)


def _write(folder: Path, entries: Sequence[Entry]) -> InputPoints | None:
    if not entries:
        return None
    forms = {form: index for index, form in enumerate(dict.fromkeys(form for _, form, _ in entries))}
    numbers = np.concatenate([each for _, _, each in entries])
    return InputPoints(
        file=write_trace(folder, "points", numbers[:, np.newaxis]),
        n_numbers=numbers.size,
        samples=tuple(name for name, _, _ in entries),
        forms=tuple(forms),
        form_of=tuple(forms[form] for _, form, _ in entries),
    )
