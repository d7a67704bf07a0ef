"""Prepared inputs on disk, for the next case of the session that needs the same.

What belongs here: writing samples one after the other into one file and reading them back, bit by
bit and stride by stride (a batch of tensors that lie channel last is itself channel last, and runs
other kernels). Only tensors, arrays and words are kept; to keep one more type, give it a form in
:func:`_describe_leaf`. Classes of tensors are ``tensor_kind``'s,
which case may have whose inputs is ``shared_work``'s.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from pytest_modelreg.domain.errors import PreprocessError
from pytest_modelreg.domain.observation import ObservedSample
from pytest_modelreg.observe.arrays import is_tensor, to_array
from pytest_modelreg.observe.input_source import InputFacts, PreparedSample
from pytest_modelreg.observe.tensor_kind import PLAIN_TENSOR, TensorKind, read_kind

_WORDS: dict[type, Callable[[Any], bytes]] = {
    str: lambda text: text.encode("utf-8", "surrogatepass"),
    bytes: bytes,
    type(None): lambda _: b"",
}


@dataclass(frozen=True, kw_only=True)
class LeafForm:
    """One leaf: ``kind`` is tensor, array or word; ``axes`` the order in which its axes lie in memory.

    ``tensor_kind`` says of which class a tensor is.
    """

    kind: str
    dtype: Any
    shape: tuple[int, ...] = ()
    axes: tuple[int, ...] = ()
    n_bytes: int
    tensor_kind: TensorKind = PLAIN_TENSOR


@dataclass(frozen=True, kw_only=True)
class KeptSample:
    """One sample: its structure with forms in place of leaves, and where its first leaf begins."""

    observed: ObservedSample
    form: Any
    offset: int


@dataclass(frozen=True, kw_only=True)
class KeptInputs:
    """The inputs of a whole case, complete.

    Parameters
    ----------
    file : Path
        All leaves of all samples, one after the other.
    facts : InputFacts
        As the case that prepared them recorded them.
    """

    file: Path
    samples: Sequence[KeptSample]
    facts: InputFacts

    def remove(self) -> None:
        """Remove the file."""
        self.file.unlink(missing_ok=True)


class InputRecorder:
    """Writes the inputs of a case while it runs.

    Parameters
    ----------
    file : Path
        To be written; its folder is made.
    accept : callable
        Given the inputs when they are complete. What is interrupted is never handed over.
    """

    def __init__(self, file: Path, accept: Callable[[KeptInputs], None]) -> None:
        self._path = file
        self._accept = accept
        self._samples: list[KeptSample] = []
        self._forms: dict[str, Any] = {}
        self._offset = 0
        self._is_whole = True
        self._file: BinaryIO | None = None
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            self._file = file.open("wb")
        except OSError:  # a full disk costs time, not the case
            self._is_whole = False

    def add(self, sample: PreparedSample) -> None:
        """Write one sample; one that cannot be kept ends the keeping."""
        if not self._is_whole or self._file is None:
            return
        leaves: list[tuple[LeafForm, memoryview | bytes]] = []
        form = _describe(sample.value, leaves)
        if form is None:
            self._is_whole = False
            return
        offset = self._offset
        try:
            for leaf, raw in leaves:
                self._file.write(raw)
                self._offset += leaf.n_bytes
        except OSError:
            self._is_whole = False
            return
        form = self._forms.setdefault(repr(form), form)  # one for all samples of a form
        self._samples.append(KeptSample(observed=sample.observed, form=form, offset=offset))

    def finish(self, facts: InputFacts) -> None:
        """Hand over what was written, when all of it could be kept."""
        if self._file is None or not self._is_whole:
            return
        try:
            self._file.close()
        except OSError:
            self._is_whole = False
            return
        self._file = None
        self._accept(KeptInputs(file=self._path, samples=self._samples, facts=facts))

    def close(self) -> None:
        """Remove what was not finished."""
        if self._file is not None:
            self._file.close()
            self._file = None
            self._path.unlink(missing_ok=True)


class ReplayedInputs:
    """Gives kept inputs again, a fresh copy at every reading; see :class:`~.input_source.InputSource`."""

    def __init__(self, kept: KeptInputs) -> None:
        self._kept = kept
        self._file = kept.file.open("rb")

    def read(self, start: int, stop: int) -> list[PreparedSample]:
        """Read samples into memory of their own."""
        samples = []
        for kept in self._kept.samples[start:stop]:
            self._file.seek(kept.offset)
            samples.append(PreparedSample(observed=kept.observed, value=_read(kept.form, self._file)))
        return samples

    def note_overwritten(self, sample_ids: Sequence[str]) -> None:
        """Never told: what is read lies in memory of its own."""

    def conclude(self) -> InputFacts:
        """Return what the case that prepared the inputs recorded."""
        return self._kept.facts

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _describe(value: Any, leaves: list[tuple[LeafForm, memoryview | bytes]]) -> Any:
    """Return a structure with forms in place of its leaves; None when a part cannot be kept."""
    if type(value) is dict:
        parts = {key: _describe(item, leaves) for key, item in value.items()}
        return parts if None not in parts.values() else None
    if isinstance(value, (tuple, list)):
        items = [_describe(item, leaves) for item in value]
        return (type(value), items) if None not in items else None
    described = _describe_leaf(value)
    if described is None:
        return None
    leaves.append(described)
    return described[0]


def _describe_leaf(leaf: Any) -> tuple[LeafForm, memoryview | bytes] | None:
    if type(leaf) in _WORDS:
        raw = _WORDS[type(leaf)](leaf)
        return LeafForm(kind="word", dtype=type(leaf), n_bytes=len(raw)), raw
    tensor_kind = PLAIN_TENSOR
    if is_tensor(leaf):
        found = read_kind(leaf)
        if found is None:
            return None
        tensor_kind = found
        kind, dtype, steps = "tensor", leaf.dtype, leaf.stride()
        array = to_array(leaf)[0]
    elif type(leaf) is np.ndarray and leaf.dtype.kind in "biufc":
        kind, dtype, steps, array = "array", leaf.dtype, leaf.strides, leaf
    else:
        return None
    if array.size and any(step == 0 and length > 1 for step, length in zip(steps, array.shape, strict=True)):
        return None  # expanded: no order of axes in memory stands for it
    axes = tuple(sorted(range(array.ndim), key=lambda axis: (-abs(steps[axis]), axis)))
    dense = array.transpose(axes)
    dense = dense if dense.flags.c_contiguous else dense.copy(order="C")
    form = LeafForm(
        kind=kind,
        dtype=dtype,
        shape=tuple(dense.shape),
        axes=axes,
        n_bytes=dense.nbytes,
        tensor_kind=tensor_kind,
    )
    return form, dense.reshape(-1).view(np.uint8).data if dense.size else b""


def _read(form: Any, file: BinaryIO) -> Any:
    if isinstance(form, Mapping):
        return {key: _read(part, file) for key, part in form.items()}
    if isinstance(form, LeafForm):
        return _read_leaf(form, file)
    kind, parts = form
    items: Iterator[Any] = (_read(part, file) for part in parts)
    return kind(*items) if hasattr(kind, "_fields") else kind(items)


def _fill(memory: memoryview, file: BinaryIO) -> None:
    raw = file.read(memory.nbytes)
    if len(raw) != memory.nbytes:  # what is missing must not be whatever lay in memory
        raise PreprocessError(f"{file.name}: inputs that an earlier case kept were cut short; run again")
    memory[:] = raw


def _read_leaf(form: LeafForm, file: BinaryIO) -> Any:
    if form.kind == "word":
        raw = file.read(form.n_bytes)
        if form.dtype is bytes:
            return raw
        return raw.decode("utf-8", "surrogatepass") if form.dtype is str else None
    back = tuple(int(axis) for axis in np.argsort(form.axes))
    if form.kind == "array":
        array = np.empty(form.shape, form.dtype)
        if array.size:
            _fill(array.reshape(-1).view(np.uint8).data, file)
        return array.transpose(back)
    import torch

    # In memory that torch allotted: kernels may choose by alignment.
    raw_bytes = torch.empty(form.n_bytes, dtype=torch.uint8, device="cpu")
    if form.n_bytes:
        _fill(raw_bytes.numpy().data, file)
        tensor = raw_bytes.view(form.dtype).reshape(form.shape).permute(back)
    else:
        tensor = torch.empty(form.shape, dtype=form.dtype, device="cpu").permute(back)
    return form.tensor_kind.wrap(tensor)
