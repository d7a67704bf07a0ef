"""Weights: a state dict into a model, whole or not at all, and the digest of a model's.

What belongs here: fitting names (``module.`` of DataParallel, ``_orig_mod.`` of
torch.compile), naming every key that does not fit, and hashing what was loaded.
What of a value is hashed is ``weight_values``'.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_modelreg.domain.case import CheckpointRef
from pytest_modelreg.domain.errors import CheckpointError
from pytest_modelreg.domain.key_prefix import describe_prefix
from pytest_modelreg.domain.listing import name_some
from pytest_modelreg.domain.observation import STRIPPED_KEYS
from pytest_modelreg.observe.arrays import is_tensor
from pytest_modelreg.observe.checkpoint import read_checkpoint
from pytest_modelreg.observe.model import is_module
from pytest_modelreg.observe.user_code import attributed, describe_error
from pytest_modelreg.observe.weight_values import WeightValues, has_values
from pytest_modelreg.trace import digest_arrays

_WRAPPER_PREFIXES = {"module.": "torch.nn.DataParallel", "_orig_mod.": "torch.compile"}
_LISTED = 20
_MEND = (
    "save model.state_dict() of this architecture, or name the factory that built it, with its model_args; a "
    "factory that loads weights in a way of its own needs no checkpoint in the suite"
)


def load_weights(model: Any, checkpoint: CheckpointRef, *, case: str) -> tuple[str, ...]:
    """Load a checkpoint into a model, strictly.

    Returns
    -------
    tuple of str
        What was done to its keys so that they fit, a line each.

    Raises
    ------
    CheckpointError
        The model is no module, the file cannot be read, or keys are missing,
        unexpected or of another shape: one message names them all.
    """
    if not is_module(model):
        raise CheckpointError(
            f"{case}: checkpoint {checkpoint.path}: expected the model to be a torch.nn.Module, "
            f"got {type(model).__name__}; load the weights in the factory, or remove the checkpoint"
        )
    own = model.state_dict()
    state, notes = _strip_wrappers(read_checkpoint(checkpoint), own)
    missing, unexpected, refused = _load(model, state, own, f"{case}: checkpoint {checkpoint.path}")
    parts = [
        _list_faults("missing in the checkpoint", missing),
        _list_faults("unexpected in the checkpoint", unexpected),
        _list_faults("of another shape", refused),
    ]
    faults = [part for part in parts if part]
    if faults:
        prefix = describe_prefix(unexpected, missing)
        raise CheckpointError(
            f"{case}: checkpoint {checkpoint.path} does not fit {type(model).__name__}: "
            f"{len(own)} keys expected, {len(state)} got{f'; {prefix}' if prefix else ''}\n"
            + "\n".join(faults)
            + f"\n  {_MEND}"
        )
    return notes


def digest_weights(model: Any) -> str | None:
    """Return one sha256 over the names and values of a model's state dict.

    Tensors count by dtype, shape and bytes; see :class:`~.weight_values.WeightValues` for everything
    else. None for a model that is no module.

    Raises
    ------
    ModelError
        A tensor has no values yet: a lazy module that was never called.
    """
    return examine_weights(model)[0]


def examine_weights(model: Any) -> tuple[str | None, bool]:
    """Return what :func:`digest_weights` does, and whether it covers every value.

    It does not where the state dict holds an object of unknown type: then models of one digest may
    differ.
    """
    if not is_module(model):
        return None, False
    values = WeightValues(model.state_dict())
    digest = digest_arrays(values.list_parts())
    return digest, not values.opaque


def _load(
    model: Any, state: Mapping[str, Any], own: Mapping[str, Any], what: str
) -> tuple[list[str], list[str], list[str]]:
    """Return missing keys, unexpected keys and what torch refused to copy."""
    refused: list[str] = []
    result: Any = None
    with attributed(CheckpointError, what):
        try:
            result = model.load_state_dict(state, strict=False)
        except RuntimeError as error:
            refused = _list_unequal_shapes(state, own) or [describe_error(error)]
    if result is None:
        missing = [name for name in own if name not in state]
        unexpected = [name for name in state if name not in own]
    else:
        # torch's own list: it knows buffers that older checkpoints may lack.
        missing, unexpected = list(result.missing_keys), list(result.unexpected_keys)
    given = {_place_of(own[name]) for name in own if name in state}
    missing = [name for name in missing if name not in own or _place_of(own[name]) not in given]
    return missing, unexpected, refused


def _place_of(value: Any) -> tuple[Any, ...]:
    """Where a tensor lies: tied weights are saved once, under either name."""
    if not is_tensor(value) or not has_values(value) or str(value.layout) != "torch.strided":
        return (id(value),)
    pointer = value.data_ptr()
    return (pointer, tuple(value.shape), tuple(value.stride())) if pointer else (id(value),)


def _list_unequal_shapes(state: Mapping[str, Any], own: Mapping[str, Any]) -> list[str]:
    return [
        f"{name} (model {list(own[name].shape)}, checkpoint {list(state[name].shape)})"
        for name in own
        if is_tensor(own[name])
        and is_tensor(state.get(name))
        and has_values(own[name])
        and own[name].shape != state[name].shape
    ]


def _strip_wrappers(
    state: Mapping[str, Any], own: Mapping[str, Any]
) -> tuple[Mapping[str, Any], tuple[str, ...]]:
    """Return a state dict without what a wrapper put before all of its names, and notes that say so."""
    notes = []
    while state and not (state.keys() & own.keys()):
        prefix = next((p for p in _WRAPPER_PREFIXES if all(name.startswith(p) for name in state)), None)
        if prefix is None:
            break
        state = {name[len(prefix) :]: value for name, value in state.items()}
        notes.append(
            f"{STRIPPED_KEYS} {prefix!r}, which {_WRAPPER_PREFIXES[prefix]} puts there and the model's do "
            "not have: loaded without it"
        )
    return state, tuple(notes)


def _list_faults(what: str, names: list[str]) -> str:
    if not names:
        return ""
    return f"  {len(names)} {what}: {name_some(names, _LISTED)}"
