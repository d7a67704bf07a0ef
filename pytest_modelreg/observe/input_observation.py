"""Observing the inputs of a case alone: samples decoded and preprocessed, no model built.

What belongs here: the order of things without a model. Neither the factory nor the checkpoint,
collate or forward is touched; the module of ``preprocess`` is imported, with whatever it imports.
"""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from pytest_modelreg.domain.case import CaseSpec
from pytest_modelreg.domain.errors import PreprocessError
from pytest_modelreg.domain.observation import Observation, ObservedSample
from pytest_modelreg.fingerprint import collect
from pytest_modelreg.observe.batches import read_batch
from pytest_modelreg.observe.fresh_inputs import FreshInputs
from pytest_modelreg.observe.imports import suite_imports
from pytest_modelreg.observe.input_probes import KnownProbes, ProbedInputs
from pytest_modelreg.observe.kept_inputs import InputRecorder, KeptInputs
from pytest_modelreg.observe.loaders import find_loader
from pytest_modelreg.observe.model import apply_eval, evaluating
from pytest_modelreg.observe.preprocess import Preprocess
from pytest_modelreg.observe.references import list_references, resolve_references
from pytest_modelreg.observe.state import StateGuard
from pytest_modelreg.observe.warning_log import WarningLog

_ROLES = ("loader", "preprocess")


def observe_inputs(
    spec: CaseSpec,
    folder: Path,
    *,
    to_tensors: bool,
    known: KnownProbes | None = None,
    progress: Callable[[int, int], None] | None = None,
    recorder: InputRecorder | None = None,
) -> Observation:
    """Decode and preprocess the samples of a case, and record what the model would be fed.

    Global state is as before when it returns or raises. Memory holds one batch.

    Parameters
    ----------
    folder : Path
        Where the probes are written; made when it does not exist.
    to_tensors : bool
        Whether the model is a module, which nobody can ask here: numbers become tensors then.
    known : KnownProbes, optional
        Probes that need not be made again; None: no probes are made.
    progress : callable, optional
        Called with (samples done, samples in total) after each batch.
    recorder : InputRecorder, optional
        Keeps what is prepared.

    Returns
    -------
    Observation
        Without outputs and without a weights digest.

    Raises
    ------
    ImportReferenceError
        References that cannot be resolved, all in one message.
    SampleLoadError
        A sample cannot be decoded.
    PreprocessError
        Preprocess raised, or returned what can be no model input.
    """
    started = time.perf_counter()
    folder = folder.absolute()  # user code may change the working folder
    folder.mkdir(parents=True, exist_ok=True)
    guard = StateGuard(
        threads=spec.threads, default_threads=spec.default_threads, deterministic=spec.deterministic
    )
    with guard, WarningLog() as log, suite_imports(spec.python_path) as suite:
        references = list_references(spec, needs_model=False)
        asked = {role: name for role, name in references.items() if role in _ROLES}
        found = resolve_references(asked, case=spec.id, folders=suite.folders)
        if to_tensors and "torch" not in sys.modules:
            importlib.import_module("torch")
        suite.settings.update(guard.imported_settings())
        guard.prepare(suite.settings)
        preprocess = Preprocess(found.get("preprocess"), reference=spec.preprocess, to_tensors=to_tensors)
        fresh = FreshInputs(
            samples=spec.samples,
            loader=find_loader(spec.loader, found),
            loader_name=spec.loader,
            preprocess=preprocess,
            recorder=recorder,
        )
        n_samples = len(spec.samples)
        with evaluating(preprocess.parts):
            for part in preprocess.parts:
                apply_eval(part, case=spec.id)
            guard.prepare()
            source = (
                fresh
                if known is None
                else ProbedInputs(fresh, n_samples=n_samples, known=known, folder=folder)
            )
            samples: list[ObservedSample] = []
            with closing(source) as inputs:
                for start in range(0, n_samples, spec.batch_size):
                    # In batches as a case does: buffers that a preprocess uses again show within one.
                    samples += read_batch(inputs, start, min(start + spec.batch_size, n_samples))[1]
                    if progress is not None:
                        progress(len(samples), n_samples)
                facts = inputs.conclude()
        return Observation(
            suite=spec.suite,
            variant=spec.variant,
            axes=spec.axes,
            batch_size=spec.batch_size,
            samples=tuple(samples),
            outputs={},
            weights_digest=None,
            fingerprint=collect(runtime={}, project=spec.facts),
            warnings=log.lines,
            stages=facts.stages,
            checklist=facts.checklist,
            habits=facts.habits,
            input_probes=facts.probes,
            duration_s=time.perf_counter() - started,
        )


def prepare_inputs(spec: CaseSpec, folder: Path, *, to_tensors: bool) -> KeptInputs:
    """Decode and preprocess the samples of a case into a file, for another process.

    Parameters
    ----------
    folder : Path
        Where the file is written; made when it does not exist.

    Raises
    ------
    ImportReferenceError, SampleLoadError
        As :func:`observe_inputs`.
    PreprocessError
        As well when inputs cannot be handed to another process, or depend on what was prepared before.
    """
    kept: list[KeptInputs] = []
    recorder = InputRecorder(folder / "inputs.bin", kept.append)
    observe_inputs(spec, folder, to_tensors=to_tensors, recorder=recorder)
    if not kept:
        raise PreprocessError(
            f"{spec.id}: preprocess {spec.preprocess!r}: expected inputs that another process can be handed "
            "(plain tensors, arrays, numbers and text, the same whatever was prepared before), got others; "
            "leave out `preprocess: here`"
        )
    return kept[0]
