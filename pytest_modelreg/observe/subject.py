"""The subject of a case: its model, built, loaded, transformed, placed and opened by its runtime.

What belongs here: the order of these steps, and undoing them. Each step is a module of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_modelreg.domain.case import MODEL_KEYS, CaseSpec
from pytest_modelreg.domain.errors import ModelError
from pytest_modelreg.observe.autocast import make_autocast
from pytest_modelreg.observe.identity import identify_model
from pytest_modelreg.observe.model import EvalOutcome, apply_eval, build_model, evaluating, transform_model
from pytest_modelreg.observe.passes import Passes
from pytest_modelreg.observe.placement import Placement
from pytest_modelreg.observe.state import StateGuard
from pytest_modelreg.observe.user_code import attributed
from pytest_modelreg.observe.warning_log import WarningLog
from pytest_modelreg.observe.weights import examine_weights, load_weights
from pytest_modelreg.runtimes import RunRequest, Runtime
from pytest_modelreg.runtimes.artefacts import Artefacts


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A model ready to run, and what is on record about it.

    Parameters
    ----------
    passes : Passes
        Runs it.
    evaluated : EvalOutcome
        In which mode it was found.
    weights_digest : str or None
        Of the weights before the transform.
    model : Any
        What runs, after the transform; None where the runtime brings its own.
    """

    passes: Passes
    evaluated: EvalOutcome
    weights_digest: str | None
    model: Any = None


@dataclass(frozen=True, kw_only=True)
class Loaded:
    """A model that is built and has its weights; None where the runtime brings its own.

    Parameters
    ----------
    model : Any
        Before the transform.
    weights_digest : str or None
        None for a model that is no module.
    is_digest_whole : bool
        Whether the digest covers everything that the weights hold.
    notes : tuple of str
        What was done to a checkpoint so that it fits.
    """

    model: Any
    weights_digest: str | None
    is_digest_whole: bool
    notes: tuple[str, ...] = ()


def load_model(spec: CaseSpec, found: Mapping[str, Any], runtime: Runtime) -> Loaded:
    """Build the model and load its checkpoint.

    Parameters
    ----------
    found : mapping
        The case's references, resolved; without ``model`` nothing is built, and no checkpoint opened.
    runtime : Runtime
        May bring a model that is looked into like one that was built.

    Raises
    ------
    ModelError
        The factory raised, or a variant says of a model what its runtime's own cannot follow:
        a checkpoint, a transform.
    CheckpointError
        The checkpoint cannot be read or does not fit.
    """
    if "model" not in found:
        ignored = [key for key in MODEL_KEYS if spec.axes.get(key) not in (None, False, "off", {})]
        if ignored:
            raise ModelError(
                f"{spec.id}: {', '.join(ignored)}: runtime {spec.runtime.kind!r} brings its own model, which "
                f"never looks at it; take it out of this variant, or name a runtime that runs a model"
            )
        if spec.runtime.transform is not None:
            raise ModelError(
                f"{spec.id}: transform {spec.runtime.transform!r}: runtime {spec.runtime.kind!r} brings its "
                f"own model, which cannot be transformed; remove the transform"
            )
        model = _load_own(spec, runtime)
        digest, is_whole = examine_weights(model)
        return Loaded(model=model, weights_digest=digest, is_digest_whole=is_whole)
    model = build_model(
        found["model"],
        spec.model_args,
        case=spec.id,
        reference=spec.model or "",
        is_called=not getattr(runtime, "takes_objects", False),
    )
    notes = () if spec.checkpoint is None else load_weights(model, spec.checkpoint, case=spec.id)
    digest, is_whole = examine_weights(model)
    return Loaded(model=model, weights_digest=digest, is_digest_whole=is_whole, notes=notes)


def _load_own(spec: CaseSpec, runtime: Runtime) -> Any:
    """Return the module that a runtime brings; None where it keeps its model to itself."""
    load: Callable[[RunRequest], Any] | None = getattr(runtime, "load_own", None)
    if load is None:
        return None
    what = f"{spec.id}: runtime {spec.runtime.kind!r}: loading its model"
    request = RunRequest(case=spec.id, options=spec.runtime.options, root=Path(spec.root), device=spec.device)
    with attributed(ModelError, what):
        return load(request)


@contextmanager
def opened_subject(
    spec: CaseSpec,
    loaded: Loaded,
    found: Mapping[str, Any],
    *,
    runtime: Runtime,
    parts: Iterable[Any],
    guard: StateGuard,
    log: WarningLog,
    resolve: Callable[[str], Any],
    artefacts: Artefacts | None,
    n_edits: int,
) -> Iterator[Subject]:
    """Put a model and the parts of its preprocessing in eval mode, and have its runtime open it.

    Modes and parameters are as before when the block is left.

    Raises
    ------
    ModelError
        A step raised, or cannot be taken with this model.
    RuntimeUnavailable
        The runtime refuses the model, its options or an axis.
    """
    model, case = loaded.model, spec.id
    placement = Placement.of(spec)
    with ExitStack() as stack:
        stack.enter_context(evaluating([model, *parts]))
        evaluated = apply_eval(model, case=case)
        notes = [*loaded.notes, *evaluated.warnings]
        for part in parts:
            apply_eval(part, case=case)
        if "transform" in found:
            guard.prepare()
            model = transform_model(
                found["transform"], model, case=case, reference=spec.runtime.transform or ""
            )
            stack.enter_context(evaluating([model]))
            notes += apply_eval(model, case=case).warnings
        for note in notes:
            log.note(note)
        if model is not None:
            stack.enter_context(placement.placing(model, case=case))
        else:
            placement = Placement()  # the runtime knows what its own model takes
        autocast = make_autocast(spec.autocast, model=model, device=spec.device, case=case)
        guard.prepare()
        request = RunRequest(
            case=case,
            options=spec.runtime.options,
            forward=found.get("forward"),
            identity=identify_model(
                spec,
                weights_digest=loaded.weights_digest,
                is_digest_whole=loaded.is_digest_whole,
                n_edits=n_edits,
            ),
            artefacts=artefacts,
            root=Path(spec.root),
            resolve=resolve,
            device=spec.device,
            dtype=spec.dtype,
            autocast=spec.autocast,
            memory_format=spec.memory_format,
        )
        with attributed(ModelError, f"{case}: opening runtime {spec.runtime.kind!r}"):
            runner = runtime.open(model, request)
        stack.callback(runner.close)
        yield Subject(
            passes=Passes(spec=spec, runner=runner, placement=placement, autocast=autocast),
            evaluated=evaluated,
            weights_digest=loaded.weights_digest,
            model=model,
        )
