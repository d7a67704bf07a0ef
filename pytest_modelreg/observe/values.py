"""Values that a Python test already has, recorded as an observation.

What belongs here: finding the samples in what was handed over. Flattening is
``outputs``', writing is ``output_collection``'s, as for a model's own outputs.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from pytest_modelreg.domain.case import OutputSpec
from pytest_modelreg.domain.environment import FactValue
from pytest_modelreg.domain.errors import OutputError
from pytest_modelreg.domain.observation import Observation, ObservedSample
from pytest_modelreg.fingerprint import NO_FACTS, collect
from pytest_modelreg.observe.arrays import read_number_list
from pytest_modelreg.observe.output_collection import OutputCollector
from pytest_modelreg.observe.output_tree import children_of, is_leaf, join_path
from pytest_modelreg.observe.outputs import choose_bare_name, flatten_outputs

_UNDECLARED = OutputSpec()


def observe_values(
    values: Any,
    folder: Path,
    *,
    suite: str,
    variant: str,
    outputs: Mapping[str, OutputSpec],
    sample_ids: Sequence[str] | None = None,
    facts: Mapping[str, FactValue] = NO_FACTS,
) -> Observation:
    """Record values as the observation of a case that ran elsewhere.

    Parameters
    ----------
    values : Any
        Tensors, arrays and numbers in mappings, lists, tuples, named tuples,
        dataclasses or model outputs. Axis 0 is samples.
    folder : Path
        Where the arrays are written; made when absent.
    outputs : mapping of str to OutputSpec
        What the numbers mean, by output path.
    sample_ids : sequence of str, optional
        One a sample. Without them samples are numbered when all arrays agree in their
        leading axis (single numbers beside them are recorded once); otherwise every
        array is one value as a whole.
    facts : mapping of str to scalar
        What the project adds to the fingerprint, by dotted key.

    Raises
    ------
    OutputError
        When the values cannot be recorded, or an id is repeated.
    """
    bare_name = choose_bare_name(outputs)
    ids = _name_samples(values, sample_ids)
    names = ids or ["0"]
    n_samples = len(names)
    specs = dict(outputs)
    if sample_ids is None:
        for path, shape in _list_leaves(values, "", n_samples):
            spec = specs.get(path or bare_name, _UNDECLARED)
            if (ids is None or not shape) and not spec.per_is_declared:
                specs[path or bare_name] = replace(spec, per="batch")
    leaves = flatten_outputs(values, batch_size=n_samples, specs=specs, bare_name=bare_name, sample_ids=names)
    folder.mkdir(parents=True, exist_ok=True)
    with OutputCollector(folder, n_samples=n_samples, n_batches=1) as collector:
        collector.write(leaves)
        records = collector.close()
    return Observation(
        suite=suite,
        variant=variant,
        axes={},
        batch_size=n_samples,
        samples=tuple(ObservedSample(id=name, sha256=digest_id(name), input_digest=None) for name in names),
        outputs=records,
        weights_digest=None,
        fingerprint=collect(project=facts),
    )


def digest_id(sample_id: str) -> str:
    """Return the sha256 that stands for a sample known by its id alone."""
    return hashlib.sha256(sample_id.encode("utf-8", "surrogatepass")).hexdigest()


def _name_samples(values: Any, sample_ids: Sequence[str] | None) -> list[str] | None:
    """Return the samples' ids, or None where every array is one value as a whole."""
    if sample_ids is not None:
        names = [str(name) for name in sample_ids]
        repeated = next((name for name, count in Counter(names).items() if count > 1), None)
        if repeated is not None or not names:
            got = "none" if repeated is None else f"{repeated!r} twice"
            raise OutputError(f"sample_ids: expected one id a sample, each once, got {got}")
        return names
    lengths = set(_list_lengths(values))
    if len(lengths) != 1 or lengths == {0}:
        return None
    n_samples = lengths.pop()
    width = len(str(n_samples - 1))
    return [str(index).zfill(width) for index in range(n_samples)]


def _list_lengths(node: Any) -> Iterator[int]:
    """Yield the leading length of every array, lists of numbers included."""
    array = read_number_list(node) if isinstance(node, list) else node
    if array is not None and is_leaf(array):
        yield from (int(axis) for axis in np.shape(array)[:1])
    elif node is not None:
        for _, child in children_of(node) or ():
            yield from _list_lengths(child)


def _list_leaves(node: Any, path: str, n_samples: int) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield path and shape of every leaf that flattening takes as a whole."""
    if is_leaf(node):
        yield path, tuple(np.shape(node))
    elif node is not None and not (isinstance(node, list) and len(node) == n_samples):
        for key, child in children_of(node) or ():
            yield from _list_leaves(child, join_path(path, key), n_samples)
