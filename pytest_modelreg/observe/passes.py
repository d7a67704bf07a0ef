"""Forward passes: batches into the model, rows of its outputs into files.

What belongs here: one pass after the other, and what is said when one fails. Memory holds one batch.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_modelreg.domain.case import CaseSpec
from pytest_modelreg.domain.errors import ForwardError, OutputError
from pytest_modelreg.domain.observation import ObservedSample, OutputRecord
from pytest_modelreg.observe.batches import Batch, BatchSource, describe_batch
from pytest_modelreg.observe.output_collection import OutputCollector
from pytest_modelreg.observe.outputs import choose_bare_name, flatten_outputs
from pytest_modelreg.observe.placement import Placement
from pytest_modelreg.observe.seeding import seed_generators
from pytest_modelreg.observe.user_code import attributed
from pytest_modelreg.observe.warning_log import WarningLog
from pytest_modelreg.runtimes import Runner

Progress = Callable[[int, int], None]


@dataclass(frozen=True, kw_only=True)
class Passes:
    """How a case's forward passes are run.

    Parameters
    ----------
    spec : CaseSpec
        The case.
    runner : Runner
        The model, opened by its runtime.
    placement : Placement
        Where and in which numbers the inputs go.
    autocast : callable
        Makes the context of one pass.
    """

    spec: CaseSpec
    runner: Runner
    placement: Placement
    autocast: Callable[[], AbstractContextManager[Any]]

    def run(
        self, source: BatchSource, folder: Path, log: WarningLog, progress: Progress | None
    ) -> tuple[tuple[ObservedSample, ...], dict[str, OutputRecord]]:
        """Run every batch and write what comes out.

        Returns
        -------
        tuple
            The samples in row order, and the records of the outputs by output path.

        Raises
        ------
        ForwardError
            A forward pass raised.
        OutputError
            What the model returned cannot be recorded.
        """
        spec = self.spec
        bare_name = choose_bare_name(spec.outputs)
        samples: list[ObservedSample] = []
        n_batches = math.ceil(source.n_samples / spec.batch_size)
        with OutputCollector(folder, n_samples=source.n_samples, n_batches=n_batches) as collector:
            for batch in source:
                returned = self._forward(batch)
                ids = batch.ids
                try:
                    leaves = flatten_outputs(
                        returned, batch_size=len(ids), specs=spec.outputs, bare_name=bare_name, sample_ids=ids
                    )
                    collector.write(leaves)
                except OutputError as error:
                    raise OutputError(f"{spec.id}: samples {_span(batch)}: {error}") from error
                samples.extend(batch.samples)
                log.drain()
                if progress is not None:
                    progress(len(samples), source.n_samples)
            return tuple(samples), collector.close()

    def _forward(self, batch: Batch) -> Any:
        what = f"{self.spec.id}: forward pass (in inference mode) of samples {_span(batch)}"
        with attributed(ForwardError, what, self._advise(batch)):
            inputs = self.placement.place(batch.inputs)
            # What a pass draws must not depend on what was drawn for the samples or the batches before.
            seed_generators()
            with self.autocast():
                return self.runner(inputs)

    def _advise(self, batch: Batch) -> str:
        hints = []
        if batch.unequal_shapes is not None:
            hints.append(
                f"inputs had different shapes ({batch.unequal_shapes}), so that collation gave the model a "
                f"list; return one shape from preprocess, or give the suite a collate or a forward"
            )
        axes = {"dtype": self.spec.dtype, "autocast": self.spec.autocast, "device": self.spec.device}
        given = [f"{axis}: {value}" for axis, value in axes.items() if value is not None]
        if given:
            hints.append(f"the case runs with {', '.join(given)}")
        form = describe_batch(batch.inputs)
        if form:
            hints.append(f"the batch was {form}")
        return "; ".join(hints)


def _span(batch: Batch) -> str:
    ids = batch.ids
    return repr(ids[0]) if len(ids) == 1 else f"{ids[0]!r} to {ids[-1]!r}"
