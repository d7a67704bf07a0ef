"""The project's own code behind a case, and what else it reads: values kept so that an edit can be named.

What belongs here: values only, digests and names, never a variable's value or a file's text. Who gathers
them is ``observe.tracing``'s, what an edit means ``diagnose``'s.
"""

from __future__ import annotations

from dataclasses import dataclass

MODEL_SIDE = "model"
INPUT_SIDE = "preprocess"
SIDES = (MODEL_SIDE, INPUT_SIDE)
"""What of a case uses a file: what makes and runs the model, or what makes its inputs."""


@dataclass(frozen=True, kw_only=True)
class SourceFile:
    """One file of the project: Python code that the case imported, or data that such code names.

    Parameters
    ----------
    file : str
        Path relative to the suite's folder, or to the folder of ``python_path`` that holds it.
    sides : tuple of str
        Of :data:`SIDES`; empty where it is not known.
    """

    file: str
    sha256: str
    sides: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class VariableFact:
    """An environment variable that the project's code names.

    Parameters
    ----------
    state : str
        Empty: not set. ``set``: its value looks like a secret or a path. Else the first 3 hex digits of
        the sha256 of name and value, which are 12 bits, too few to find a value by.
    files : tuple of str
        Files that name it.
    sides : tuple of str
        As of :class:`SourceFile`.
    """

    name: str
    state: str
    files: tuple[str, ...]
    sides: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ProjectReads:
    """What else the project's code reads, as far as its text names it."""

    data_files: tuple[SourceFile, ...] = ()
    variables: tuple[VariableFact, ...] = ()
