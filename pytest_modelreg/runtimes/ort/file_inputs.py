"""From a batch to the inputs of a file that knows nothing of it.

What belongs here: pairing a file's inputs with what the suite's batch gives, by name or
position, and holding dtypes and shapes against each other. What does not fit is an
error; what fits but is not as declared is a finding.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_modelreg.domain.errors import ExportError
from pytest_modelreg.domain.nearest import suggest
from pytest_modelreg.domain.observation import RuntimeFinding
from pytest_modelreg.runtimes.graph.captured_call import is_array
from pytest_modelreg.runtimes.graph.structure import list_places
from pytest_modelreg.runtimes.ort.values import cast_input, to_numpy

Expected = Mapping[str, tuple[str, tuple[Any, ...]]]
"""Dtype and shape by input name; an axis that is no int may have any size."""


class FileInputs:
    """What a file is fed.

    Parameters
    ----------
    expected : mapping
        The file's inputs.
    names : mapping of str to str
        Path in the batch by input name, as the suite says; others are paired by name, or in
        order where the batch has no names.
    dtype : str or None
        The dtype that the case declares: a cast to it is no finding.
    where : str
        Case, runtime and file, for messages.
    """

    def __init__(
        self, expected: Expected, *, names: Mapping[str, Any], dtype: str | None, where: str
    ) -> None:
        self._expected = expected
        self._names = {name: str(path) for name, path in names.items()}
        self._dtype = dtype
        self._where = where
        self._findings: dict[tuple[str, str], RuntimeFinding] = {}

    @property
    def findings(self) -> tuple[RuntimeFinding, ...]:
        """Names and dtypes that are not as the batch has them, without repetitions."""
        return tuple(self._findings.values())

    def read(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[dict[str, NDArray[Any]], bool]:
        """Take a call of the model for inputs of the file.

        Returns
        -------
        feeds : dict of str to numpy.ndarray
            Every input of the file, of the dtype that it expects.
        as_tensors : bool
            Whether the call had tensors in it.

        Raises
        ------
        ExportError
            An input has nothing to be fed with, or a dtype or shape does not fit; all
            faults at once.
        """
        entries, has_names = _list_entries(args, kwargs)
        pairs = self._pair(entries, has_names)
        faults: list[str] = []
        feeds: dict[str, NDArray[Any]] = {}
        for name, path in pairs.items():
            try:
                value = self._cast(name, entries[path])
                self._check_shape(name, value)
            except ExportError as error:
                faults.append(str(error))
            else:
                feeds[name] = value
        if faults:
            raise ExportError(f"{self._where}: " + "; ".join(faults))
        torch = sys.modules.get("torch")
        as_tensors = torch is not None and any(isinstance(value, torch.Tensor) for value in entries.values())
        return feeds, as_tensors

    def _pair(self, entries: Mapping[str, Any], has_names: bool) -> dict[str, str]:
        """Return the path in the batch of every input of the file."""
        told = ", ".join(path or "one unnamed tensor" for path in entries) or "nothing"
        absent = [path for path in self._names.values() if path not in entries]
        if absent:
            raise ExportError(
                f"{self._where}: inputs: expected paths in the batch ({told}), got "
                f"{', '.join(absent)}{suggest(absent[0], entries)}"
            )
        pairs = dict(self._names)
        pairs.update({name: name for name in self._expected if name not in pairs and name in entries})
        left = [name for name in self._expected if name not in pairs]
        spare = [path for path in entries if path not in pairs.values()]
        if left and len(left) == len(spare) and (not has_names or len(left) == 1):
            pairs.update(zip(left, spare, strict=True))
            if has_names:
                self._note(spare[0], "name", expected=spare[0], actual=left[0])
            spare = []
        elif left:
            raise ExportError(
                f"{self._where}: expected something in the batch for every input of the file, got none for "
                f"{', '.join(left)} (the batch has {told}); say where it is, as in "
                f"inputs: {{{left[0]}: {spare[0] if spare and spare[0] else 'path.in.the.batch'}}}"
            )
        for path in spare:
            known = ", ".join(self._expected)
            self._note(path or "(the batch)", "name", "an input of the file", f"the file takes {known} alone")
        return {name: pairs[name] for name in self._expected}

    def _cast(self, name: str, value: Any) -> NDArray[Any]:
        wanted, _ = self._expected[name]
        if not is_array(value):  # a python number has no width of its own
            return np.asarray(value, dtype=wanted)
        try:
            array = to_numpy(value)
        except TypeError as error:
            raise ExportError(f"input {name}: expected {wanted}, got {value.dtype}: {error}") from error
        cast = cast_input(array, wanted)
        if cast is None:
            raise ExportError(
                f"input {name}: the file expects {wanted}, the batch has {array.dtype}; a file that takes "
                f"other values than the model may need its own preprocess: give this variant one"
            )
        array_cast, changed = cast
        if changed and self._dtype != wanted:
            self._note(name, "dtype", expected=str(array.dtype), actual=f"{wanted}, which changes values")
        return array_cast

    def _check_shape(self, name: str, value: NDArray[Any]) -> None:
        _, shape = self._expected[name]
        told = [size if isinstance(size, int) else "any" for size in shape]
        wrong = [
            axis
            for axis, (size, got) in enumerate(zip(shape, value.shape, strict=False))
            if isinstance(size, int) and size != got
        ]
        if len(shape) == value.ndim and not wrong:
            return
        where = f"input {name}: the file expects shape {told}, the batch has {list(value.shape)}"
        if wrong == [0]:
            raise ExportError(
                f"{where}: its batch axis is fixed; give this variant batch_size: {shape[0]} (and a number "
                f"of samples that it divides), or export the file with a dynamic batch axis"
            )
        raise ExportError(f"{where}; give this variant a preprocess that returns what the file takes")

    def _note(self, name: str, what: str, expected: str, actual: str) -> None:
        finding = RuntimeFinding(subject=f"input {name}", what=what, expected=expected, actual=actual)
        self._findings.setdefault((name, what), finding)


def _list_entries(args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[dict[str, Any], bool]:
    """Return tensors, arrays and numbers of a call by path, and whether the paths are names."""
    if len(args) == 1 and not kwargs:
        root: Any = args[0]
    else:
        root = {**{str(index): value for index, value in enumerate(args)}, **kwargs}
    places = [
        place
        for place in list_places(root)
        if is_array(place.value) or isinstance(place.value, (bool, int, float))
    ]
    has_names = any(not part.isdigit() for place in places for part in place.name.split(".")[:1] if part)
    return {place.name: place.value for place in places}, has_names
