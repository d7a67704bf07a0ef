"""What a project's code reads besides Python: data files and environment variables that its text names.

What belongs here: finding them, and what of them may be kept. A name that is put together at run time is
not seen: nothing is patched or hooked to see it, so that a run that keeps a trace is like any other.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from pytest_modelreg.domain.case import CaseSpec
from pytest_modelreg.domain.project_code import SIDES, SourceFile, VariableFact
from pytest_modelreg.observe.python_source import Source

MAX_FILES = 100
MAX_BYTES = 1 << 20
"""Of one data file: settings, vocabularies and tables of constants are smaller, weights are not."""

N_HEX = 3
"""Digits of a variable's digest: 12 bits, of which a guess at the value is right for one in 4096."""

_SECRET = re.compile(r"token|secret|passw|pwd|credential|auth|key|private|cookie|session|dsn", re.IGNORECASE)
_NOT_READ = (".*", "*.py", "*.pyc", "*modelreg.yaml", "*.pt", "*.pth", "*.safetensors", "*.onnx")
_FILE = re.compile(r"[^\t*?<>|]{0,240}\.\w{1,12}")
_FOLDER = re.compile(r"[\w./-]{1,240}")
_GOLDEN = "golden.json"


@dataclass(frozen=True, kw_only=True)
class NamingFile:
    """A Python file whose text is looked through.

    Parameters
    ----------
    shown : str
        Its path as it is kept.
    sides : tuple of str
        What of the case uses it.
    """

    path: Path
    shown: str
    source: Source
    sides: tuple[str, ...]


def read_data_files(naming: Sequence[NamingFile], spec: CaseSpec) -> tuple[SourceFile, ...]:
    """Return the small data files of the project that its code, or the case's ``model_args``, name.

    A text counts when it is the path of a file from the suite's folder, the working folder, the folder of
    the code that names it, or a folder above that or named by it. Checkpoints, samples and goldens have
    digests of their own and are left out.
    """
    root = Path(os.path.realpath(spec.root))
    samples = Path(os.path.realpath(spec.samples.folder))
    sides: dict[Path, set[str]] = {}
    for each in naming:
        for path in _find_files(each.source.texts, _list_bases(each, root)):
            sides.setdefault(path, set()).update(each.sides)
    for path in _find_files(_list_texts(spec.model_args), [root, Path.cwd()]):
        sides.setdefault(path, set()).add(SIDES[0])
    found: list[SourceFile] = []
    for path in sorted(sides):
        if len(found) == MAX_FILES:
            break
        if path.is_relative_to(root) and not path.is_relative_to(samples) and _is_data(path):
            found.append(
                SourceFile(
                    file=path.relative_to(root).as_posix(),
                    sha256=hashlib.sha256(path.read_bytes()).hexdigest(),
                    sides=tuple(side for side in SIDES if side in sides[path]),
                )
            )
    return tuple(found)


def read_variables(naming: Sequence[NamingFile]) -> tuple[VariableFact, ...]:
    """Return the environment variables that code names, none with its value."""
    by_name: dict[str, list[NamingFile]] = {}
    for each in naming:
        for name in each.source.variables:
            by_name.setdefault(name, []).append(each)
    return tuple(
        VariableFact(
            name=name,
            state=describe_value(name, os.environ.get(name)),
            files=tuple(sorted(each.shown for each in files)),
            sides=tuple(side for side in SIDES if any(side in each.sides for each in files)),
        )
        for name, files in sorted(by_name.items())
    )


def describe_value(name: str, value: str | None) -> str:
    """Return what is kept of a variable's value; see :class:`~pytest_modelreg.domain.trace.VariableFact`.

    The name is the only key, so that recording a value again tells nothing more of it.
    """
    if value is None:
        return ""
    if _SECRET.search(name) or "/" in value or "\\" in value or "@" in value:
        return "set"
    return hashlib.sha256(f"{name}\0{value}".encode("utf-8", "surrogatepass")).hexdigest()[:N_HEX]


def _list_bases(each: NamingFile, root: Path) -> list[Path]:
    folder = Path(os.path.realpath(each.path)).parent
    above = [place for place in (folder, *folder.parents) if place.is_relative_to(root)]
    bases = list(dict.fromkeys([folder, *above, root, Path.cwd()]))
    texts = [text for text in each.source.texts if _FOLDER.fullmatch(text)]
    named = [path for base in bases for path in _join_existing(base, texts) if path.is_dir()]
    return [*bases, *named]


def _find_files(texts: Iterable[str], bases: Sequence[Path]) -> Iterator[Path]:
    named = [text for text in texts if _FILE.fullmatch(text)]
    for base in bases:
        for path in _join_existing(base, named):
            if os.path.isfile(path):  # where a name is too long for a file, Path.is_file raises
                yield Path(os.path.realpath(path))


def _join_existing(base: Path, texts: Iterable[str]) -> Iterator[Path]:
    """Yield paths below a folder whose first part is there: the folder is asked once, not for every text."""
    try:
        names = {"..", *os.listdir(base)}
    except OSError:
        return
    for text in texts:
        parts = text.removeprefix("./")
        if os.path.isabs(text) or parts.partition("/")[0] in names:
            yield base / parts


def _list_texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from _list_texts(part)
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from _list_texts(part)


def _is_data(path: Path) -> bool:
    if any(fnmatchcase(path.name, pattern) for pattern in _NOT_READ) or (path.parent / _GOLDEN).exists():
        return False
    return "site-packages" not in path.parts and path.stat().st_size <= MAX_BYTES
