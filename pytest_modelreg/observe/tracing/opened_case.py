"""A case opened to be looked into: its model built, loaded and placed, and run on a few samples at will.

What belongs here: the order of things up to the first pass, which is ``case``'s, and one pass. What is
looked at is the other modules'.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

from pytest_modelreg.domain.case import CaseSpec
from pytest_modelreg.domain.errors import CaseError
from pytest_modelreg.observe.collate import collate_batch
from pytest_modelreg.observe.imports import suite_imports
from pytest_modelreg.observe.input_source import PreparedSample
from pytest_modelreg.observe.model import is_module
from pytest_modelreg.observe.placement import require_device
from pytest_modelreg.observe.preprocess import Preprocess
from pytest_modelreg.observe.references import list_references, resolve_reference, resolve_references
from pytest_modelreg.observe.seeding import SEED, seed_generators
from pytest_modelreg.observe.state import StateGuard
from pytest_modelreg.observe.subject import Subject, load_model, opened_subject
from pytest_modelreg.observe.tracing.load_watch import LoadWatch, shifted_seeds
from pytest_modelreg.observe.tracing.weight_facts import digest_tensors
from pytest_modelreg.observe.user_code import attributed
from pytest_modelreg.observe.warning_log import WarningLog
from pytest_modelreg.runtimes import Runtime, find_runtime
from pytest_modelreg.runtimes.artefacts import Artefacts


@dataclass(frozen=True, kw_only=True)
class OpenedCase:
    """A case whose model is ready.

    Parameters
    ----------
    found : mapping
        Its references, resolved.
    to_tensors : bool
        Whether the model is a module, so that its inputs are tensors.
    folders : tuple of str
        Where the project's modules come from.
    loaded : mapping of str to str
        Digests of the state dict as it was loaded: a transform, or a dtype, may change it in place.
    reached : frozenset of str
        Entries of it that ``load_state_dict`` gave values to.
    loads : LoadWatch
        What else it was given.
    """

    spec: CaseSpec
    found: Mapping[str, Any]
    subject: Subject
    preprocess: Preprocess
    to_tensors: bool
    folders: tuple[str, ...]
    guard: StateGuard
    runtime: Runtime
    loaded: Mapping[str, str]
    reached: frozenset[str]
    loads: LoadWatch

    def place_batch(self, samples: Sequence[PreparedSample]) -> Any:
        """Return what the model is called with for these samples.

        Raises
        ------
        PreprocessError
            They cannot be collated.
        """
        batch = collate_batch(
            [sample.value for sample in samples],
            sample_ids=[sample.observed.id for sample in samples],
            collate=self.found.get("collate"),
            reference=self.spec.collate,
        )
        return self.subject.passes.placement.place(batch)

    def run(self, samples: Sequence[PreparedSample], seed: int) -> Any:
        """Run samples as one batch from a seed, and return what the model did.

        Raises
        ------
        CaseError
            They cannot be batched, or the pass raised.
        """
        passes = self.subject.passes
        inputs = self.place_batch(samples)
        ids = ", ".join(sample.observed.id for sample in samples)
        with attributed(CaseError, f"{self.spec.id}: forward pass of {ids}"):
            seed_generators(seed)
            with passes.autocast():
                return passes.runner(inputs)

    def load_again(self, seed: int, *, shifts_own: bool = False) -> Mapping[str, str]:
        """Return the digests of the state dict when the model is built and loaded from another seed.

        Parameters
        ----------
        shifts_own : bool
            Whether the seeds that the factory itself sets are others, too.

        Raises
        ------
        CaseError
            As it was built the first time.
        """
        with shifted_seeds() if shifts_own else nullcontext():
            return self._build(seed)

    def leave_unloaded(self) -> Mapping[str, str]:
        """Return the digests of the state dict when the model is built and every load is left out.

        Raises
        ------
        CaseError
            The factory needs what it loads.
        """
        with LoadWatch(is_skipping=True).watching():
            return self._build(SEED)

    def _build(self, seed: int) -> Mapping[str, str]:
        self.guard.prepare()
        seed_generators(seed)
        return digest_tensors(load_model(self.spec, self.found, self.runtime).model)


@contextmanager
def opened_case(
    spec: CaseSpec, *, prepares_inputs: bool, artefacts: Artefacts | None = None
) -> Iterator[OpenedCase]:
    """Build and open the model of a case; global state is as before when the block is left.

    Parameters
    ----------
    prepares_inputs : bool
        Whether samples are going to be loaded and preprocessed.
    artefacts : Artefacts or None
        Where exported models are kept for the session.

    Raises
    ------
    CaseSkipped, ImportReferenceError, RuntimeUnavailable, ModelError, CheckpointError
        As :func:`~pytest_modelreg.observe.observe_case`.
    """
    runtime = find_runtime(spec.runtime.kind, spec.runtime.options)
    needs_model = bool(getattr(runtime, "needs_model", True))
    guard = StateGuard(
        threads=spec.threads, default_threads=spec.default_threads, deterministic=spec.deterministic
    )
    with guard, WarningLog() as log, suite_imports(spec.python_path) as suite:
        references = list_references(spec, needs_model=needs_model, prepares_inputs=prepares_inputs)
        found = resolve_references(references, case=spec.id, folders=suite.folders)
        suite.settings.update(guard.imported_settings())
        guard.prepare(suite.settings)
        require_device(spec.device, case=spec.id, needs_torch=needs_model)
        loads = LoadWatch()
        with loads.watching():
            model = load_model(spec, found, runtime)
        loaded, reached = digest_tensors(model.model), loads.list_reached(model.model)
        to_tensors = is_module(model.model) if needs_model else "torch" in sys.modules
        preprocess = Preprocess(found.get("preprocess"), reference=spec.preprocess, to_tensors=to_tensors)
        with opened_subject(
            spec,
            model,
            found,
            runtime=runtime,
            parts=preprocess.parts,
            guard=guard,
            log=log,
            resolve=lambda reference: resolve_reference(reference, suite.folders),
            artefacts=artefacts,
            n_edits=0,
        ) as subject:
            yield OpenedCase(
                spec=spec,
                found=found,
                subject=subject,
                preprocess=preprocess,
                to_tensors=to_tensors,
                folders=(*suite.folders, *suite.added_folders),
                guard=guard,
                runtime=runtime,
                loaded=loaded,
                reached=reached,
                loads=loads,
            )
