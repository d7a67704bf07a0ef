"""Values that a Python test already has, recorded as an observation.

What belongs here: making an observation of them. Where their samples are is
``value_tree``'s, flattening ``outputs``', writing ``output_collection``'s, as for a
model's own outputs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_modelreg.domain.case import OutputSpec
from pytest_modelreg.domain.environment import FactValue
from pytest_modelreg.domain.observation import Observation, ObservedSample
from pytest_modelreg.fingerprint import NO_FACTS, collect
from pytest_modelreg.observe.output_collection import OutputCollector
from pytest_modelreg.observe.output_faults import TEST
from pytest_modelreg.observe.outputs import choose_bare_name, flatten_outputs
from pytest_modelreg.observe.value_tree import read_values


def observe_values(
    values: Any,
    folder: Path,
    *,
    suite: str,
    variant: str,
    outputs: Mapping[str, OutputSpec],
    sample_ids: Sequence[Any] | None = None,
    facts: Mapping[str, FactValue] = NO_FACTS,
) -> Observation:
    """Record values as the observation of a case that ran elsewhere.

    Parameters
    ----------
    values : Any
        Tensors, arrays and numbers in mappings, lists, tuples, named tuples,
        dataclasses or model outputs.
    folder : Path
        Where the arrays are written; made when absent.
    outputs : mapping of str to OutputSpec
        What the numbers mean, by output path.
    sample_ids : sequence of str or numbers, optional
        One a sample. Without them samples are numbered along the leading axis, in which
        all arrays have to agree but those declared ``per: batch``. Single numbers beside
        them are recorded once.
    facts : mapping of str to scalar
        What the project adds to the fingerprint, by dotted key.

    Raises
    ------
    OutputError
        When the values cannot be recorded, as :func:`~pytest_modelreg.observe.value_tree.read_values`.
    """
    tree = read_values(values, outputs=outputs, sample_ids=sample_ids)
    names = list(tree.sample_ids or ["0"])
    n_samples = len(names)
    leaves = flatten_outputs(
        tree.content,
        batch_size=n_samples,
        specs=tree.specs,
        bare_name=choose_bare_name(outputs),
        sample_ids=names,
        origin=TEST,
    )
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
