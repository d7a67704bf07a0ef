"""One fact: a dotted key, the function that reads it, and how it may stay unknown.

What belongs here: the decorator that declares a fact, the table of declared facts and
the rule by which a failing reader becomes a reason. The readers themselves live in
``collectors``, one module a subject.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from pytest_modelreg.domain.environment import FactValue

Reader = Callable[[], FactValue]
_R = TypeVar("_R", bound=Reader)

READING_ERRORS = (AttributeError, ImportError, LookupError, OSError, RuntimeError, TypeError, ValueError)
"""What the interfaces that facts are read from raise: a framework without an attribute
or with settings that contradict each other, a file that is not there, text in another
form. A fact is never worth a failed run; anything else is a fault of ours and is seen."""


class Unknown(Exception):
    """Raised by a reader whose fact cannot be known here; the argument says why."""


@dataclass(frozen=True, kw_only=True)
class Fact:
    """A declared fact.

    Parameters
    ----------
    key : str
        Dotted name in the fingerprint: ``torch.version``.
    read : callable
        Returns the value or raises :class:`Unknown` with the reason.
    neutral : bool
        Whether the fact cannot move a number: it is recorded, but neither in the
        digest nor in the list of environment changes.
    fixed : bool
        Whether it cannot change while the process lives, so that it is read once.
    module : str or None
        The module that has to be loaded for the fact to move a number: a package that
        is installed but not used makes no difference.
    """

    key: str
    read: Reader
    neutral: bool
    fixed: bool
    module: str | None = None

    @property
    def is_neutral_here(self) -> bool:
        """Whether the fact cannot move a number of this process, as it is now."""
        return self.neutral or (self.module is not None and self.module not in sys.modules)


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What reading a fact gave: the value, or None with the reason."""

    value: FactValue
    reason: str | None = None


_DECLARED: dict[str, Fact] = {}
_FIXED_READINGS: dict[str, Reading] = {}


def fact(
    key: str, *, neutral: bool = False, fixed: bool = False, module: str | None = None
) -> Callable[[_R], _R]:
    """Declare the decorated function as the reader of the fact ``key``.

    Parameters
    ----------
    key : str
        Dotted name, unique in the process.
    neutral, fixed : bool
        As in :class:`Fact`.
    module : str, optional
        As in :class:`Fact`.

    Raises
    ------
    ValueError
        If another reader has the key already: one of the two would be lost silently.
    """

    def declare(read: _R) -> _R:
        if key in _DECLARED:
            other = _DECLARED[key].read
            raise ValueError(
                f"fact {key!r}: expected one reader, got two: {other.__module__}.{other.__qualname__} "
                f"and {read.__module__}.{read.__qualname__}; rename one key"
            )
        _DECLARED[key] = Fact(key=key, read=read, neutral=neutral, fixed=fixed, module=module)
        return read

    return declare


def declared_facts() -> Mapping[str, Fact]:
    """Return every declared fact by key, in the order of declaration."""
    return dict(_DECLARED)


def read_fact(declared: Fact) -> Reading:
    """Read a fact; a reader that fails leaves a reason instead of an exception."""
    known = _FIXED_READINGS.get(declared.key) if declared.fixed else None
    if known is not None:
        return known
    try:
        reading = Reading(value=declared.read())
    except Unknown as unknown:
        # Not kept even when fixed: what is unknown now may be known once a package is loaded.
        return Reading(value=None, reason=str(unknown))
    except READING_ERRORS as error:
        # The type alone: messages of the operating system carry paths and user names.
        return Reading(value=None, reason=f"could not be read ({type(error).__name__})")
    if declared.fixed:
        _FIXED_READINGS[declared.key] = reading
    return reading
