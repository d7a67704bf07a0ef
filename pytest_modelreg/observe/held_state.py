"""What a preprocess remembers: the values that its code can reach and change, before and after the pass.

What belongs here: finding those values, and putting them back for a moment. A preprocess that took
the statistics of whichever sample came first gives the same again and again, so that preparing a
sample twice shows nothing; only with its memory as it was before does it show what it would have made.
To follow one more way of keeping a value, add it to :meth:`HeldState._follow`.

Only plain values and objects of the suite's own classes are followed. What libraries hold may live in
memory that nobody can put back.
"""

from __future__ import annotations

import functools
import inspect
import sys
import types
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from pytest_modelreg.observe.arrays import is_tensor
from pytest_modelreg.observe.user_code import is_library
from pytest_modelreg.observe.value_places import (
    Cell,
    Items,
    Names,
    Numbers,
    Place,
    count_bytes,
    is_dunder,
    is_same,
)

MAX_VALUES = 2000
"""Values that are followed: what keeps state keeps it near."""

_MAX_LENGTH = 10_000
_MAX_CHILDREN = 256
_MAX_BYTES = 1 << 20
_MAX_BYTES_IN_ALL = 8 << 20  # a model may be among what a module holds


class HeldState:
    """The memory of some callables as it is when this is made.

    Parameters
    ----------
    roots : iterable of Any
        Functions and objects of the suite.
    """

    def __init__(self, roots: Iterable[Any]) -> None:
        self._roots = tuple(roots)
        self._places: list[Place] = []
        self._seen: dict[int, Any] = {}
        self._n_bytes_left = _MAX_BYTES_IN_ALL
        waiting = deque(self._roots)
        while waiting and len(self._seen) < MAX_VALUES:
            value = waiting.popleft()
            if id(value) not in self._seen:
                self._seen[id(value)] = value  # kept alive, so that no other gets its id
                waiting.extend(self._follow(value))
        self._before = [place.read() for place in self._places]

    def renew(self) -> HeldState:
        """Return the memory as it is now."""
        return HeldState(self._roots)

    def has_changed(self) -> bool:
        """Whether something that can be reached is no longer what it was."""
        return any(
            not is_same(place.read(), before)
            for place, before in zip(self._places, self._before, strict=True)
        )

    @contextmanager
    def as_it_was(self) -> Iterator[None]:
        """Put everything back to what it was, and afterwards to what it is now."""
        now = [place.read() for place in self._places]
        self._write(self._before)
        try:
            yield
        finally:
            self._write(now)

    def _write(self, contents: list[Any]) -> None:
        for place, content in zip(self._places, contents, strict=True):
            place.write(content)

    def _follow(self, value: Any) -> Iterator[Any]:
        """Note the place that a value is, and yield what can be reached from it."""
        if isinstance(value, functools.partial):
            yield from (value.func, *value.args, *value.keywords.values())
        elif inspect.ismethod(value):
            yield from (value.__self__, value.__func__)
        elif isinstance(value, types.FunctionType):
            yield from self._follow_function(value)
        elif isinstance(value, type):
            if _is_own(value):
                yield from self._follow_names(
                    vars(value),
                    lambda name, content: setattr(value, name, content),
                    lambda name: delattr(value, name),
                )
        elif type(value) is dict:
            if len(value) <= _MAX_LENGTH:
                yield from self._follow_names(value, value.__setitem__, value.__delitem__)
        elif type(value) in (list, set, deque):
            if len(value) <= _MAX_LENGTH:
                self._places.append(Items(value))
                yield from _list_few(value)
        elif type(value) is tuple:
            yield from _list_few(value)
        elif is_tensor(value) or isinstance(value, np.ndarray):
            n_bytes = count_bytes(value)
            if n_bytes is not None and n_bytes <= min(_MAX_BYTES, self._n_bytes_left):
                self._n_bytes_left -= n_bytes
                self._places.append(Numbers(value))
        elif _is_own(type(value)) and isinstance(getattr(value, "__dict__", None), dict):
            names = value.__dict__
            yield type(value)
            yield from self._follow_names(names, names.__setitem__, names.__delitem__)

    def _follow_function(self, function: types.FunctionType) -> Iterator[Any]:
        if is_library(function.__code__.co_filename):
            return
        yield from function.__defaults__ or ()
        yield from (function.__kwdefaults__ or {}).values()
        yield function.__dict__
        for cell in function.__closure__ or ():
            place = Cell(cell)
            self._places.append(place)
            yield place.read()
        names = function.__globals__
        if id(names) not in self._seen:
            self._seen[id(names)] = names
            yield from self._follow_names(names, names.__setitem__, names.__delitem__)

    def _follow_names(
        self,
        names: Mapping[Any, Any],
        put: Callable[[Any, Any], None],
        remove: Callable[[Any], None],
    ) -> Iterator[Any]:
        self._places.append(Names(names, put, remove))
        yield from _list_few(
            value
            for name, value in list(names.items())
            if not is_dunder(name) and not isinstance(value, types.ModuleType)
        )


def _list_few(values: Iterable[Any]) -> list[Any]:
    """Return values that may hold others; those of a long table are constants."""
    found = [value for value in values if not isinstance(value, (str, bytes, int, float, type(None)))]
    return found if len(found) <= _MAX_CHILDREN else []


def _is_own(kind: type) -> bool:
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    return isinstance(file, str) and not is_library(file)
