"""Why a model could not be exported or compiled: the operator, the module, the line.

What belongs here: reading what frameworks raise. The frames that an error passed
through name the module; where a tracer reads code instead of running it, its message
names the line. Failures of ONNX graphs are in ``onnx_failure``.
"""

from __future__ import annotations

import inspect
import linecache
import re
import traceback
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

MAX_CHARS = 500
_LISTED = 4
_FRAME = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+), in ')
_OPERATORS = (
    re.compile(r"target=torch\.ops\.(?P<name>[\w.]+)"),
    re.compile(r"No ONNX function found for .*?(?P<name>\w+[.:]+\w+(?:\.\w+)?)"),
    re.compile(r"(?P<name>\b[a-z_]\w*::[A-Za-z_]\w*)\b(?!\()"),
    re.compile(r"torch\.ops\.(?P<name>\w+\.\w+(?:\.\w+)?)"),
)
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_ADVICE = (
    "\nconsider using data-dependent friendly APIs",
    "\nFor more information, run with",
    "\n  Hint: ",
    "\n  Developer debug context",
    "\nThe error above occurred when calling",
    "\nfrom user code",
    "\nSet TORCHDYNAMO_VERBOSE",
)
"""Where a message goes on with advice for developers of the framework."""
_TAKES_NUMBER = re.compile(r"\b(?:float|int|complex)\(|\.(?:item|tolist)\(")
_BRANCHES = re.compile(r"(?:if|elif|while|assert|for)\b|return\b.*\bif\b")
_UNINTERESTING = ("site-packages", "dist-packages", "torch")


def describe_failure(error: BaseException, model: Any = None, file: Path | None = None) -> str:
    """Return one line: what was raised, on which operator, in which module and line.

    Parameters
    ----------
    model : torch.nn.Module or None
        Among whose parts the module is looked for.
    file : pathlib.Path or None
        Where the graph lies; its folder is left out of what was said.
    """
    operator = find_operator(error)
    module = None if model is None else find_module(error, model)
    told = _find_origin(error)
    parts = [f"{type(told).__name__}: {summarise(strip_folder(str(told), file))}"]
    if operator is not None:
        parts.append(f"operator {operator}")
    if module is not None:
        parts.append(f"in module {module}{_type_of(module, model)}")
    if "data-dependent" in str(told).lower():
        parts.append(_describe_data_dependence(error))
    place = find_place(error)
    if place is not None:
        parts.append(f"at {place}")
    return "; ".join(parts)


def summarise(message: str) -> str:
    """Return the beginning of a message on one line: graphs and advice for developers follow it."""
    for marker in _ADVICE:
        message = message.partition(marker)[0] or message
    text = " ".join(_COLOURS.sub("", message).split())
    return text if len(text) <= MAX_CHARS else text[: MAX_CHARS - 3] + "..."


def strip_folder(message: str, file: Path | None) -> str:
    """Return a message that names a file, and those beside it, without their folder.

    Artefacts lie in a folder of the session: with its name in them, the reports of two sessions would
    differ.
    """
    if file is None:
        return message
    folders = {str(file.parent), str(file.parent.resolve()), file.parent.as_posix()} - {"", "."}
    for folder in sorted(folders, key=len, reverse=True):
        message = re.sub(rf"{re.escape(folder)}[/\\\\]+", "", message)
    return message


def _describe_data_dependence(error: BaseException) -> str:
    """Return in which of two ways a model depends on the values of its tensors.

    Tracers of torch meet both where they need a number that only a real tensor has. By the line of the
    user's code that they name; where none is named, the commoner one is told.
    """
    line = _read_source_line(error)
    if line and _TAKES_NUMBER.search(line) and not _BRANCHES.match(line):
        return "a Python number was taken out of a tensor there, and would become a constant of the graph"
    return "its control flow depends on the values of a tensor"


def _read_source_line(error: BaseException) -> str:
    """Return the innermost line of the user's code that a tracer's message names; empty where none is."""
    for found in chain_errors(error):
        places = [place for place in _list_lines(found) if _is_users(place[0])]
        if places:
            return linecache.getline(*places[-1]).strip()
    return ""


def _is_users(file: str) -> bool:
    return not any(part in _UNINTERESTING for part in Path(file).parts) and "modelreg" not in file


def _find_origin(error: BaseException) -> BaseException:
    """Return the error that an exporter's own errors were raised from, which says what was wrong."""
    while error.__cause__ is not None and str(error.__cause__).strip():
        error = error.__cause__
    return error


def find_operator(error: BaseException) -> str | None:
    """Return the operator that an error or one of its causes names: ``mylib.foo.default``."""
    for found in chain_errors(error):
        for pattern in _OPERATORS:
            match = pattern.search(str(found))
            if match is not None and not match["name"].startswith(("std", "c10", "at::", "torch::")):
                return match["name"]
    return None


def find_module(error: BaseException, model: Any) -> str | None:
    """Return the name of the innermost of the model's modules that an error came from.

    By the lines of code that it names, where a tracer read code instead of running it, and
    by the frames that it passed through.
    """
    modules = [(name or "(model)", part) for name, part in getattr(model, "named_modules", tuple)()]
    passed = _find_by_frames(error, {id(part): name for name, part in modules})
    named = _find_by_lines(error, modules)
    if not named or passed in named:
        return passed
    return named[0] if len(named) == 1 else f"{named[0]} (or {', '.join(named[1:_LISTED])})"


def _find_by_frames(error: BaseException, names: Mapping[int, str]) -> str | None:
    for found in chain_errors(error):
        frames = [frame for frame, _ in traceback.walk_tb(found.__traceback__)]
        for frame in reversed(frames):
            name = names.get(id(frame.f_locals.get("self")))
            if name is not None:
                return name
    return None


def _find_by_lines(error: BaseException, modules: Sequence[tuple[str, Any]]) -> list[str]:
    for found in chain_errors(error):
        for file, line in reversed(_list_lines(found)):
            sizes = {
                kind: _count_lines_around(kind, file, line) for kind in {type(part) for _, part in modules}
            }
            around = {kind: size for kind, size in sizes.items() if size}
            if around:
                owner = min(around, key=lambda kind: around[kind])  # a class may stand inside another
                return [name for name, part in modules if type(part) is owner]
    return []


def find_place(error: BaseException) -> str | None:
    """Return ``file:line`` of the innermost line of the user's code, as a tracer's message names it."""
    for found in chain_errors(error):
        places = [f"{Path(file).name}:{line}" for file, line in _list_lines(found) if _is_users(file)]
        if places:
            return places[-1]
    return None


def chain_errors(error: BaseException) -> Iterator[BaseException]:
    """Yield an error, then what it came from."""
    seen: set[int] = set()
    found: BaseException | None = error
    while found is not None and id(found) not in seen:
        seen.add(id(found))
        yield found
        found = found.__cause__ or found.__context__


def _list_lines(error: BaseException) -> list[tuple[str, int]]:
    return [(match["file"], int(match["line"])) for match in _FRAME.finditer(str(error))]


def _count_lines_around(kind: type, file: str, line: int) -> int:
    """Return the length of a class's source if the line is in it, else 0."""
    try:
        lines, start = inspect.getsourcelines(kind)
        return len(lines) if inspect.getsourcefile(kind) == file and 0 <= line - start < len(lines) else 0
    except (OSError, TypeError):  # no source, as in an interactive session
        return 0


def _type_of(name: str, model: Any) -> str:
    parts = dict(getattr(model, "named_modules", tuple)())
    part = parts.get("" if name == "(model)" else name)
    return "" if part is None else f" ({type(part).__name__})"
