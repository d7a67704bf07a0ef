"""Which of a model's weights were loaded while it was built, and which are as its factory makes them.

What belongs here: watching, or leaving out, every ``load_state_dict`` of a build, and building from seeds
that are not the factory's. A factory that copies weights in another way is told by the seeds alone.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np

MAX_STRAYS = 200
"""Keys that no tensor took: a prefix shows in any of them."""

_SHIFT = 1
_METHOD = "load_state_dict"


class LoadWatch:
    """Notes what ``load_state_dict`` is given while a model is built.

    Parameters
    ----------
    is_skipping : bool
        Whether nothing is loaded: every call returns as if all had fit.

    Attributes
    ----------
    n_loads : int
        Calls, those of one inside another left out.
    strays : dict of str to None
        Keys that were given and that no entry of the module took, in order.
    """

    def __init__(self, *, is_skipping: bool = False) -> None:
        self._is_skipping = is_skipping
        self._reached: dict[int, Any] = {}
        self._depth = 0
        self.n_loads = 0
        self.strays: dict[str, None] = {}

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Have every module tell inside the block what it is given; without torch nothing is watched."""
        torch = sys.modules.get("torch")
        if torch is None:
            yield
            return
        module: Any = torch.nn.Module
        load = module.load_state_dict

        def load_watched(part: Any, state_dict: Any, *args: Any, **kwargs: Any) -> Any:
            if self._is_skipping:
                self.n_loads += not self._depth
                return torch.nn.modules.module._IncompatibleKeys([], [])
            self._depth += 1
            try:
                result = load(part, state_dict, *args, **kwargs)
            finally:
                self._depth -= 1
            if not self._depth:
                self._note(part, state_dict)
            return result

        setattr(module, _METHOD, load_watched)
        try:
            yield
        finally:
            setattr(module, _METHOD, load)

    def list_reached(self, model: Any) -> frozenset[str]:
        """Return the entries of a model's state dict that a load gave values to, whichever module it was."""
        if not self._reached:
            return frozenset()
        entries = model.state_dict(keep_vars=True)
        return frozenset(name for name, entry in entries.items() if id(entry) in self._reached)

    def _note(self, part: Any, state: Any) -> None:
        self.n_loads += 1
        own = part.state_dict(keep_vars=True)
        # By identity, which a tied weight has under both of its names; kept alive, so that ids stay its own.
        self._reached.update((id(own[name]), own[name]) for name in state if name in own)
        for name in state:
            if name not in own and len(self.strays) < MAX_STRAYS:
                self.strays.setdefault(str(name))


@contextmanager
def shifted_seeds() -> Iterator[None]:
    """Have whole numbers that user code seeds global generators with be others inside the block.

    A factory that begins with ``torch.manual_seed(0)`` is otherwise built the same from every seed, and
    what it draws looks like what it loads.
    """
    torch = sys.modules.get("torch")
    places: list[tuple[Any, str]] = [(random, "seed"), (np.random, "seed")]
    if torch is not None:
        places += [(torch, "manual_seed"), (torch.random, "manual_seed"), (torch.cuda, "manual_seed_all")]
    with ExitStack() as stack:
        for owner, name in places:
            original: Callable[..., Any] = getattr(owner, name)
            stack.callback(setattr, owner, name, original)
            setattr(owner, name, _shift_argument(original))
        yield


def _shift_argument(original: Callable[..., Any]) -> Callable[..., Any]:
    def seed_otherwise(*args: Any, **kwargs: Any) -> Any:
        moved = [_shift(value) for value in args]
        return original(*moved, **{name: _shift(value) for name, value in kwargs.items()})

    return seed_otherwise


def _shift(value: Any) -> Any:
    is_number = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    return type(value)(value ^ _SHIFT) if is_number else value
