"""One Python file as text: what it imports, what files and variables it names, what else it may import.

What belongs here: everything that is read off a syntax tree; no code runs and no other file is
looked at. A further way to import what no text names is one more word in :data:`_BY_NAME` (modules
of the python path) or :data:`_BY_PLACE` (files from anywhere).
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntEnum

STAR = "*"

_BY_NAME = frozenset(
    {
        "__import__",
        "entry_points",
        "import_module",
        "import_string",
        "iter_entry_points",
        "iter_modules",
        "resolve_name",
        "walk_packages",
    }
)
_BY_PLACE = frozenset(
    {
        "SourceFileLoader",
        "__path__",
        "addsitedir",
        "exec_module",
        "load_module",
        "load_source",
        "run_module",
        "run_path",
        "spec_from_file_location",
    }
)
# Packages that import what a configuration names.
_IMPORTING_PACKAGES = frozenset({"hydra", "lazy_loader", "pkg_resources", "pydoc", "stevedore"})
_LITERAL = frozenset({"__import__", "import_module"})
_OWN_PACKAGE = frozenset({"__name__", "__package__"})
_MAX_TEXT_CHARS = 1_000
_ENVIRONMENT = "environ"
_READERS = frozenset({"get", "getenv", "pop", "setdefault"})


class Reach(IntEnum):
    """Where the modules may be that a file imports and no text names."""

    NOWHERE = 0
    PYTHON_PATH = 1
    REPOSITORY = 2


@dataclass(frozen=True, kw_only=True)
class Import:
    """One import.

    Parameters
    ----------
    level : int
        Dots in front: 0 for an absolute import.
    module : str
        What stands behind them; empty for ``from . import x``.
    names : tuple of str
        What is imported from it, :data:`STAR` for all; empty for the module itself.
    """

    level: int = 0
    module: str = ""
    names: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Source:
    """What a Python file says.

    Parameters
    ----------
    imports : tuple of Import
        In functions and behind conditions too, but not those for type checkers.
    exported : tuple of str
        Texts of ``__all__``.
    texts : frozenset of str
        Every text on one line that is short enough for a path.
    file_names : frozenset of str
        Last part of each: ``mean.npy`` of ``assets/mean.npy``.
    variables : frozenset of str
        Environment variables that it names where it reads or sets them.
    reach : Reach
        What else it may import.
    reach_reason : str
        Which word says so, and on which line.
    fault : str
        Why it cannot be parsed; empty when it can.
    """

    imports: tuple[Import, ...] = ()
    exported: tuple[str, ...] = ()
    texts: frozenset[str] = frozenset()
    file_names: frozenset[str] = frozenset()
    variables: frozenset[str] = frozenset()
    reach: Reach = Reach.NOWHERE
    reach_reason: str = ""
    fault: str = ""


def read_source(path: str) -> Source:
    """Return what a Python file says; one that cannot be read or parsed says why."""
    try:
        with open(path, "rb") as file:
            content = file.read()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of invalid escapes: the user's business elsewhere
            tree = ast.parse(content)
    except OSError as error:
        return Source(fault=error.strerror or type(error).__name__)
    except SyntaxError as error:
        return Source(fault=f"line {error.lineno}: {error.msg}")
    except (ValueError, RecursionError, MemoryError) as error:  # null bytes; nested too deep to parse
        return Source(fault=str(error) or type(error).__name__)
    reading = _Reading()
    for node in _walk(tree):
        reading.take(node)
    return reading.conclude()


def _walk(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield nodes, outer ones first, without what only type checkers run."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, ast.If) and _is_for_type_checkers(node.test):
            waiting.extend(node.orelse)
        else:
            for value in vars(node).values():  # several times faster than ast.iter_child_nodes
                if isinstance(value, list):
                    waiting.extend(part for part in value if isinstance(part, ast.AST))
                elif isinstance(value, ast.AST):
                    waiting.append(value)


def _is_for_type_checkers(test: ast.expr) -> bool:
    return "TYPE_CHECKING" in (getattr(test, "id", None), getattr(test, "attr", None))


@dataclass
class _Reading:
    """What was found in a file so far."""

    imports: list[Import] = field(default_factory=list)
    exported: list[str] = field(default_factory=list)
    texts: set[str] = field(default_factory=set)
    variables: set[str] = field(default_factory=set)
    reaches: list[tuple[Reach, int, str]] = field(default_factory=list)
    followed: set[ast.AST] = field(default_factory=set)

    def take(self, node: ast.AST) -> None:
        if isinstance(node, (ast.Name, ast.Attribute)):  # the most frequent first
            self._take_word(node)
        elif isinstance(node, ast.Constant):
            self._take_text(node.value)
        elif isinstance(node, ast.Call):
            self._take_call(node)
        elif isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
            self._take_assignment(node)
        elif isinstance(node, ast.Subscript) and _word(node.value) == _ENVIRONMENT:
            self._take_variable(node.slice)
        elif isinstance(node, ast.Compare) and _word(node.comparators[0]) == _ENVIRONMENT:
            self._take_variable(node.left)
        elif isinstance(node, ast.ImportFrom):
            self._take_from(node)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                self._take_import(node, Import(module=alias.name))

    def conclude(self) -> Source:
        reach, line, word = max(self.reaches, key=lambda found: (found[0], -found[1]), default=(0, 0, ""))
        return Source(
            imports=tuple(dict.fromkeys(self.imports)),
            exported=tuple(self.exported),
            texts=frozenset(self.texts),
            file_names=frozenset(text.rpartition("/")[2] for text in self.texts) - {""},
            variables=frozenset(self.variables),
            reach=Reach(reach),
            reach_reason=f"{word} on line {line}" if word else "",
        )

    def _take_text(self, value: object) -> None:
        if isinstance(value, str) and value and len(value) <= _MAX_TEXT_CHARS and "\n" not in value:
            self.texts.add(value.replace("\\", "/"))

    def _take_variable(self, node: ast.expr) -> None:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            self.variables.add(node.value)

    def _take_import(self, node: ast.stmt, found: Import) -> None:
        self.imports.append(found)
        top = found.module.partition(".")[0]
        if not found.level and top in _IMPORTING_PACKAGES:
            self.reaches.append((Reach.PYTHON_PATH, node.lineno, top))

    def _take_from(self, node: ast.ImportFrom) -> None:
        names = tuple(alias.name for alias in node.names)
        self._take_import(node, Import(level=node.level, module=node.module or "", names=names))
        for alias in node.names:
            # Under another name its calls would not be recognised.
            if alias.asname is not None and alias.asname != alias.name:
                self._take_reach(node.lineno, alias.name)
        if node.module == "sys" and "path" in names:
            self.reaches.append((Reach.REPOSITORY, node.lineno, "sys.path"))

    def _take_call(self, node: ast.Call) -> None:
        word = _word(node.func)
        if word in _READERS and node.args and _is_of_environment(node.func):
            self._take_variable(node.args[0])
        if word in _LITERAL and (found := _read_literal(node)) is not None:
            self.followed.add(node.func)
            self.imports.append(found)

    def _take_word(self, node: ast.Name | ast.Attribute) -> None:
        word = _word(node)
        if node in self.followed or word is None:
            return
        if isinstance(node, ast.Name) and word == "exec":
            self.reaches.append((Reach.REPOSITORY, node.lineno, word))
        elif isinstance(node, ast.Attribute) and word == "path" and _word(node.value) == "sys":
            self.reaches.append((Reach.REPOSITORY, node.lineno, "sys.path"))
        else:
            self._take_reach(node.lineno, word)

    def _take_reach(self, line: int, word: str) -> None:
        if word in _BY_NAME:
            self.reaches.append((Reach.PYTHON_PATH, line, word))
        elif word in _BY_PLACE:
            self.reaches.append((Reach.REPOSITORY, line, word))

    def _take_assignment(self, node: ast.Assign | ast.AugAssign | ast.AnnAssign) -> None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if node.value is not None and any(_word(target) == "__all__" for target in targets):
            texts = (part.value for part in ast.walk(node.value) if isinstance(part, ast.Constant))
            self.exported += [text for text in texts if isinstance(text, str)]


def _word(node: ast.AST) -> str | None:
    """Return the last word of a dotted name."""
    if isinstance(node, ast.Name):
        return node.id
    return node.attr if isinstance(node, ast.Attribute) else None


def _is_of_environment(called: ast.expr) -> bool:
    """Whether a call is ``getenv``, or a method of ``environ``, wherever they were imported from."""
    if _word(called) == "getenv":
        return True
    return isinstance(called, ast.Attribute) and _word(called.value) == _ENVIRONMENT


def _read_literal(node: ast.Call) -> Import | None:
    """Return what a call with a literal name imports; None where a name is worked out."""
    if not node.args or not isinstance(node.args[0], ast.Constant) or not isinstance(node.args[0].value, str):
        return None
    name = node.args[0].value
    module = name.lstrip(".")
    level = len(name) - len(module)
    if _word(node.func) == "__import__":
        # Further arguments say what is taken from it; only a level makes it relative.
        return Import(module=module) if len(node.args) < 5 and not node.keywords else None
    if not level:
        return Import(module=module)
    package = node.args[1] if len(node.args) > 1 else next((word.value for word in node.keywords), None)
    if isinstance(package, ast.Name) and package.id in _OWN_PACKAGE:
        return Import(level=level, module=module)
    if isinstance(package, ast.Constant) and isinstance(package.value, str):
        parts = package.value.split(".")
        kept = parts[: len(parts) - level + 1]
        return Import(module=".".join([*kept, *filter(None, [module])])) if kept else None
    return None
