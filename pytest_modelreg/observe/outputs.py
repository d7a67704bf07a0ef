"""Model output, flattened: from what a model returned to rows by output path.

What belongs here: which axis is the batch's, what ``per`` means, and every reason why
an output cannot be recorded. Which structures are walked is ``output_tree``'s.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_modelreg.domain.case import OutputSpec
from pytest_modelreg.domain.errors import OutputError
from pytest_modelreg.domain.nearest import suggest
from pytest_modelreg.domain.output_path import find_entry, is_pattern
from pytest_modelreg.observe.arrays import read_number_list, to_array
from pytest_modelreg.observe.output_faults import MODEL, Origin, OutputFaults, list_absent
from pytest_modelreg.observe.output_tree import children_of, describe_value, is_leaf, join_path

BARE_OUTPUT = "output"
_UNDECLARED = OutputSpec()
_LIST_HINT = (
    "(a list as long as the batch holds one result a sample; return a tuple or a dict for several outputs)"
)


@dataclass(frozen=True, kw_only=True)
class Leaf:
    """The rows of one output in one batch.

    Parameters
    ----------
    per : str
        ``sample`` or ``batch``.
    dtype : str
        True dtype name; bfloat16 rows are uint16, float8 rows uint8.
    rows : numpy.ndarray or tuple of numpy.ndarray
        Axis 0 is rows (samples, or the one batch). A tuple, one array a row, where
        rows differ in shape.
    """

    per: str
    dtype: str
    rows: NDArray[Any] | tuple[NDArray[Any], ...]


def choose_bare_name(specs: Mapping[str, OutputSpec]) -> str:
    """Return the output path of a bare tensor: the only declared one, else ``output``.

    A pattern names nothing.
    """
    name = next(iter(specs)) if len(specs) == 1 else BARE_OUTPUT
    return BARE_OUTPUT if is_pattern(name) else name


def flatten_outputs(
    outputs: Any,
    *,
    batch_size: int,
    specs: Mapping[str, OutputSpec],
    bare_name: str,
    sample_ids: Sequence[str] | None = None,
    origin: Origin = MODEL,
) -> dict[str, Leaf]:
    """Flatten what a model returned for one batch.

    Parameters
    ----------
    outputs : Any
        Tensors, arrays and numbers in mappings, tuples, lists, named tuples and
        dataclasses. None is skipped. A list as long as the batch holds one result a
        sample.
    batch_size : int
        Samples in this batch.
    specs : mapping of str to OutputSpec
        Declared outputs by output path or pattern.
    bare_name : str
        Output path of a result that has no key.
    sample_ids : sequence of str, optional
        For messages; positions in the batch otherwise.
    origin : Origin
        Whose outputs they are, for messages.

    Returns
    -------
    dict of str to Leaf
        By output path, in the order in which the model returned them.

    Raises
    ------
    OutputError
        All faults at once: an output without a batch axis, samples of different
        structure, a type that is no number, two outputs on one path, a declared path
        that was not returned, or nothing at all.
    """
    ids = list(sample_ids) if sample_ids is not None else [f"#{index}" for index in range(batch_size)]
    flattening = _Flattening(ids, specs, bare_name, origin)
    flattening.walk(outputs, "")
    flattening.check_declared()
    if flattening.faults:
        raise OutputError(flattening.faults.describe())
    if not flattening.leaves:
        raise OutputError(f"expected at least one output to record, got {describe_value(outputs)}")
    return flattening.leaves


class _Flattening:
    def __init__(
        self, ids: list[str], specs: Mapping[str, OutputSpec], bare_name: str, origin: Origin
    ) -> None:
        self._origin = origin
        self._ids = ids
        self._specs = specs
        self._bare_name = bare_name
        self._ignored: set[str] = set()
        self._known: dict[str, OutputSpec] = {}
        self.leaves: dict[str, Leaf] = {}
        self.faults = OutputFaults()
        self._sample: str | None = None  # whose own result is being walked

    def walk(self, node: Any, path: str) -> None:
        if node is None or self._is_ignored(node, path):
            return
        if is_leaf(node):
            self._add_leaf(node, path)
        elif isinstance(node, list) and len(node) == len(self._ids):
            self._add_samples(node, path)
        elif (children := children_of(node)) is not None:
            for key, child in children:
                self.walk(child, join_path(path, key))
        else:
            self._fault_unknown(path, node)

    def check_declared(self) -> None:
        """Note declared paths that were not returned; only faults that say why else count."""
        origin = self._origin
        absent = list_absent(self._specs, self.leaves.keys() | self._ignored)
        if not absent or self.faults:
            return
        returned = ", ".join([*self.leaves, *sorted(self._ignored)]) or "nothing"
        for path in absent:
            hint = suggest(path, self.leaves)
            text = f"declared but not {origin.participle}{hint}; {origin.subject} {origin.verb} {returned}"
            self._fault(path, text)

    def _spec_of(self, name: str) -> OutputSpec:
        # Asked of every node of every sample's result: matching patterns each time would be slow.
        if name not in self._known:
            self._known[name] = find_entry(name, self._specs) or _UNDECLARED
        return self._known[name]

    def _is_ignored(self, node: Any, path: str) -> bool:
        # A whole branch may be ignored, caches of unknown types included; but a bare
        # name belongs to a bare result, never to the structure around all outputs.
        name = path or (self._bare_name if is_leaf(node) or isinstance(node, list) else "")
        if self._spec_of(name).per != "ignore":
            return False
        self._ignored.add(name)
        return True

    def _add_leaf(self, node: Any, path: str) -> None:
        converted = self._convert(node, path)
        if converted is None:
            return
        array, dtype = converted
        name = path or self._bare_name
        if self._spec_of(name).per == "batch":
            self._put(name, Leaf(per="batch", dtype=dtype, rows=array[np.newaxis]))
        elif array.ndim and array.shape[0] == len(self._ids):
            self._put(name, Leaf(per="sample", dtype=dtype, rows=array))
        else:
            squeezed = self._origin.hint if len(self._ids) == 1 else ""
            self._fault(
                path,
                f"expected the batch's {len(self._ids)} samples along axis 0, got shape {list(array.shape)}"
                f"{squeezed}; declare outputs: {{{name}: {{per: batch}}}} to record it once a batch, or "
                f"{{per: ignore}} to leave it out",
            )

    def _add_samples(self, items: list[Any], path: str) -> None:
        n_faults = len(self.faults)
        columns = []
        for sample, item in zip(self._ids, items, strict=True):
            self._sample = sample
            columns.append(dict(self._walk_sample(item, path)))
        self._sample = None
        if len(self.faults) > n_faults:  # what could not be walked is missing from the columns
            return
        odd = next(
            (index for index, column in enumerate(columns) if column.keys() != columns[0].keys()), None
        )
        if odd is not None:
            self._fault(
                path,
                f"expected one structure for all samples, got {', '.join(columns[0]) or 'nothing'} for "
                f"{self._ids[0]!r} and {', '.join(columns[odd]) or 'nothing'} for {self._ids[odd]!r} "
                f"{_LIST_HINT}",
            )
            return
        for name in columns[0]:
            self._put_rows(name, [column[name] for column in columns])

    def _walk_sample(self, node: Any, path: str) -> Iterator[tuple[str, tuple[NDArray[Any], str]]]:
        if node is None or self._is_ignored(node, path):
            return
        if isinstance(node, list):
            array = read_number_list(node) if node else np.empty(0)
            node = node if array is None else array
        children = None if is_leaf(node) else children_of(node)
        if children is not None:
            for key, child in children:
                yield from self._walk_sample(child, join_path(path, key))
        elif is_leaf(node):
            converted = self._convert(node, path)
            if converted is not None:
                yield path or self._bare_name, converted
        else:
            self._fault_unknown(path, node)

    def _put_rows(self, name: str, rows: list[tuple[NDArray[Any], str]]) -> None:
        # An empty row has no value whose dtype could matter: torch.tensor([]) is float32 of
        # one axis where there is nothing to detect.
        dtypes = {dtype for array, dtype in rows if array.size} or {rows[0][1]}
        if len(dtypes) > 1:
            got = ", ".join(sorted(dtypes))
            self._fault(name, f"expected one dtype for all samples, got {got} {_LIST_HINT}")
            return
        if self._spec_of(name).per == "batch":
            given = f"{self._origin.subject} {self._origin.verb}"
            self._fault(name, f"declared per: batch, but {given} one result a sample")
            return
        dtype = dtypes.pop()
        held = next(array.dtype for array, each in rows if each == dtype)
        axes = max((array.shape for array, _ in rows), key=len)[1:]
        arrays = [
            array if array.shape != (0,) else np.empty((0, *axes), held)  # [] beside rows of boxes
            for array in (array.astype(held, copy=False) for array, _ in rows)
        ]
        same = all(array.shape == arrays[0].shape for array in arrays)
        self._put(name, Leaf(per="sample", dtype=dtype, rows=np.stack(arrays) if same else tuple(arrays)))

    def _convert(self, node: Any, path: str) -> tuple[NDArray[Any], str] | None:
        try:
            return to_array(node)
        except OutputError as error:
            self._fault(path, str(error))
            return None

    def _put(self, name: str, leaf: Leaf) -> None:
        if name in self.leaves:
            self._fault(name, f"two outputs have this path; rename a key{self._origin.place}")
        self.leaves[name] = leaf

    def _fault_unknown(self, path: str, node: Any) -> None:
        text = (
            f"expected a tensor, an array or a number, got {describe_value(node)}; convert it to "
            f"tensors{self._origin.place}, or declare {{per: ignore}}"
        )
        self._fault(path, text, cause=type(node))

    def _fault(self, path: str, text: str, *, cause: type | None = None) -> None:
        self.faults.add(path or self._bare_name, text, sample=self._sample, cause=cause)
