"""The environments of a session: what a suite asks for, put together and ready to be started.

What belongs here: the order of the parts, and what a session keeps of them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType, TracebackType

from pytest_modelreg.domain.case import EnvironmentSpec
from pytest_modelreg.domain.errors import EnvironmentUnavailable
from pytest_modelreg.engine.environments.abandoned import sweep_abandoned_builds
from pytest_modelreg.engine.environments.built_environment import provide_environment
from pytest_modelreg.engine.environments.cache_folder import find_cache_folder
from pytest_modelreg.engine.environments.interpreter import (
    Interpreter,
    ask_interpreter,
    find_interpreter,
    require_numpy,
)
from pytest_modelreg.engine.environments.requirement_list import normalise_requirements
from pytest_modelreg.engine.environments.worktree import Worktrees

_SHOWN_CHARS = 60


@dataclass(frozen=True, kw_only=True)
class ReadyEnvironment:
    """An environment in which a process can be started.

    Parameters
    ----------
    python : str
        Absolute path of the interpreter.
    variables : mapping of str to str or None
        What to set in its process, and what to unset.
    is_this_interpreter : bool
        Whether it is the interpreter of this process, for which ``PYTHONPATH`` and the like hold.
    python_path : tuple of str
        The suite's ``python_path``, folders of the repository led to another revision's.
    checkout : str or None
        The repository's folder where a revision stands in for its code; None: as it is here.
    description : str
        What it is called in messages: ``torch==2.13.0 (Python 3.11), ATEN_CPU_CAPABILITY=avx2``.
    """

    python: str
    variables: Mapping[str, str | None]
    is_this_interpreter: bool
    python_path: tuple[str, ...]
    checkout: str | None = None
    description: str


class Environments:
    """Makes environments ready; whatever two cases need is made once.

    Parameters
    ----------
    say : callable
        Takes lines on what takes long.
    cache : Path or None
        Where built environments are kept; None: in the user's cache, or where ``MODELREG_CACHE`` says.
    """

    def __init__(self, *, say: Callable[[str], None], cache: Path | None = None) -> None:
        self._say = say
        self._cache = cache
        self._answers: dict[tuple[str, tuple[tuple[str, str | None], ...], bool], Interpreter] = {}
        self._faults: dict[tuple[str, tuple[str, ...]], str] = {}
        self._worktrees = Worktrees(say=say)
        self._has_swept = False

    def __enter__(self) -> Environments:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Remove what was made for this session alone; built environments stay. Harmless twice."""
        self._worktrees.close()

    def prepare(
        self, spec: EnvironmentSpec, *, case: str, root: Path, python_path: Sequence[str]
    ) -> ReadyEnvironment:
        """Make an environment ready.

        Parameters
        ----------
        case : str
            Id of the case that needs it.
        root : Path
            The suite's folder.
        python_path : sequence of str
            Absolute folders of the suite's ``module:attr`` references.

        Raises
        ------
        EnvironmentUnavailable
            When it cannot be had; it begins with the case's id.
        """
        try:
            return self._prepare(spec, root, tuple(python_path))
        except EnvironmentUnavailable as error:
            raise EnvironmentUnavailable(f"{case}: environment: {error}") from error

    def _prepare(self, spec: EnvironmentSpec, root: Path, python_path: tuple[str, ...]) -> ReadyEnvironment:
        _check_variables(spec.variables)
        # What costs least is refused first.
        requirements = normalise_requirements(spec.requirements)
        parts: list[str] = []
        is_this, checkout = False, None
        if requirements:
            base = self._ask(self._find(spec), {}, numpy=False)
            python = self._build(requirements, base)
            parts.append(
                f"{', '.join(text.strip() for text in spec.requirements)} (Python {base.short_version})"
            )
        elif spec.python is not None:
            python, is_this = self._check(find_interpreter(spec.python), spec.variables)
            parts.append(spec.python)
        else:
            python, is_this = self._find(spec), True
        if spec.revision is not None:
            worktree = self._worktrees.check_out(root, spec.revision)
            python_path = worktree.lead(python_path)
            checkout = str(worktree.repository)
            parts.append(f"revision {spec.revision} ({worktree.commit[:7]})")
        parts += [_describe_variable(name, value) for name, value in spec.variables.items()]
        return ReadyEnvironment(
            python=python,
            variables=MappingProxyType(dict(spec.variables)),
            is_this_interpreter=is_this,
            python_path=python_path,
            checkout=checkout,
            description=", ".join(parts) or python,
        )

    def _find(self, spec: EnvironmentSpec) -> str:
        if spec.python is not None:
            return find_interpreter(spec.python)
        if not sys.executable:
            raise EnvironmentUnavailable(
                "expected to know which interpreter runs this, and it does not say; name one under python"
            )
        return os.path.abspath(sys.executable)

    def _ask(self, path: str, variables: Mapping[str, str | None], *, numpy: bool) -> Interpreter:
        key = (path, tuple(sorted(variables.items())), numpy)
        if key not in self._answers:
            topics = ("numpy",) if numpy else ()
            self._answers[key] = ask_interpreter(path, topics=topics, variables=variables)
        return self._answers[key]

    def _check(self, path: str, variables: Mapping[str, str | None]) -> tuple[str, bool]:
        """Return a named interpreter, and whether it is this very one, which has numpy already."""
        interpreter = self._ask(path, variables, numpy=True)
        if not interpreter.is_this_one:
            require_numpy(interpreter, "python", f"`{path} -m pip install numpy` installs it")
        return path, interpreter.is_this_one

    def _build(self, requirements: tuple[str, ...], base: Interpreter) -> str:
        key = (base.path, requirements)
        if key in self._faults:  # the next case needs it as well, and would wait as long for the same answer
            raise EnvironmentUnavailable(self._faults[key])
        try:
            cache = (find_cache_folder() if self._cache is None else self._cache).absolute()
            if not self._has_swept:
                self._has_swept = True
                sweep_abandoned_builds(cache)
            built = provide_environment(requirements, base, cache=cache, say=self._say)
        except EnvironmentUnavailable as error:
            self._faults[key] = str(error)
            raise
        if built.numpy is None:
            raise EnvironmentUnavailable(
                "requirements: expected packages that bring numpy, which writes the observation, got none "
                f"from {', '.join(requirements)} ({built.numpy_fault}); add numpy to them"
            )
        return built.python


def _describe_variable(name: str, value: str | None) -> str:
    """Return a variable for a message, which is one line however long and odd the value is."""
    if value is None:
        return f"{name} unset"
    if not value.isprintable():
        value = repr(value)
    return f"{name}={value if len(value) <= _SHOWN_CHARS else value[:_SHOWN_CHARS] + '...'}"


def _check_variables(variables: Mapping[str, str | None]) -> None:
    """Refuse what no process can be started with."""
    for name, value in variables.items():
        if not name or "=" in name or "\0" in name:
            raise EnvironmentUnavailable(f"variables: expected the name of a variable, got {name!r}")
        if value is not None and (not isinstance(value, str) or "\0" in value):
            raise EnvironmentUnavailable(
                f"variables: {name}: expected text, or null to unset it, got {value!r}"
            )
