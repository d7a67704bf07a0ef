"""Interpreters that a suite names: found, and asked what they are.

What belongs here: the question, its answer, and every way in which there is none. To learn one more
fact, add it to the question and to :class:`Interpreter`.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pytest_modelreg.domain.errors import EnvironmentUnavailable
from pytest_modelreg.domain.nearest import suggest
from pytest_modelreg.engine.environments.command import Ending, run_to_end
from pytest_modelreg.observe.worker_process import make_variables

OLDEST = (3, 10)
"""The oldest Python that can observe."""

ASK_LIMIT_S = 60.0
"""How long an interpreter may take to say what it is, in seconds: imports from a cold network disk."""

_MARK = "pytest-modelreg:"

# Also Python 2 must be able to read this, so that it can say that it is Python 2. An empty entry of
# sys.path is the working directory, where a project may have a json.py of its own.
_QUESTION = f"""
import sys
sys.path[:] = [entry for entry in sys.path if entry]
import json, os, sysconfig
def answer(facts):
    sys.stdout.write("\\n{_MARK}" + json.dumps(facts) + "\\n")
    sys.stdout.flush()
answer({{
    "version": ".".join(str(part) for part in sys.version_info[:3]),
    "executable": os.path.realpath(sys.executable or ""),
    "prefix": os.path.realpath(sys.prefix),
    "abi": " ".join([str(sysconfig.get_config_var("SOABI")), sysconfig.get_platform()]),
}})
if "numpy" in sys.argv[1:]:
    try:
        import numpy
        answer({{"numpy": numpy.__version__}})
    except ImportError as error:
        answer({{"numpy_fault": str(error).strip().split("\\n")[0]}})
if "packages" in sys.argv[1:]:
    from importlib.metadata import distributions
    found = set("%s==%s" % (one.metadata["Name"], one.version) for one in distributions())
    answer({{"packages": sorted(found, key=str.lower)}})
"""


@dataclass(frozen=True, kw_only=True)
class Interpreter:
    """An interpreter, as it describes itself.

    Parameters
    ----------
    path : str
        Absolute path that starts it, links unresolved: a link is how a virtual environment starts.
    version : str
        ``3.11.7``.
    executable, prefix : str
        What it holds for its own file and folder, links resolved.
    abi : str
        Implementation, build and platform, which binary packages must fit:
        ``cpython-311-x86_64-linux-gnu linux-x86_64``.
    numpy : str or None
        Version of the numpy that it imports; None when it imports none or was not asked.
    numpy_fault : str or None
        Why it imports none.
    packages : tuple of str
        What is installed, ``name==version``; empty when it was not asked.
    """

    path: str
    version: str
    executable: str
    prefix: str
    abi: str
    numpy: str | None = None
    numpy_fault: str | None = None
    packages: tuple[str, ...] = ()

    @property
    def short_version(self) -> str:
        """``3.11``."""
        return ".".join(self.version.split(".")[:2])

    @property
    def is_this_one(self) -> bool:
        """Whether it is the interpreter of this very process, in the same environment."""
        return (self.executable, self.prefix) == (
            os.path.realpath(sys.executable or ""),
            os.path.realpath(sys.prefix),
        )


def find_interpreter(python: str) -> str:
    """Return the absolute path of an interpreter that is named by its path or found on PATH.

    Raises
    ------
    EnvironmentUnavailable
        When there is no such file, or it is none that can be started.
    """
    if os.path.dirname(python) == "":
        found = shutil.which(python)
        if found is None:
            names = {path.name for path in _list_pythons()}
            raise EnvironmentUnavailable(
                f"python: expected an absolute path or a name on PATH, got {python}, which is not on "
                f"PATH{suggest(python, names)}"
            )
        return os.path.abspath(found)
    if not os.path.exists(python):
        raise EnvironmentUnavailable(
            f"python: expected the path of an interpreter, got {python}, which does not exist"
        )
    if os.path.isdir(python):
        inside = next(
            (path for name in ("bin/python", "Scripts/python.exe") if (path := Path(python, name)).exists()),
            None,
        )
        meant = "" if inside is None else f" (did you mean {inside}?)"
        raise EnvironmentUnavailable(
            f"python: expected the path of an interpreter, got the folder {python}{meant}"
        )
    if not os.access(python, os.X_OK):
        raise EnvironmentUnavailable(
            f"python: expected a file that can be started, got {python}; `chmod +x` makes it one, if it is "
            "an interpreter"
        )
    return os.path.abspath(python)


def ask_interpreter(
    path: str,
    *,
    topics: tuple[str, ...] = (),
    variables: Mapping[str, str | None] | None = None,
    limit_s: float = ASK_LIMIT_S,
) -> Interpreter:
    """Return what an interpreter says of itself.

    Parameters
    ----------
    topics : tuple of str
        What it is asked beside: ``numpy``, ``packages``. Both take longer.
    variables : mapping of str to str or None
        What to set and unset in its process.
    limit_s : float
        How long it may take, seconds.

    Raises
    ------
    EnvironmentUnavailable
        When it cannot be started, crashes, hangs, is no Python or one that is too old.
    """
    try:
        ending = run_to_end(
            [path, "-c", _QUESTION, *topics], variables=make_variables(variables or {}), limit_s=limit_s
        )
    except (OSError, ValueError) as error:
        raise EnvironmentUnavailable(
            f"python: expected an interpreter, got {path}, which cannot be started: "
            f"{getattr(error, 'strerror', None) or error}"
        ) from error
    answers = _read_answers(ending.output)
    told = [line for line in ending.output.splitlines(keepends=True) if not line.startswith(_MARK)]
    ending = replace(ending, output="".join(told))
    if "version" not in answers:
        raise EnvironmentUnavailable(_describe_silence(path, ending, limit_s))
    if tuple(int(part) for part in answers["version"].split(".")[:2]) < OLDEST:
        raise EnvironmentUnavailable(
            f"python: expected Python {'.'.join(map(str, OLDEST))} or newer, got {path}, which is "
            f"{answers['version']}"
        )
    if ending.code != 0:
        raise EnvironmentUnavailable(
            f"python: {path} (Python {answers['version']}) says what it is, and then {ending.description}"
        )
    answers["packages"] = tuple(answers.get("packages", ()))
    return Interpreter(path=path, **answers)


def require_numpy(interpreter: Interpreter, place: str, advice: str) -> None:
    """Refuse an interpreter that was asked for numpy and has none.

    Raises
    ------
    EnvironmentUnavailable
        Observations are written by it.
    """
    if interpreter.numpy is None:
        raise EnvironmentUnavailable(
            f"{place}: expected an environment with numpy, which writes the observation, got none in "
            f"{interpreter.path} ({interpreter.numpy_fault}); {advice}"
        )


def _read_answers(output: str) -> dict[str, Any]:
    """Return what was answered, among whatever is printed at start-up and after it."""
    answers: dict[str, Any] = {}
    for line in output.splitlines():
        if line.startswith(_MARK):
            answers.update(json.loads(line.removeprefix(_MARK)))
    return answers


def _describe_silence(path: str, ending: Ending, limit_s: float) -> str:
    if ending.code is None:
        return (
            f"python: expected an answer of {path} within {limit_s:g} s, got none; it was ended; try it: "
            f"{path} -c 'import sys; print(sys.version)'"
        )
    if ending.code < 0:
        return f"python: expected an interpreter that starts, got {path}, which {ending.description}"
    return f"python: expected a Python interpreter, got {path}, which answers nothing: {ending.description}"


def _list_pythons() -> list[Path]:
    """Return what is on PATH by a name that begins as an interpreter's."""
    folders = [Path(part) for part in os.environ.get("PATH", "").split(os.pathsep) if part]
    return [path for folder in folders if folder.is_dir() for path in folder.glob("py*")]
