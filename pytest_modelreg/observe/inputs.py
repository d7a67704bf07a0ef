"""One preprocessed sample: its leaves, its form for the framework, its digest.

What belongs here: what a model input may be (tensors, arrays and numbers, in tuples,
lists and mappings; strings, bytes and None beside them) and walking over it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_modelreg.domain.errors import OutputError, PreprocessError
from pytest_modelreg.observe.arrays import is_tensor, read_number_list, to_array
from pytest_modelreg.trace import digest_arrays

_NUMBERS = (bool, int, float, complex, np.generic)
_WORDS = (str, bytes, type(None))


def convert_sample(sample: Any, *, to_tensors: bool) -> Any:
    """Bring every leaf of a sample into the form in which it is collated.

    Parameters
    ----------
    sample : Any
        What preprocess returned.
    to_tensors : bool
        Whether the model is a module: arrays, numbers and lists of numbers become
        tensors. Otherwise numbers become arrays and tensors stay what they are.

    Returns
    -------
    Any
        The same structure. Tensors made of arrays share their memory.

    Raises
    ------
    PreprocessError
        A leaf can be no model input; the message starts at the leaf's path.
    """
    convert = _to_tensor if to_tensors else _to_number_array
    return _map_leaves(sample, "", convert)


def digest_sample(sample: Any) -> str:
    """Return one sha256 over paths, dtypes, shapes and bytes of a sample's leaves.

    A tensor and an array of equal dtype, shape and bytes have equal digests.

    Parameters
    ----------
    sample : Any
        As :func:`convert_sample` returned it: what the model will be fed.

    Raises
    ------
    PreprocessError
        There is no leaf at all, or one is of a dtype that is no number.
    """
    return digest_arrays(name_arrays(sample))


def iterate_leaves(sample: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every leaf with its path, keys joined by ``.``; mappings by sorted key."""
    if isinstance(sample, Mapping):
        for key in sorted(sample, key=str):
            yield from iterate_leaves(sample[key], f"{path}.{key}" if path else str(key))
    elif isinstance(sample, (tuple, list)):
        for index, item in enumerate(sample):
            yield from iterate_leaves(item, f"{path}.{index}" if path else str(index))
    else:
        yield path, sample


def is_word(leaf: Any) -> bool:
    """Whether a leaf is text, bytes or None, which are handed over as they are and are no numbers."""
    return isinstance(leaf, _WORDS)


def name_arrays(sample: Any) -> Iterator[tuple[str, str, NDArray[Any]]]:
    """Yield path, true dtype and array of every leaf; words as their bytes, with their type for a dtype.

    Raises
    ------
    PreprocessError
        As :func:`digest_sample`.
    """
    path = None
    for path, leaf in iterate_leaves(sample):
        if is_word(leaf):
            raw = leaf if isinstance(leaf, bytes) else str(leaf).encode("utf-8", "surrogatepass")
            yield path, type(leaf).__name__, np.frombuffer(raw, np.uint8)
            continue
        try:
            array, dtype = to_array(leaf)
        except OutputError as error:
            raise PreprocessError(f"{_place(path)}{error}") from error
        yield path, dtype, array
    if path is None:
        raise PreprocessError("expected at least one tensor, got an empty structure")


def _map_leaves(sample: Any, path: str, convert: Callable[[Any, str], Any]) -> Any:
    if isinstance(sample, Mapping):
        return {
            key: _map_leaves(value, f"{path}.{key}" if path else str(key), convert)
            for key, value in sample.items()
        }
    if isinstance(sample, list) and _is_number_list(sample, path):
        return convert(sample, path)
    if isinstance(sample, (tuple, list)):
        items = [
            _map_leaves(item, f"{path}.{index}" if path else str(index), convert)
            for index, item in enumerate(sample)
        ]
        if isinstance(sample, list):
            return items
        return type(sample)(*items) if hasattr(sample, "_fields") else tuple(items)
    return convert(sample, path)


def _is_number_list(sample: list[Any], path: str) -> bool:
    try:
        return read_number_list(sample) is not None
    except OutputError as error:
        raise PreprocessError(f"{_place(path)}{error}") from error


def _to_number_array(leaf: Any, path: str) -> Any:
    if isinstance(leaf, np.ndarray) or is_tensor(leaf) or isinstance(leaf, _WORDS):
        return leaf
    if isinstance(leaf, (list, *_NUMBERS)):
        return np.asarray(leaf)
    raise PreprocessError(_describe_leaf(leaf, path))


def _to_tensor(leaf: Any, path: str) -> Any:
    if is_tensor(leaf) or isinstance(leaf, _WORDS):
        return leaf
    torch = sys.modules["torch"]
    if isinstance(leaf, (list, bool, int, float, complex)):
        return torch.tensor(leaf)  # in torch's default dtype, as its users write numbers
    if isinstance(leaf, np.generic):
        leaf = np.asarray(leaf)
    if not isinstance(leaf, np.ndarray):
        raise PreprocessError(_describe_leaf(leaf, path))
    # Negative strides, foreign byte order and read-only memory are what from_numpy
    # refuses or warns about; only then is the array copied.
    if not leaf.flags.writeable or min(leaf.strides, default=0) < 0 or not leaf.dtype.isnative:
        leaf = leaf.astype(leaf.dtype.newbyteorder("="), order="C", copy=True)
    try:
        return torch.from_numpy(leaf)
    except (TypeError, ValueError) as error:
        raise PreprocessError(f"{_place(path)}an array of dtype {leaf.dtype}: {error}") from error


def _describe_leaf(leaf: Any, path: str) -> str:
    pillow = sys.modules.get("PIL.Image")
    if pillow is not None and isinstance(leaf, pillow.Image):
        return (
            f"{_place(path)}a Pillow image ({leaf.mode}, {leaf.width} x {leaf.height}) is no model input; "
            f"end preprocess with a conversion to a tensor, as torchvision's ToTensor or PILToTensor"
        )
    return (
        f"{_place(path)}expected a tensor, an array or a number (in tuples, lists or dicts), "
        f"got {type(leaf).__module__}.{type(leaf).__qualname__}; return one from preprocess"
    )


def _place(path: str) -> str:
    return f"{path}: " if path else ""
