"""The model: built by the suite's factory, put in eval mode, and left as it was found.

What belongs here: calling the factory and the transform, and the model's mode. Weights are
in ``weights``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from pytest_modelreg.domain.errors import ModelError
from pytest_modelreg.observe.user_code import attributed

MAX_TRAINING_MODULES = 20
ROOT_MODULE = "(model)"


@dataclass(frozen=True, kw_only=True)
class EvalOutcome:
    """What calling ``eval()`` did: in which mode the model was, and what became of it.

    Parameters
    ----------
    training_modules : tuple of str
        In train mode before ``eval()``, at most 20 names; the root is ``(model)``.
    eval_applied : bool
        False for a plain callable, and for a module that has no ``eval()``.
    warnings : tuple of str
        What is wrong with the mode after ``eval()``.
    """

    training_modules: tuple[str, ...] = ()
    eval_applied: bool = False
    warnings: tuple[str, ...] = ()


def is_module(value: Any) -> bool:
    """Whether a value is a torch module; never imports torch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.nn.Module)


def has_mode(module: Any) -> bool:
    """Whether a module can be in train or eval mode: one that torch.jit.freeze returned cannot."""
    return hasattr(module, "training")


def build_model(
    factory: Any, model_args: Mapping[str, Any], *, case: str, reference: str, is_called: bool = True
) -> Any:
    """Call the suite's factory.

    Parameters
    ----------
    is_called : bool
        Whether what it returns must be callable: some runtimes call a method of it.

    Returns
    -------
    torch.nn.Module or callable

    Raises
    ------
    ModelError
        The factory raised, is itself a module, or returned nothing that can be called.
    """
    what = f"{case}: model {reference!r}"
    if is_module(factory):
        raise ModelError(
            f"{what}: expected a factory, got a module ({type(factory).__name__}); "
            f"name a function that returns it"
        )
    hint = "a factory is called with model_args and returns the model"
    with attributed(ModelError, f"{what}: calling it with {_format_arguments(model_args)}", hint):
        model = factory(**model_args)
    if model is None or (is_called and not callable(model)):
        raise ModelError(
            f"{what}: expected the factory to return a module or a callable, "
            f"got {type(model).__name__} {model!r:.80}; return the model alone"
        )
    return model


def transform_model(transform: Any, model: Any, *, case: str, reference: str) -> Any:
    """Call the suite's transform with a model in eval mode, and return the model to run.

    Raises
    ------
    ModelError
        The transform raised, or returned nothing that can be called.
    """
    what = f"{case}: transform {reference!r}"
    with attributed(ModelError, f"{what}: calling it with {type(model).__name__}"):
        transformed = transform(model)
    if transformed is None:
        raise ModelError(f"{what} returned None: is a `return` missing? It returns the model to run")
    if not callable(transformed):
        raise ModelError(
            f"{what}: expected it to return a module or a callable, "
            f"got {type(transformed).__name__} {transformed!r:.80}; return the model alone"
        )
    return transformed


@contextmanager
def evaluating(modules: Iterable[Any]) -> Iterator[None]:
    """Restore the training flag of every submodule when the block is left.

    A factory may return a module, or a reference name a transform, that the user's own
    tests use too.
    """
    flags = [
        (part, part.training)
        for module in modules
        if is_module(module)
        for part in module.modules()
        if has_mode(part)
    ]
    try:
        yield
    finally:
        for part, flag in flags:
            if part.training != flag:
                part.training = flag


def apply_eval(model: Any, *, case: str) -> EvalOutcome:
    """Put a model in eval mode and record how it was found.

    Raises
    ------
    ModelError
        The model's own ``eval()`` raised.
    """
    if not is_module(model):
        return EvalOutcome()
    if not has_mode(model):
        return EvalOutcome()
    training = _list_training(model)
    applied = True
    notes = []
    try:
        with attributed(ModelError, f"{case}: model.eval()"):
            model.eval()
    except ModelError as error:
        # Exported programs have a mode of their own and refuse eval().
        if not isinstance(error.__cause__, NotImplementedError):
            raise
        applied = False
        notes.append(f"model.eval() is not supported: {error.__cause__}")
    still = _list_training(model) if applied else ()
    if still:
        notes.append(f"still in train mode after eval(): {', '.join(still)}")
    return EvalOutcome(training_modules=training, eval_applied=applied, warnings=tuple(notes))


def _list_training(model: Any) -> tuple[str, ...]:
    names = (name or ROOT_MODULE for name, part in model.named_modules() if has_mode(part) and part.training)
    return tuple(name for name, _ in zip(names, range(MAX_TRAINING_MODULES), strict=False))


def _format_arguments(arguments: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value!r:.80}" for name, value in arguments.items()) or "no arguments"
