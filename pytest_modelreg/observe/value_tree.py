"""What a Python test handed over, walked: leaves by output path, and where their samples are.

What belongs here: which axis is the samples' when nobody said, and whether ids fit it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import NDArray

from pytest_modelreg.domain.case import OutputSpec
from pytest_modelreg.domain.errors import OutputError
from pytest_modelreg.domain.listing import name_some
from pytest_modelreg.domain.output_path import find_entry
from pytest_modelreg.observe.arrays import list_numbers, read_number_list, read_shape
from pytest_modelreg.observe.output_tree import is_leaf, walk_leaves
from pytest_modelreg.observe.outputs import choose_bare_name
from pytest_modelreg.observe.sample_ids import name_samples

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
    paths : tuple of str
        Output paths of all that is recorded.
    python_numbers : frozenset of str
        Output paths that hold floats of Python itself, whose dtype says nothing of how
        they were computed.
    """

    content: Any
    sample_ids: tuple[str, ...] | None
    specs: Mapping[str, OutputSpec]
    paths: tuple[str, ...]
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
        holds outputs. Without them samples are numbered along the leading axis, or in the list that
        holds the boxes of a detection.

    Raises
    ------
    OutputError
        When ids are no ids or not as many as there are rows, a structure cannot be walked,
        or arrays disagree in their leading axis and nobody said what it is.
    """
    ids = None if sample_ids is None else name_samples(sample_ids)
    n_samples = None if ids is None else len(ids)
    if ids is None and isinstance(values, list) and _holds_detections(outputs):
        n_samples = len(values)
    walk = _ValueWalk(outputs, n_samples=n_samples)
    leaves = walk.read(values)
    specs = dict(outputs)
    lengths = walk.measure(leaves)
    if ids is None:
        _require_agreement(lengths)
        n_rows = next(iter(lengths.values()), 0)
        ids = tuple(map(str, range(n_rows))) if n_rows else None
    else:
        _require_id_for_every_row(len(ids), lengths, is_list=isinstance(values, list))
    for path, node in leaves:
        name, spec = walk.spec_of(path)
        is_single = is_leaf(node) and read_shape(node) == ()
        if is_single and sample_ids is not None and not lengths:
            raise OutputError(
                f"{len(ids or ())} sample_ids for output {name!r}, a single number without rows; "
                "leave them out"
            )
        if not spec.per_is_declared and (ids is None or is_single):
            specs[name] = replace(spec, per="batch")
    return ValueTree(
        content=_by_path(leaves) if leaves else values,
        sample_ids=ids,
        specs=specs,
        paths=tuple(walk.paths),
        python_numbers=frozenset(walk.python_numbers),
    )


def _holds_detections(outputs: Mapping[str, OutputSpec]) -> bool:
    """Whether a list without ids holds samples: boxes differ in number, so that they come in no other way.

    Boxes that are declared by their place in the list say that it holds outputs.
    """
    return any(
        spec.kind == "detection" and not path.partition(".")[0].isdecimal() for path, spec in outputs.items()
    )


class _ValueWalk:
    def __init__(self, outputs: Mapping[str, OutputSpec], *, n_samples: int | None) -> None:
        self._outputs = outputs
        self._bare_name = choose_bare_name(outputs)
        self._n_samples = n_samples
        self.python_numbers: set[str] = set()
        self.paths: dict[str, None] = {}

    def spec_of(self, path: str) -> tuple[str, OutputSpec]:
        name = path or self._bare_name
        return name, find_entry(name, self._outputs) or _UNDECLARED

    def read(self, values: Any) -> list[tuple[str, Any]]:
        """Return paths and leaves; lists of numbers are arrays, results of samples stay lists."""
        return [(path, self._settle(path, node)) for path, node in self._walk(values, "")]

    def measure(self, leaves: Sequence[tuple[str, Any]]) -> dict[str, int]:
        """Return how long the leading axes are that can be the samples', by output path."""
        lengths: dict[str, int] = {}
        for path, node in leaves:
            name, spec = self.spec_of(path)
            shape = read_shape(node) if is_leaf(node) else (len(node),) if self._holds_samples(node) else None
            if shape and spec.per == "sample":
                lengths[name] = shape[0]
        return lengths

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
            self.paths[name] = None
            self._note_python_floats(name, [node])
            return node
        array = self._read_numbers(node, path)
        if array is not None:
            self.paths[name] = None
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


def _require_agreement(lengths: Mapping[str, int]) -> None:
    if len(set(lengths.values())) < 2:
        return
    shown = [f"{name}: {length}" for name, length in lengths.items()]
    first = next(name for name, length in lengths.items() if length != next(iter(lengths.values())))
    raise OutputError(
        "expected arrays that agree in their leading axis, which is taken for samples, got lengths "
        f"{_list_some(shown)}; name the samples with sample_ids=, or declare what is "
        f'recorded as a whole: outputs={{"{first}": {{"per": "batch"}}}} ("**" for all)'
    )


def _require_id_for_every_row(n_ids: int, lengths: Mapping[str, int], *, is_list: bool) -> None:
    odd = {name: length for name, length in lengths.items() if length != n_ids}
    if not odd:
        return
    shown = [f"{length} row{'s' if length != 1 else ''} of output {name!r}" for name, length in odd.items()]
    taken = ", in a list that is taken for outputs because its length is another" if is_list else ""
    raise OutputError(
        f"{n_ids} sample_ids for {_list_some(shown)}{taken}; give one id a row, or declare what is recorded "
        f'as a whole: outputs={{"{next(iter(odd))}": {{"per": "batch"}}}}'
    )


def _list_some(shown: Sequence[str]) -> str:
    return name_some(shown, _LISTED)


def _by_path(leaves: Sequence[tuple[str, Any]]) -> Any:
    if len(leaves) == 1 and not leaves[0][0]:
        return leaves[0][1]
    found: dict[str, Any] = {}
    for path, node in leaves:
        if path in found:
            raise OutputError(f"output {path!r}: two outputs have this path; rename a key")
        found[path] = node
    return found
