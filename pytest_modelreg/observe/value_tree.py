"""What a Python test handed over, walked: leaves by output path, and where their samples are.

What belongs here: which axis is the samples' when nobody said, and the ids of samples.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_modelreg.domain.case import OutputSpec
from pytest_modelreg.domain.errors import OutputError
from pytest_modelreg.domain.output_path import find_entry
from pytest_modelreg.observe.arrays import list_numbers, read_number_list, read_shape, to_array
from pytest_modelreg.observe.output_tree import describe_value, is_leaf, walk_leaves
from pytest_modelreg.observe.outputs import choose_bare_name

_UNDECLARED = OutputSpec()
_LISTED = 8


@dataclass(frozen=True, kw_only=True)
class ValueTree:
    """Values as leaves by output path.

    Parameters
    ----------
    content : Any
        What is left to flatten: a single leaf, or leaves by output path.
    sample_ids : sequence of str or None
        None where every array is one value as a whole.
    specs : mapping of str to OutputSpec
        What was declared, and ``per: batch`` for what has no sample axis.
    python_numbers : frozenset of str
        Output paths that hold floats of Python itself, whose dtype says nothing of how
        they were computed.
    """

    content: Any
    sample_ids: tuple[str, ...] | None
    specs: Mapping[str, OutputSpec]
    python_numbers: frozenset[str]


def read_values(
    values: Any, *, outputs: Mapping[str, OutputSpec], sample_ids: Sequence[Any] | None = None
) -> ValueTree:
    """Walk values and find their samples.

    Parameters
    ----------
    outputs : mapping of str to OutputSpec
        What the numbers mean, by output path or pattern.
    sample_ids : sequence of str or numbers, optional
        One a sample. A list as long as they are holds one result a sample; any other list
        holds outputs. Without them samples are numbered along the leading axis.

    Raises
    ------
    OutputError
        When ids are no ids, a structure cannot be walked, or arrays disagree in their
        leading axis and nobody said what it is.
    """
    ids = None if sample_ids is None else name_samples(sample_ids)
    walk = _ValueWalk(outputs, n_samples=None if ids is None else len(ids))
    leaves = walk.read(values)
    specs = dict(outputs)
    if ids is None:
        ids = walk.number_samples(leaves)
        for path, node in leaves:
            name, spec = walk.spec_of(path)
            if not spec.per_is_declared and (ids is None or read_shape(node) == ()):
                specs[name] = replace(spec, per="batch")
    return ValueTree(
        content=_by_path(leaves) if leaves else values,
        sample_ids=ids,
        specs=specs,
        python_numbers=frozenset(walk.python_numbers),
    )


def name_samples(sample_ids: Any) -> tuple[str, ...]:
    """Return sample ids as text.

    Parameters
    ----------
    sample_ids : sequence, array or tensor
        Text, numbers or paths, one axis.

    Raises
    ------
    OutputError
        For anything else, none at all, or an id that is repeated.
    """
    if isinstance(sample_ids, (str, bytes, Mapping, set, frozenset)) or not hasattr(sample_ids, "__iter__"):
        raise OutputError(
            f"sample_ids: expected a sequence of ids, one a sample, got {describe_value(sample_ids)}"
        )
    names = tuple(_name_sample(index, given) for index, given in enumerate(_list_ids(sample_ids)))
    repeated = next((name for name, count in Counter(names).items() if count > 1), None)
    if repeated is not None or not names:
        got = "none" if repeated is None else f"{repeated!r} twice"
        raise OutputError(f"sample_ids: expected one id a sample, each once, got {got}")
    return names


def _list_ids(sample_ids: Any) -> list[Any]:
    """Return ids as a list: those of an array or tensor are its values."""
    if is_leaf(sample_ids):
        array = sample_ids if isinstance(sample_ids, np.ndarray) else to_array(sample_ids)[0]
        if array.ndim != 1:
            raise OutputError(f"sample_ids: expected one axis, got shape {list(array.shape)}")
        found: list[Any] = array.tolist()
        return found
    try:
        return list(sample_ids)
    except Exception as error:
        raise OutputError(f"sample_ids: raised {type(error).__name__}: {error}") from error


def _name_sample(index: int, given: Any) -> str:
    found = given
    if isinstance(given, os.PathLike):
        found = os.fspath(given)
    elif is_leaf(given) and read_shape(given) == ():
        found = to_array(given)[0].item() if not isinstance(given, (str, int, float)) else given
    if isinstance(found, (str, int, float)):
        return str(found)
    raise OutputError(f"sample_ids[{index}]: expected text or a number, got {describe_value(given)}")


class _ValueWalk:
    def __init__(self, outputs: Mapping[str, OutputSpec], *, n_samples: int | None) -> None:
        self._outputs = outputs
        self._bare_name = choose_bare_name(outputs)
        self._n_samples = n_samples
        self.python_numbers: set[str] = set()

    def spec_of(self, path: str) -> tuple[str, OutputSpec]:
        name = path or self._bare_name
        return name, find_entry(name, self._outputs) or _UNDECLARED

    def read(self, values: Any) -> list[tuple[str, Any]]:
        """Return paths and leaves; lists of numbers are arrays, results of samples stay lists."""
        return [(path, self._settle(path, node)) for path, node in self._walk(values, "")]

    def number_samples(self, leaves: Sequence[tuple[str, Any]]) -> tuple[str, ...] | None:
        """Return numbers for the samples that the leading axes hold; None where there is no such axis."""
        lengths: dict[str, int] = {}
        for path, node in leaves:
            name, spec = self.spec_of(path)
            shape = read_shape(node) if is_leaf(node) else None
            if shape and spec.per == "sample":
                lengths[name] = shape[0]
        if len(set(lengths.values())) > 1:
            shown = [f"{name}: {length}" for name, length in lengths.items()]
            more = f" and {len(shown) - _LISTED} more" if len(shown) > _LISTED else ""
            first = next(name for name, length in lengths.items() if length != next(iter(lengths.values())))
            raise OutputError(
                "expected arrays that agree in their leading axis, which is taken for samples, got lengths "
                f"{', '.join(shown[:_LISTED])}{more}; name the samples with sample_ids=, or declare what is "
                f'recorded as a whole: outputs={{"{first}": {{"per": "batch"}}}} ("**" for all)'
            )
        n_samples = next(iter(lengths.values()), 0)
        return tuple(map(str, range(n_samples))) if n_samples else None

    def _walk(self, node: Any, path: str) -> Iterator[tuple[str, Any]]:
        return walk_leaves(
            node,
            path,
            is_whole=lambda node, path: self._is_taken_whole(node, path) or self._holds_samples(node),
        )

    def _holds_samples(self, node: Any) -> bool:
        return isinstance(node, list) and len(node) == self._n_samples

    def _is_taken_whole(self, node: Any, path: str) -> bool:
        name = path or (self._bare_name if isinstance(node, list) else "")
        if name and self.spec_of(name)[1].per == "ignore":
            return True
        return isinstance(node, list) and self._read_numbers(node, path) is not None

    def _read_numbers(self, node: list[Any], path: str) -> NDArray[Any] | None:
        try:
            return read_number_list(node)
        except OutputError as error:
            raise OutputError(f"output {path or self._bare_name!r}: {error}") from error

    def _settle(self, path: str, node: Any) -> Any:
        """Return the array that a list of numbers is; note floats of Python on the way."""
        name, spec = self.spec_of(path)
        if spec.per == "ignore":
            return node
        if not isinstance(node, list):
            self._note_python_floats(name, [node])
            return node
        array = self._read_numbers(node, path)
        if array is not None:
            self._note_python_floats(name, list_numbers(node))
            return array
        for sample in node:  # one result a sample: all of them have the same paths
            for below, leaf in walk_leaves(sample, path, is_whole=self._is_taken_whole):
                self._settle(below, leaf)
        return node

    def _note_python_floats(self, name: str, numbers: Iterable[Any]) -> None:
        kinds = {type(number) for number in numbers}
        if kinds & {float, complex} and kinds <= {float, complex, int, bool}:
            self.python_numbers.add(name)


def _by_path(leaves: Sequence[tuple[str, Any]]) -> Any:
    if len(leaves) == 1 and not leaves[0][0]:
        return leaves[0][1]
    found: dict[str, Any] = {}
    for path, node in leaves:
        if path in found:
            raise OutputError(f"output {path!r}: two outputs have this path; rename a key")
        found[path] = node
    return found
