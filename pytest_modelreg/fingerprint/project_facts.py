"""Facts that a project adds to the fingerprint: what may be one, and what may not.

What belongs here: the rules for keys and values. How a project is asked does not: that is
a hook of pytest. To add a rule, add it to :func:`_key_fault` or :func:`_read_value`.
"""

from __future__ import annotations

import math
import re
import traceback
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from pytest_modelreg.domain.environment import FactValue
from pytest_modelreg.domain.errors import Fault, ProjectFactError
from pytest_modelreg.fingerprint.collection import NO_FACTS  # its import declares our own facts
from pytest_modelreg.fingerprint.fact import declared_facts

MAX_TEXT = 500
"""Longest text of a fact, in characters: a fact is compared and shown, it is no file."""

RUNTIME_PREFIX = "runtime."
REASON_SUFFIX = "_reason"

_KEY = re.compile(r"[a-z][a-z0-9_-]*(\.[a-z0-9_-]+)+")


def ask_project_facts(ask: Callable[[], Iterable[Any]], *, source: str) -> Mapping[str, FactValue]:
    """Return the facts of all answers as one mapping of builtin scalars, keys sorted.

    Parameters
    ----------
    ask : callable
        Runs the project's code and returns what it answered, one answer an
        implementation; not trusted.
    source : str
        What is asked, for messages.

    Raises
    ------
    ProjectFactError
        When the project's code raises, and otherwise with every fault: an answer that is
        no mapping; a key that is not dotted lower case, or taken; a value that is no
        scalar, not finite, no text or too long.
    """
    try:
        answers = list(ask())
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:  # user code; pytest.fail and sys.exit raise no Exception
        got = f"{type(error).__name__}: {error} (at {find_own_line(error)})"
        got = f"expected a mapping of facts, the project's code raised {got}; mend it"
        raise ProjectFactError([Fault(where=source, message=got)]) from error
    facts: dict[str, FactValue] = {}
    faults: list[Fault] = []
    for answer in answers:
        if not isinstance(answer, Mapping):
            faults.append(
                Fault(where=source, message=f"expected a mapping of key to scalar, got {_kind(answer)}")
            )
            continue
        for key, value in answer.items():
            message = _key_fault(key)
            if message is None and key in facts:
                message = "expected a key of its own, got one that two implementations return; rename one"
            if message is None:
                facts[key], message = _read_value(value)
            if message is not None:
                faults.append(Fault(where=source, key=_shown(key), message=message))
    if faults:
        raise ProjectFactError(faults)
    return dict(sorted(facts.items())) if facts else NO_FACTS


def find_own_line(error: BaseException) -> str:
    """Return where the project's own code was when it raised: the innermost line outside of packages."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "site-packages" not in Path(frame.filename).parts] or frames
    return f"{own[-1].filename}:{own[-1].lineno}" if own else "an unknown line"


def _key_fault(key: Any) -> str | None:
    if not isinstance(key, str) or not _KEY.fullmatch(key):
        return f"expected a dotted lower-case key such as 'shop.data_version', got {_shown(key)!r}"
    ours = {known.lower() for known in declared_facts()}
    if key in ours or key.startswith(RUNTIME_PREFIX):
        return "expected a key of the project's own, got one that pytest-modelreg records itself; rename it"
    if key.endswith(REASON_SUFFIX):
        return f"expected a key that does not end in {REASON_SUFFIX}, which says why a fact is unknown"
    return None


def _read_value(value: Any) -> tuple[FactValue, str | None]:
    """Return a value as the builtin scalar it is (``torch.__version__`` is a subclass), and its fault.

    Values travel between processes and into JSON, where a subclass would not.
    """
    if value is None or isinstance(value, bool):
        return value, None
    if isinstance(value, str):
        text = str.__str__(value)
        if len(text) > MAX_TEXT:
            return None, f"expected at most {MAX_TEXT} characters, got {len(text)}; a digest of it will do"
        try:
            text.encode()
        except UnicodeEncodeError:
            return None, f"expected text, got {text!r}, which has no UTF-8"
        return text, None
    if isinstance(value, int):
        return int.__int__(value), None
    if isinstance(value, float):
        number = float.__float__(value)
        return (number, None) if math.isfinite(number) else (None, f"expected a finite number, got {number}")
    return None, f"expected text, a number, true, false or None, got {_kind(value)}; convert it"


def _kind(value: Any) -> str:
    return f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")


def _shown(key: Any) -> str:
    return key[:80] if isinstance(key, str) else repr(key)[:80]
