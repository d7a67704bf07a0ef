"""Options of a runtime, held against what they must look like.

What belongs here: the checks of single option values, and running a table of them. They
import no framework, so that a suite file is checked when it is read. A check returns
what is wrong, ``expected X, got Y``, or None. To add one, write a function that takes
the value and the suite's folder, and name it in a runtime's table.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_modelreg.domain.errors import RuntimeUnavailable
from pytest_modelreg.domain.nearest import suggest
from pytest_modelreg.runtimes.packaged_file import is_inside, list_package_folders, place_file

Check = Callable[[Any, Path], str | None]
"""From a value and the suite's folder to what is wrong with it, None when nothing is."""

_REFERENCE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")
_MAX_CHARS = 60


def find_option_faults(
    checks: Mapping[str, Check], options: Mapping[str, Any], root: Path
) -> list[tuple[str, str]]:
    """List the options whose value is wrong, each with what is; unknown options are not looked at."""
    found = ((name, checks[name](value, root)) for name, value in options.items() if name in checks)
    return [(name, fault) for name, fault in found if fault is not None]


def refuse_option_faults(
    case: str, runtime: str, known: frozenset[str], options: Mapping[str, Any], faults: list[tuple[str, str]]
) -> None:
    """Refuse options that a runtime does not know, and values that are wrong, all at once.

    Raises
    ------
    RuntimeUnavailable
        Such an option: one that does nothing is refused, never ignored.
    """
    lines = [f"{name}: {fault}" for name, fault in faults]
    unknown = sorted(map(str, options.keys() - known))
    if unknown and not known:
        lines.append(f"expected no options, got {', '.join(unknown)}; remove them")
    elif unknown:
        expected = ", ".join(sorted(known))
        lines += [f"expected {expected}, got {name!r}{suggest(name, known)}" for name in unknown]
    if lines:
        raise RuntimeUnavailable(f"{case}: runtime {runtime!r}: " + "; ".join(lines))


def one_of(*words: str) -> Check:
    """Check that a value is one of these words."""

    def check(value: Any, root: Path) -> str | None:
        if value in words and isinstance(value, str):
            return None
        hint = suggest(value, words) if isinstance(value, str) else ""
        return f"expected one of {', '.join(words)}, got {describe(value)}{hint}"

    return check


def whole_number(minimum: int) -> Check:
    """Check that a value is a whole number and not below ``minimum``."""

    def check(value: Any, root: Path) -> str | None:
        if isinstance(value, int) and not isinstance(value, bool) and value >= minimum:
            return None
        return f"expected a whole number of at least {minimum}, got {describe(value)}"

    return check


def check_flag(value: Any, root: Path) -> str | None:
    """Check that a value is true or false."""
    return None if isinstance(value, bool) else f"expected true or false, got {describe(value)}"


def check_text(value: Any, root: Path) -> str | None:
    """Check that a value is text that is not empty."""
    return None if _is_text(value) else f"expected text, got {describe(value)}"


def check_file(value: Any, root: Path) -> str | None:
    """Check that a value is the path of a file that exists, or of one inside an installed package."""
    if isinstance(value, Mapping):
        return _check_packaged_file(value)
    if not _is_text(value):
        return f"expected the path of a file, got {describe(value)}"
    return _describe_absence(value, root / value)


def _check_packaged_file(value: Mapping[Any, Any]) -> str | None:
    package, file = value.get("package"), value.get("path")
    if set(value) != {"package", "path"} or not (_is_text(package) and _is_text(file)):
        return f"expected a path or {{package: NAME, path: FILE}}, got {describe(dict(value))}"
    if not str(package).isidentifier():
        return f"package: expected the import name of a top-level package, got {package!r}"
    if not is_inside(str(file)):
        return f"path: expected a path inside the package, got {file!r}"
    folders = list_package_folders(str(package))
    if not folders:
        got = "which is not installed" if folders is None else "a single module"
        return f"package: expected an installed package with files, got {package!r}, {got}"
    return _describe_absence(file, place_file(value, folders[0]))


def _describe_absence(value: Any, path: Path) -> str | None:
    if path.is_file():
        return None
    beside = [entry.name for entry in path.parent.iterdir()] if path.parent.is_dir() else []
    kind = "a folder" if path.is_dir() else "no such file"
    return f"expected the path of a file, got {describe(value)} ({kind}){suggest(path.name, beside)}"


def check_names(value: Any, root: Path) -> str | None:
    """Check that a value maps names to names, none twice."""
    if not isinstance(value, Mapping) or not value:
        return f"expected names with names, such as {{input: x}}, got {describe(value)}"
    for name, meant in value.items():
        if not _is_text(name) or not (_is_text(meant) or _is_position(meant)):
            return f"expected a name behind {name}, got {describe(meant)}"
    meant_names = [str(meant) for meant in value.values()]
    twice = sorted({name for name in meant_names if meant_names.count(name) > 1})
    return f"expected every name once, got {', '.join(twice)} twice" if twice else None


def check_providers(value: Any, root: Path) -> str | None:
    """Check that a value lists execution providers, each a name or ``{name: {option: value}}``."""
    expected = "expected a list of execution providers such as CPUExecutionProvider"
    if not isinstance(value, list) or not value:
        return f"{expected}, got {describe(value)}"
    for entry in value:
        is_one = isinstance(entry, Mapping) and len(entry) == 1
        if not _is_text(entry) and not (is_one and isinstance(next(iter(entry.values())), Mapping)):
            return f"{expected}, got {describe(entry)} among them"
    return None


def check_settings(value: Any, root: Path) -> str | None:
    """Check that a value maps names to single values."""
    if not isinstance(value, Mapping):
        return f"expected settings such as {{intra_op_num_threads: 1}}, got {describe(value)}"
    for name, setting in value.items():
        if not _is_text(name):
            return f"expected names of settings, got {describe(name)}"
        is_finite = not isinstance(setting, float) or math.isfinite(setting)
        if not isinstance(setting, (str, int, float)) or not is_finite:
            return f"expected a single value behind {name}, got {describe(setting)}"
    return None


def check_libraries(value: Any, root: Path) -> str | None:
    """Check that a value lists shared libraries, or references to functions that return such."""
    if not isinstance(value, list) or not value:
        return f"expected a list of shared libraries or of module:fn, got {describe(value)}"
    for entry in value:
        if not _is_text(entry):
            return f"expected paths of shared libraries or module:fn, got {describe(entry)}"
        if not is_reference(entry) and (fault := check_file(entry, root)) is not None:
            return fault
    return None


def check_dynamic_axes(value: Any, root: Path) -> str | None:
    """Check that a value says which axes may vary: ``{input: {axis: name}}``, or ``off`` for none."""
    example = "{input: {0: batch}}"
    if _is_off(value):
        return None
    if not isinstance(value, Mapping):
        return f"expected inputs with their dynamic axes, such as {example}, or off, got {describe(value)}"
    for name, axes in value.items():
        if not _is_text(name):
            return f"expected names of inputs, got {describe(name)}"
        if not isinstance(axes, Mapping):
            return f"expected axes with names behind {name}, such as {example}, got {describe(axes)}"
        for axis, meant in axes.items():
            if not _is_position(axis):
                return f"expected an axis (0, 1, ...) behind {name}, got {describe(axis)}"
            if not _is_text(meant):
                return f"expected a name for axis {axis} of {name}, got {describe(meant)}"
    return None


def read_dynamic_axes(options: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the option ``dynamic``: empty where it says that nothing varies, None where it is left out."""
    value: Mapping[str, Any] | None = options.get("dynamic")
    return {} if _is_off(value) else value


def is_reference(value: str) -> bool:
    """Whether text is spelt as a ``module:fn`` reference."""
    return _REFERENCE.fullmatch(value) is not None


def describe(value: Any) -> str:
    """Return a value as a suite file would have it, shortened."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return f"a mapping ({_shorten(dict(value))})"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return f"a list ({_shorten(list(value))})"
    return _shorten(value)


def _shorten(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _MAX_CHARS else text[: _MAX_CHARS - 3] + "..."


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_off(value: Any) -> bool:
    return value is False or value == "off"


def _is_position(value: Any) -> bool:
    # Keys that went through JSON are text.
    return (isinstance(value, int) and not isinstance(value, bool) and value >= 0) or (
        isinstance(value, str) and value.isascii() and value.isdigit()
    )
