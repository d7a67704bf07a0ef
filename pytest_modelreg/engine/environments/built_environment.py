"""Environments that are built for a list of requirements: once, whoever needs them.

What belongs here: the digest by which one is found again, the lock under which it is built, and the
record that says that it is complete. Packages cannot be moved once installed, so a build cannot be
renamed into its place: it has a folder of its own, and counts once the record names that folder.

Layout: ``<cache>/environments/<digest>/complete.json`` beside ``<digest>/<build>/``, the virtual
environment. Whatever a killed build left is swept by the next one, whatever that one builds.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from pytest_modelreg.domain.errors import EnvironmentUnavailable
from pytest_modelreg.engine.environments.cache_folder import make_folder, refuse_folder
from pytest_modelreg.engine.environments.command import run_to_end
from pytest_modelreg.engine.environments.installer import Installer, choose_installer, locate_python
from pytest_modelreg.engine.environments.interpreter import Interpreter, ask_interpreter
from pytest_modelreg.store import replace_atomically
from pytest_modelreg.store.lock import FolderLock

RECORD_FILE = "complete.json"
"""Written last: a build without it is none."""

BUILD_LIMIT_S = 3600.0
"""How long one step of a build may take, in seconds: gigabytes over a slow line."""

WAIT_LIMIT_S = 2 * BUILD_LIMIT_S
"""How long another process that builds is waited for, in seconds: a build has two steps."""

_FORMAT = 1


@dataclass(frozen=True, kw_only=True)
class BuiltEnvironment:
    """An environment that was built.

    Parameters
    ----------
    python : str
        Absolute path of its interpreter.
    numpy : str or None
        Version of its numpy; None when it has none.
    numpy_fault : str or None
        Why it has none.
    """

    python: str
    numpy: str | None
    numpy_fault: str | None


def provide_environment(
    requirements: Sequence[str], base: Interpreter, *, cache: Path, say: Callable[[str], None]
) -> BuiltEnvironment:
    """Return the environment of some requirements, built now unless it is there.

    Parameters
    ----------
    requirements : sequence of str
        As :func:`~pytest_modelreg.engine.environments.requirement_list.normalise_requirements` returns them.
    base : Interpreter
        What it is made of.
    cache : Path
        The folder of :func:`~pytest_modelreg.engine.environments.cache_folder.find_cache_folder`.

    Raises
    ------
    EnvironmentUnavailable
        When it cannot be built, or nothing can be kept there.
    """
    folder = cache / "environments" / digest_environment(requirements, base)
    found = _read_record(folder)
    if found is not None:
        return found
    make_folder(folder)
    lock = FolderLock(folder)
    try:
        if not lock.acquire(timeout_s=0):
            say(f"waiting for another process that builds the environment {folder}")
            if not lock.acquire(timeout_s=WAIT_LIMIT_S):
                raise EnvironmentUnavailable(
                    f"requirements: another process has been building {folder} for {WAIT_LIMIT_S:.0f} s; "
                    "wait until it ends, or end it, then run this one again"
                )
    except OSError as error:
        raise refuse_folder(folder, error) from error
    try:
        found = _read_record(folder)  # whoever held the lock may have built it
        return found if found is not None else _build(requirements, base, folder, say)
    except OSError as error:
        raise refuse_folder(folder, error) from error
    finally:
        lock.release()


def digest_environment(requirements: Sequence[str], base: Interpreter) -> str:
    """Return the name of an environment: of what is asked for, and what decides which packages fit."""
    asked = {
        "format": _FORMAT,
        "requirements": list(requirements),
        "python": base.version,
        "abi": base.abi,
    }
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()[:16]


def _build(
    requirements: Sequence[str], base: Interpreter, folder: Path, say: Callable[[str], None]
) -> BuiltEnvironment:
    _sweep(folder)
    installer = choose_installer(base.path)
    names = ", ".join(requirements)
    reason = f" ({installer.reason})" if installer.reason else ""
    say(
        f"building an environment with {names} for Python {base.short_version} by {installer.name}{reason}, "
        f"once; it is kept in {folder}"
    )
    started = time.monotonic()
    build = folder / secrets.token_hex(4)
    try:
        _install(installer, requirements, base, build)
        python = str(locate_python(build))
        made = ask_interpreter(python, topics=("numpy", "packages"))
        duration_s = round(time.monotonic() - started, 1)
        record = {
            "modelreg_environment": _FORMAT,
            "build": build.name,
            "requirements": list(requirements),
            "python": {"version": base.version, "abi": base.abi, "made_of": os.path.realpath(python)},
            "built": datetime.now(timezone.utc).isoformat(timespec="seconds"),
            "duration_s": duration_s,
            "installer": installer.name,
            "numpy": made.numpy,
            "numpy_fault": made.numpy_fault,
            "packages": list(made.packages),
        }
        replace_atomically(folder / RECORD_FILE, (json.dumps(record, indent=2) + "\n").encode())
    except BaseException:  # an interruption too: what is half built would only take room
        shutil.rmtree(build, ignore_errors=True)
        raise
    finally:
        shutil.rmtree(build.with_name(f"{build.name}.tmp"), ignore_errors=True)
    say(f"built the environment with {names} in {duration_s:.0f} s")
    return BuiltEnvironment(python=python, numpy=made.numpy, numpy_fault=made.numpy_fault)


def _install(installer: Installer, requirements: Sequence[str], base: Interpreter, build: Path) -> None:
    make, install = installer.make_commands(base.path, build, requirements)
    wanted = f"install {', '.join(requirements)} for Python {base.short_version}"
    temporary = build.with_name(f"{build.name}.tmp")
    temporary.mkdir()
    steps = (
        (make, f"make a virtual environment of {base.path}", _advise_on_making(installer)),
        (install, wanted, "check the names and versions, and that this Python has them"),
    )
    for command, what, advice in steps:
        try:
            # Its folder is the working directory: uv would read the pyproject.toml of the user's.
            ending = run_to_end(
                command,
                # What it unpacks goes where we sweep, and not to a small disk in memory.
                variables={**installer.make_variables(), "TMPDIR": str(temporary)},
                limit_s=BUILD_LIMIT_S,
                folder=build.parent,
            )
        except OSError as error:
            raise EnvironmentUnavailable(
                f"requirements: expected {installer.name} to {what}, got {command[0]}, which cannot be "
                f"started: {error.strerror or error}"
            ) from error
        if ending.code != 0:
            raise EnvironmentUnavailable(
                f"requirements: expected {installer.name} to {what}; {advice}; it {ending.description}"
            )


def _advise_on_making(installer: Installer) -> str:
    if installer.name == "uv":
        return "try another interpreter"
    return "some systems keep venv in a package of its own (python3-venv), or put uv on PATH"


def _sweep(folder: Path) -> None:
    """Remove the record and every build, also one that a killed process left."""
    with suppress(FileNotFoundError):
        (folder / RECORD_FILE).unlink()  # first: a build that is half removed must not count
    for inside in folder.iterdir():
        if inside.is_dir() and not inside.is_symlink():
            shutil.rmtree(inside, ignore_errors=True)


def _read_record(folder: Path) -> BuiltEnvironment | None:
    """Return a complete environment; None where there is none, or its interpreter is gone or another one."""
    try:
        record: Mapping[str, Any] = json.loads((folder / RECORD_FILE).read_bytes())
        python = locate_python(folder / Path(record["build"]).name)
        made_of = record["python"]["made_of"]
        numpy, numpy_fault = record["numpy"], record["numpy_fault"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    # The system's interpreter is behind a link: removed, or led to another version, packages do not fit.
    if not python.exists() or os.path.realpath(python) != made_of:
        return None
    return BuiltEnvironment(python=str(python), numpy=numpy, numpy_fault=numpy_fault)
