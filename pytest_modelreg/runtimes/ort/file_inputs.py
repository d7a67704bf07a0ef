"""From a batch to the inputs of a file that knows nothing of it.

What belongs here: pairing a file's inputs with what the suite's batch gives, by name or
position, and holding dtypes and shapes against each other. What does not fit is an
error, and so is a dtype that would have to be cast, unless the case declares the cast: what
serves the file casts nothing. What fits but is not as declared is a finding.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_modelreg.domain.case import COMPUTE_DTYPES
from pytest_modelreg.domain.errors import ExportError, RuntimeUnavailable
from pytest_modelreg.domain.nearest import suggest
from pytest_modelreg.domain.observation import RuntimeFinding
from pytest_modelreg.runtimes.graph.captured_call import is_array
from pytest_modelreg.runtimes.graph.structure import list_places
from pytest_modelreg.runtimes.ort.values import to_numpy

Expected = Mapping[str, tuple[str, tuple[Any, ...]]]
"""Dtype and shape by input name; an axis that is no int may have any size."""

_RANKS = {"b": 0, "u": 1, "i": 1, "f": 2}
"""Kinds of numbers: what is below can be written as what is above."""


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
        The dtype that the case declares, which is the file's own (:func:`refuse_other_dtype`): floats
        are cast to it.
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
        """Names that are not as the batch has them, without repetitions."""
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
            advice = "; a single tensor has no path: leave inputs out" if list(entries) == [""] else ""
            raise ExportError(
                f"{self._where}: inputs: expected paths in the batch ({told}), got "
                f"{', '.join(absent)}{suggest(absent[0], entries)}{advice}"
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
        try:
            array = to_numpy(value)
        except TypeError as error:
            raise ExportError(f"input {name}: expected {wanted}, got {value.dtype}: {error}") from error
        own = str(array.dtype)
        if own == wanted:
            return array
        kinds = _kind(own), _kind(wanted)
        if kinds == ("f", "f") and wanted == self._dtype:
            with np.errstate(over="ignore", invalid="ignore"):
                return array.astype(wanted)
        is_number = not is_array(value)
        if is_number and _RANKS[kinds[0]] <= _RANKS.get(kinds[1], -1):  # it has no width of its own
            return np.asarray(value, dtype=wanted)
        where = f"input {name}: the file expects {wanted}, the batch has {'a number of ' * is_number}{own}"
        if kinds[0] != kinds[1]:
            raise ExportError(
                f"{where}; a file that takes other values than the model may need its own preprocess: give "
                f"this variant one"
            )
        declared = f", or declare the cast by dtype: {wanted}" if wanted in COMPUTE_DTYPES else ""
        raise ExportError(
            f"{where}, which ONNX Runtime refuses in production too; return {wanted} from this variant's "
            f"preprocess or cast in its forward{declared}"
        )

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
                f"of samples that it divides) and dynamic: off if that is meant, or export the file with a "
                f"dynamic batch axis"
            )
        raise ExportError(f"{where}; give this variant a preprocess that returns what the file takes")

    def _note(self, name: str, what: str, expected: str, actual: str) -> None:
        finding = RuntimeFinding(subject=f"input {name}", what=what, expected=expected, actual=actual)
        self._findings.setdefault((name, what), finding)


def refuse_other_dtype(
    inputs: Expected, outputs: Mapping[str, str], dtype: str | None, *, where: str
) -> None:
    """Refuse a dtype that a file does not compute in: it would loosen limits and change nothing.

    Parameters
    ----------
    inputs : mapping
        Dtype and shape by name.
    outputs : mapping of str to str
        Dtype by name; looked at where no input is floating.
    dtype : str or None
        As the case declares it.

    Raises
    ------
    RuntimeUnavailable
        It is another one than that of all floating inputs.
    """
    own = {name for name, _ in inputs.values() if _kind(name) == "f"}
    own = own or {name for name in outputs.values() if _kind(name) == "f"}
    if dtype is None or own == {dtype}:
        return
    told = " and ".join(sorted(own)) or "integers alone"
    advice = (
        f"say dtype: {min(own)}, or off" if len(own) == 1 and own <= set(COMPUTE_DTYPES) else "say dtype: off"
    )
    raise RuntimeUnavailable(
        f"{where}: expected the dtype that the file takes and computes in ({told}), got dtype: {dtype}, "
        f"which cannot change a file and would only loosen its limits; {advice}, and give this variant "
        f"limits of its own (checks) if it needs wider ones"
    )


def _kind(dtype: str) -> str:
    """Return the kind of a dtype, ``f`` for all floating ones; its name where numpy does not know it."""
    if dtype.startswith("bfloat"):
        return "f"
    try:
        return np.dtype(dtype).kind
    except TypeError:  # strings, sequences
        return dtype


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
