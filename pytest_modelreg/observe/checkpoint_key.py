"""Where the state dict sits inside what a checkpoint file holds.

What belongs here: following ``key`` through nested mappings, and telling the user which
key was probably meant when a whole training checkpoint was given.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pytest_modelreg.domain.case import CheckpointRef
from pytest_modelreg.domain.errors import CheckpointError
from pytest_modelreg.domain.listing import name_some
from pytest_modelreg.domain.nearest import suggest
from pytest_modelreg.observe.arrays import is_tensor

_LISTED = 20
_SAVE = "save model.state_dict() alone, or name the key of the state dict with {path, key}"
_EXTRA_STATE = "_extra_state"  # torch's own name for what modules keep beside tensors


def select_state_dict(content: Any, checkpoint: CheckpointRef) -> Mapping[str, Any]:
    """Return the state dict at a checkpoint's key, or the whole file when it has none.

    Raises
    ------
    CheckpointError
        The key does not exist (the nearest and all others are named), or what is there
        is no mapping of names to tensors (keys that hold one are proposed).
    """
    found = content if checkpoint.key is None else _follow(content, checkpoint.key, checkpoint.path)
    if _is_state_dict(found):
        return dict(found)
    where = f"checkpoint {checkpoint.path}" + (f", key {checkpoint.key!r}" if checkpoint.key else "")
    if not isinstance(found, Mapping):
        raise CheckpointError(f"{where}: expected a state dict, got {type(found).__name__}; {_SAVE}")
    if not found:
        raise CheckpointError(f"{where}: expected a state dict, got an empty mapping; {_SAVE}")
    prefix = f"{checkpoint.key}." if checkpoint.key else ""
    candidates = [f"{prefix}{path}" for path in _find_state_dicts(found)]
    if candidates:
        proposals = " or ".join(f"{{path: {checkpoint.path}, key: {key}}}" for key in candidates[:_LISTED])
        raise CheckpointError(
            f"{where}: expected a state dict, got a training checkpoint with keys {_list_keys(found)}; "
            f"write checkpoint: {proposals}"
        )
    faulty = [key for key, value in found.items() if not is_tensor(value)]
    raise CheckpointError(
        f"{where}: expected names and tensors, got other values at {_list_keys(faulty)}; {_SAVE}"
    )


def _follow(content: Any, key: str, path: str) -> Any:
    found, done, rest = content, "", key
    while rest:
        if not isinstance(found, Mapping):
            raise CheckpointError(
                f"checkpoint {path}: key {key!r}: {done!r} is no mapping but {type(found).__name__}; "
                f"name a key that leads to a state dict"
            )
        # Keys may hold dots themselves: the longest that exists is taken.
        step = next((part for part in _prefixes(rest) if part in found), None)
        if step is None:
            known = [str(name) for name in found]
            at = f" at {done!r}" if done else ""
            raise CheckpointError(
                f"checkpoint {path}: key {key!r}: no {rest!r}{at}{suggest(rest, known)}; "
                f"there are {_list_keys(known)}; write one of them as the checkpoint's key"
            )
        found = found[step]
        done = f"{done}.{step}" if done else step
        rest = rest[len(step) + 1 :]
    return found


def _prefixes(key: str) -> Iterator[str]:
    parts = key.split(".")
    for length in range(len(parts), 0, -1):
        yield ".".join(parts[:length])


def _is_state_dict(value: Any) -> bool:
    return (
        isinstance(value, Mapping)
        and any(is_tensor(item) for item in value.values())
        and all(is_tensor(item) or str(name).endswith(_EXTRA_STATE) for name, item in value.items())
    )


def _find_state_dicts(value: Mapping[Any, Any], depth: int = 2) -> Iterator[str]:
    for name, item in value.items():
        if _is_state_dict(item):
            yield str(name)
        elif isinstance(item, Mapping) and depth > 1:
            yield from (f"{name}.{inner}" for inner in _find_state_dicts(item, depth - 1))


def _list_keys(keys: Any) -> str:
    return name_some((repr(str(key)) for key in keys), _LISTED)
