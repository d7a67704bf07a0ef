"""Records that fit together: one id a sample, one row a sample or batch.

What belongs here: what no single field of a record can show. It is asked when a file is
read, where the file can still be named. To add a rule, add a generator of faults to
:func:`require_consistent`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

from pytest_modelreg.domain.errors import GoldenError
from pytest_modelreg.domain.observation import Observation
from pytest_modelreg.store.array_file import RESTORE
from pytest_modelreg.store.naming import shown

_FEWEST_PROBE_COLUMNS = 3  # one bucket, the norm, the count of what is not finite


def require_consistent(
    observation: Observation, path: Path, *, profiled: Collection[str] | None = None
) -> None:
    """Hold the parts of a record against each other.

    Parameters
    ----------
    path : pathlib.Path
        File that it was read from.
    profiled : collection of str or None
        Outputs whose profile the file holds; None where it holds no profiles.

    Raises
    ------
    GoldenError
        A sample id occurs twice, an output has not one row a sample (a batch, where it
        is recorded per batch) or no profile; every fault with file and key, one a line.
    """
    faults = [
        *_find_repeated_ids(observation),
        *_find_misfit_rows(observation),
        *_find_misfit_stages(observation),
        *_find_misfit_probes(observation),
    ]
    if profiled is not None:
        absent = [output for output in observation.outputs if output not in profiled]
        faults += [f"profiles: expected one of every output, got none of {output}" for output in absent]
    if faults:
        raise GoldenError("\n".join(f"{shown(path)}: {fault}; {RESTORE}" for fault in faults))


def _find_repeated_ids(observation: Observation) -> Iterator[str]:
    first: dict[str, int] = {}
    for index, sample in enumerate(observation.samples):
        if first.setdefault(sample.id, index) != index:
            earlier = first[sample.id]
            yield f"samples[{index}].id: expected an id of its own, got {sample.id!r} like samples[{earlier}]"


def _find_misfit_rows(observation: Observation) -> Iterator[str]:
    n_samples = len(observation.samples)
    if observation.batch_size < 1:
        yield f"batch_size: expected at least 1, got {observation.batch_size}"
        return
    n_batches = -(-n_samples // observation.batch_size)
    for output, record in observation.outputs.items():
        expected = n_samples if record.per == "sample" else n_batches
        n_rows = record.shape[0] if record.shape else None
        if n_rows != expected:
            got = "no row axis" if n_rows is None else f"{n_rows}"
            yield f"outputs.{output}.shape: expected {expected} rows (one a {record.per}), got {got}"


def _find_misfit_stages(observation: Observation) -> Iterator[str]:
    n_samples = len(observation.samples)
    for index, stage in enumerate(observation.stages):
        if len(stage.digests) != n_samples:
            yield (f"stages[{index}].digests: expected {n_samples} (one a sample), got {len(stage.digests)}")


def _find_misfit_probes(observation: Observation) -> Iterator[str]:
    probes = observation.input_probes
    if probes is None:
        return
    n_samples = len(observation.samples)
    if probes.n_columns < _FEWEST_PROBE_COLUMNS:
        yield f"input_probes.n_columns: expected at least {_FEWEST_PROBE_COLUMNS}, got {probes.n_columns}"
    if len(probes.forms) not in (1, n_samples):
        yield f"input_probes.forms: expected 1 or {n_samples} (one a sample), got {len(probes.forms)}"
