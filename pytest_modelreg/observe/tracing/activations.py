"""What every module returned, as sketches small enough to keep: where two runs first part.

What belongs here: hooks around one forward pass, and the rows they write. Which module two runs part at
is ``diagnose``'s.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_modelreg.domain.errors import OutputError
from pytest_modelreg.domain.trace import ModuleFacts
from pytest_modelreg.observe.arrays import is_tensor, to_array
from pytest_modelreg.observe.model import ROOT_MODULE, is_module
from pytest_modelreg.observe.tracing.function_watch import watch_functions
from pytest_modelreg.observe.tracing.weight_facts import take_evenly
from pytest_modelreg.store.element_type import decode
from pytest_modelreg.trace import CountSketch, count_columns, make_row

N_BUCKETS = 32
"""They estimate a relative error to about 13 %, in 272 bytes a call."""

N_COLUMNS = count_columns(N_BUCKETS)
MAX_CALLS = 2_000
_MAX_DEPTH = 8
_MAX_SETTINGS = 200


class CallWatch:
    """Notes the calls of one forward pass.

    Attributes
    ----------
    rows : dict of str to numpy.ndarray
        By call, in the order in which they returned: float64, axes (column,).
    training : set of str
        Modules that were in train mode when they were called.
    train_calls, draws : set of str
        As in :class:`~pytest_modelreg.domain.trace.Behaviour`.
    """

    def __init__(self, model: Any) -> None:
        self._model = model
        self._n_calls: dict[str, int] = {}
        self.rows: dict[str, NDArray[np.float64]] = {}
        self._within: list[str] = []
        self.training: set[str] = set()
        self.train_calls: set[str] = set()
        self.draws: set[str] = set()

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Have every module tell of its calls inside the block."""
        with ExitStack() as stack:
            for name, part in list_modules(self._model):
                entering = part.register_forward_pre_hook(self._make_pre_hook(name))
                stack.callback(entering.remove)
                leaving = part.register_forward_hook(self._make_hook(name))
                stack.callback(leaving.remove)
            if "torch" in sys.modules:
                stack.enter_context(watch_functions(self._note_function))
            yield

    def _note_function(self, function: str, *, trains: bool) -> None:
        place = self._within[-1] if self._within else ROOT_MODULE
        (self.train_calls if trains else self.draws).add(f"{place}: {function}")

    def _make_pre_hook(self, name: str) -> Any:
        def enter(module: Any, _: Any) -> None:
            self._within.append(name)

        return enter

    def _make_hook(self, name: str) -> Any:
        def note(module: Any, _: Any, returned: Any) -> None:
            if self._within and self._within[-1] == name:
                self._within.pop()
            if module.training:
                self.training.add(name)
            if len(self.rows) >= MAX_CALLS:
                return
            count = self._n_calls[name] = self._n_calls.get(name, 0) + 1
            self.rows[name if count == 1 else f"{name}#{count}"] = sketch_returned(returned)

        return note


def list_modules(model: Any) -> Iterator[tuple[str, Any]]:
    """Yield path and module of every part that can tell of its calls; compiled and scripted ones cannot."""
    if not is_module(model):
        return
    torch = sys.modules["torch"]
    for name, part in model.named_modules():
        if not isinstance(part, torch.jit.ScriptModule):
            yield name or ROOT_MODULE, part


def describe_modules(model: Any) -> tuple[ModuleFacts, ...]:
    """Return every module with its settings, parents before their parts.

    To be asked before the model runs: a module may count its calls in an attribute.
    """
    return tuple(
        ModuleFacts(name=name, settings=_describe(part), is_training=bool(part.training))
        for name, part in list_modules(model)
    )


def sketch_returned(returned: Any) -> NDArray[np.float64]:
    """Return the row of what a module returned; NaN where there are no numbers in it."""
    sketch = CountSketch(N_BUCKETS)
    found = False
    for array, dtype in _iterate_arrays(returned, 0):
        found = True
        sketch.add(decode(take_evenly(array), dtype))
    return make_row(sketch) if found else np.full(N_COLUMNS, np.nan)


def _iterate_arrays(value: Any, depth: int) -> Iterator[tuple[NDArray[Any], str]]:
    if is_tensor(value) or isinstance(value, np.ndarray):
        try:
            yield to_array(value)
        except OutputError:  # objects, nested tensors: nothing to be compared
            return
    elif depth < _MAX_DEPTH:
        if isinstance(value, dict):
            parts: Any = value.values()
        elif isinstance(value, (tuple, list)):
            parts = value
        else:  # a dataclass-like output of a library
            parts = getattr(value, "__dict__", {}).values()
        for part in list(parts):
            yield from _iterate_arrays(part, depth + 1)


def _describe(part: Any) -> str:
    kind = type(part).__name__
    if type(part).__module__.partition(".")[0] != "torch":
        # Settings of the project's own classes are their plain attributes: extra_repr is rarely written.
        plain = {
            key: value
            for key, value in sorted(vars(part).items())
            if not key.startswith("_") and key != "training" and type(value) in (bool, int, float, str)
        }
        text = ", ".join(f"{key}={value!r}" for key, value in plain.items())
    else:
        text = part.extra_repr()
    return f"{kind}({' '.join(text.split())})"[:_MAX_SETTINGS]
