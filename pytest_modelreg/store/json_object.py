"""Typed reading of parsed JSON, with the key path in every fault.

What belongs here: one method a type. Unknown keys are left alone, so that a release
can add a key without a new format version.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from pytest_modelreg.domain.errors import GoldenError
from pytest_modelreg.store.array_file import RESTORE
from pytest_modelreg.store.json_text import restore_non_finite
from pytest_modelreg.store.naming import shown

T = TypeVar("T")
_ABSENT = object()
_SHA256 = re.compile(r"[0-9a-f]{64}")


class JsonObject:
    """One JSON object of a file, read key by key.

    Parameters
    ----------
    value : Any
        Parsed JSON that should be an object.
    path : pathlib.Path
        File, for messages.
    key : str
        Path to the object inside the file, keys joined by ``.``; empty for the whole.

    Raises
    ------
    GoldenError
        From the constructor and every method, when a value is missing or of another
        type: ``file: key: expected X, got Y``.
    """

    def __init__(self, value: Any, path: Path, key: str = "") -> None:
        self._path = path
        self._key = key
        if not isinstance(value, dict):
            raise self._fault(key, "an object", value)
        self._value: dict[str, Any] = value

    def __contains__(self, key: str) -> bool:
        return self._value.get(key) is not None

    def text(self, key: str) -> str:
        """Return a string."""
        return self._get(key, "text", lambda value: value if isinstance(value, str) else None)

    def one_of(self, key: str, allowed: tuple[str, ...]) -> str:
        """Return a string out of a closed set."""
        return self._get(
            key, " or ".join(allowed), lambda value: next((name for name in allowed if name == value), None)
        )

    def sha256(self, key: str) -> str:
        """Return 64 hex digits."""
        return self._get(
            key,
            "64 hex digits",
            lambda value: value if isinstance(value, str) and _SHA256.fullmatch(value) else None,
        )

    def integer(self, key: str) -> int:
        """Return an integer; true and false are none."""
        return self._get(key, "an integer", lambda value: value if type(value) is int else None)

    def boolean(self, key: str) -> bool:
        """Return true or false."""
        return self._get(key, "true or false", lambda value: value if isinstance(value, bool) else None)

    def number(self, key: str) -> float:
        """Return a number, also one that was not finite when it was written."""
        value = restore_non_finite(
            {key: self._value.get(key), key + "_reason": self._value.get(key + "_reason")}
        )[key]
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise self._fault(self._at(key), "a number", self._shown_value(key))
        return float(value)

    def optional(self, key: str, read: Callable[[str], T]) -> T | None:
        """Return what ``read`` (a method of this object) returns, None for null or absent."""
        return read(key) if key in self else None

    def mapping(self, key: str) -> dict[str, Any]:
        """Return an object of free content, non-finite numbers restored."""
        restored: dict[str, Any] = restore_non_finite(self._get(key, "an object", _as_dict))
        return restored

    def scalars(self, key: str) -> dict[str, str | int | float | bool | None]:
        """Return an object of text, numbers, true, false and null."""
        for name, item in (values := self.mapping(key)).items():
            if isinstance(item, (dict, list)):
                raise self._fault(f"{self._at(key)}.{name}", "a scalar", item)
        return values

    def objects(self, key: str) -> Iterator[tuple[str, JsonObject]]:
        """Yield name and content of each object in an object."""
        for name, item in self._get(key, "an object", _as_dict).items():
            yield name, JsonObject(item, self._path, f"{self._at(key)}.{name}")

    def object(self, key: str) -> JsonObject:
        """Return an object with keys of its own."""
        return JsonObject(self._get(key, "an object", _as_dict), self._path, self._at(key))

    def records(self, key: str) -> Iterator[JsonObject]:
        """Yield each object of a list."""
        for index, item in enumerate(self._get(key, "a list", _as_list)):
            yield JsonObject(item, self._path, f"{self._at(key)}[{index}]")

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of strings."""
        return tuple(self._items(key, "text", lambda item: isinstance(item, str)))

    def shape(self, key: str) -> tuple[int, ...]:
        """Return a list of lengths, -1 where rows differ."""
        return tuple(self._items(key, "a length", lambda item: type(item) is int and item >= -1))

    def _items(self, key: str, expected: str, fits: Callable[[Any], bool]) -> list[Any]:
        items = self._get(key, "a list", _as_list)
        for index, item in enumerate(items):
            if not fits(item):
                raise self._fault(f"{self._at(key)}[{index}]", expected, item)
        return items

    def _get(self, key: str, expected: str, convert: Callable[[Any], T | None]) -> T:
        converted = convert(self._value.get(key))
        if converted is None:
            raise self._fault(self._at(key), expected, self._shown_value(key))
        return converted

    def _shown_value(self, key: str) -> Any:
        return self._value.get(key, _ABSENT)

    def _at(self, key: str) -> str:
        return f"{self._key}.{key}" if self._key else key

    def _fault(self, key: str, expected: str, value: Any) -> GoldenError:
        got = "nothing" if value is _ABSENT else repr(value)
        if len(got) > 60:
            got = got[:57] + "..."
        parts = [shown(self._path), key, f"expected {expected}, got {got}; {RESTORE}"]
        return GoldenError(": ".join(part for part in parts if part))


def _as_dict(value: Any) -> dict[str, Any] | None:
    return value if isinstance(value, dict) else None


def _as_list(value: Any) -> list[Any] | None:
    return value if isinstance(value, list) else None
