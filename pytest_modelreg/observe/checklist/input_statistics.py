"""What the model is fed, measured: size, layout, dtype, range, mean and deviation.

What belongs here: one incremental pass over the preprocessed samples. Forms are looked at on
every sample; values only on some samples spread over the set, and of those only on a grid of
some 32 x 32 places, so that the cost stays in the percents: range, mean and deviation are those
of the places looked at.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_modelreg.domain.errors import OutputError
from pytest_modelreg.observe.arrays import to_array
from pytest_modelreg.observe.checklist.entry import VARIES, Entry, measured, round_numbers, unknown
from pytest_modelreg.observe.inputs import iterate_leaves

CHANNEL_LENGTHS = (1, 3, 4)
"""Lengths of an axis that is taken for the one of colours."""

_GRID = 32
_REDUCED = ("bfloat16",)


class InputStatistics:
    """Facts about one leaf of the inputs: the image where there is one, else the largest."""

    def __init__(self) -> None:
        self._forms: dict[str, set[Any]] = {"path": set(), "layout": set(), "dtype": set()}
        self._sizes: tuple[set[int], set[int]] = (set(), set())
        self._is_structured = False
        self._n = 0
        self._sum: Any = 0.0
        self._squares: Any = 0.0
        self._low, self._high = np.inf, -np.inf
        self._has_equal_channels = True

    def look_at_form(self, prepared: Any) -> tuple[str, Any, str | None] | None:
        """Note the form of one sample's inputs.

        Returns
        -------
        tuple or None
            Path, leaf and layout (``CHW``, ``HWC``) of the leaf that is measured; None without one.
        """
        chosen = _choose_leaf(prepared)
        if chosen is None:
            return None
        path, leaf, layout = chosen
        self._is_structured |= path != ""
        self._forms["path"].add(path)
        self._forms["layout"].add(layout)
        self._forms["dtype"].add(str(leaf.dtype).removeprefix("torch."))
        if layout is not None:
            height, width = tuple(leaf.shape[-2:] if layout == "CHW" else leaf.shape[-3:-1])
            self._sizes[0].add(int(height))
            self._sizes[1].add(int(width))
        return chosen

    def look_at_values(self, leaf: Any, layout: str | None) -> NDArray[np.float64] | None:
        """Add one leaf's values to the statistics.

        Returns
        -------
        numpy.ndarray or None
            Mean of each channel, float64; None where there are no channels or no numbers.
        """
        rows = _pick_places(leaf, layout)
        if rows is None or not rows.size:
            return None
        self._low, self._high = min(self._low, float(rows.min())), max(self._high, float(rows.max()))
        sums = rows.sum(axis=1)
        squares = np.einsum("ij,ij->i", rows, rows)
        if self._n and np.shape(self._sum) != sums.shape:
            self._has_equal_channels = False
        if self._has_equal_channels:
            self._n += rows.shape[1]
            self._sum, self._squares = self._sum + sums, self._squares + squares
        means: NDArray[np.float64] = sums / rows.shape[1]
        return means if layout is not None else None

    def list_entries(self) -> dict[str, Entry]:
        """Return what was measured, by name."""
        entries: dict[str, Entry] = {}
        if not self._forms["path"]:
            nothing = unknown("the inputs hold no tensor or array of numbers")
            return dict.fromkeys(("size", "layout", "dtype", "range", "mean", "std"), nothing)
        if self._is_structured:
            entries["input"] = measured(_one(self._forms["path"]))
        layouts = self._forms["layout"]
        if None in layouts:
            no_image = unknown("the inputs are no images: no three axes with one of length 1, 3 or 4")
            entries["size"] = entries["layout"] = no_image
        else:
            entries["size"] = measured([_one(lengths) for lengths in self._sizes])
            entries["layout"] = measured(_one(layouts))
        entries["dtype"] = measured(_one(self._forms["dtype"]))
        return {**entries, **self._list_value_entries()}

    def _list_value_entries(self) -> dict[str, Entry]:
        if not self._n:
            return dict.fromkeys(("range", "mean", "std"), unknown("the inputs hold no real numbers"))
        entries = {"range": measured(round_numbers((self._low, self._high)))}
        if not self._has_equal_channels:
            several = unknown("samples have different numbers of channels")
            return {**entries, "mean": several, "std": several}
        mean = self._sum / self._n
        deviation = np.sqrt(np.maximum(self._squares / self._n - mean * mean, 0.0))
        return {**entries, "mean": measured(round_numbers(mean)), "std": measured(round_numbers(deviation))}


def _choose_leaf(prepared: Any) -> tuple[str, Any, str | None] | None:
    best: tuple[str, Any, str | None] | None = None
    rank = (-1, -1)
    for path, leaf in iterate_leaves(prepared):
        shape = getattr(leaf, "shape", None)
        if shape is None or not hasattr(leaf, "dtype"):
            continue
        layout = guess_layout(tuple(shape))
        size = 1
        for length in shape:
            size *= int(length)
        if (layout is not None, size) > rank:
            best, rank = (path, leaf, layout), (int(layout is not None), size)
    return best


def guess_layout(shape: tuple[int, ...]) -> str | None:
    """Return ``CHW`` or ``HWC`` by which of the last three axes has the length of colours; None for neither.

    Where both have, ``CHW``: a channel first is what models take.
    """
    if len(shape) < 3:
        return None
    if shape[-3] in CHANNEL_LENGTHS:
        return "CHW"
    return "HWC" if shape[-1] in CHANNEL_LENGTHS else None


def _pick_places(leaf: Any, layout: str | None) -> NDArray[np.float64] | None:
    """Return some of a leaf's values as (channel, place), one channel where there are none."""
    if layout is None:
        flat = leaf.reshape(-1)
        picked = flat[:: max(1, flat.shape[0] // (3 * _GRID * _GRID))]
    else:
        height, width = leaf.shape[-2:] if layout == "CHW" else leaf.shape[-3:-1]
        rows, columns = slice(None, None, max(1, height // _GRID)), slice(None, None, max(1, width // _GRID))
        picked = leaf[..., rows, columns] if layout == "CHW" else leaf[..., rows, columns, :]
    try:
        array, dtype = to_array(picked)
    except OutputError:
        return None
    if dtype in _REDUCED:
        array = (array.astype(np.uint32) << 16).view(np.float32)
    elif array.dtype.kind not in "biuf" or dtype.startswith("float8"):
        return None
    values = np.asarray(array, np.float64)
    if layout is None:
        return values[np.newaxis]
    channel = -3 if layout == "CHW" else -1
    return np.moveaxis(values, channel, 0).reshape(values.shape[channel], -1)


def _one(values: set[Any]) -> Any:
    return next(iter(values)) if len(values) == 1 else VARIES
