"""What builds an environment: uv, or venv and pip.

What belongs here: which of them, and their command lines. uv where it is on PATH, for it is faster;
but uv does not read pip's configuration: where that says where packages come from, and uv's says
nothing, pip does it. To add an installer, return its :class:`Installer` from
:func:`choose_installer`.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_modelreg.engine.environments.command import run_to_end
from pytest_modelreg.observe.worker_process import make_variables

_ASK_LIMIT_S = 30.0
_SOURCES = (
    "index-url",
    "extra-index-url",
    "find-links",
    "no-index",
    "proxy",
    "cert",
    "client-cert",
    "trusted-host",
)
"""Settings of pip that say where packages come from, and how they are reached."""

_UV_SOURCES = (
    "UV_INDEX_URL",
    "UV_DEFAULT_INDEX",
    "UV_INDEX",
    "UV_EXTRA_INDEX_URL",
    "UV_FIND_LINKS",
    "UV_NO_INDEX",
    "UV_CONFIG_FILE",
    "UV_OFFLINE",
)
_CHANGES: dict[str, str | None] = {
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "PIP_NO_INPUT": "1",
    # These would put packages elsewhere than into the environment.
    "PIP_USER": "0",
    "PIP_TARGET": None,
    "PIP_PREFIX": None,
    "PIP_ROOT": None,
    "PIP_PYTHON": None,
    "PIP_DRY_RUN": None,
    "UV_SYSTEM_PYTHON": None,
    "UV_PYTHON": None,
    "UV_PROJECT_ENVIRONMENT": None,
}


@dataclass(frozen=True, kw_only=True)
class Installer:
    """A program that builds environments.

    Parameters
    ----------
    name : str
        ``uv`` or ``pip``.
    program : str or None
        Its path; None for pip, which every environment brings.
    reason : str
        Why not the other one; empty where there was no choice.
    """

    name: str
    program: str | None = None
    reason: str = ""

    def make_commands(self, base: str, folder: Path, requirements: Sequence[str]) -> list[list[str]]:
        """Return the commands that make an environment of an interpreter in a folder, in order."""
        python = str(locate_python(folder))
        if self.program is None:
            return [
                [base, "-m", "venv", str(folder)],
                [python, "-m", "pip", "install", "--", *requirements],
            ]
        plain = [self.program, "--no-progress", "--color", "never"]
        return [
            [*plain, "venv", "--no-project", "--no-python-downloads", "--python", base, str(folder)],
            [*plain, "pip", "install", "--python", python, "--", *requirements],
        ]

    @staticmethod
    def make_variables() -> dict[str, str]:
        """Return the variables of its process: the user's, but for those that install elsewhere."""
        return make_variables(_CHANGES)


def locate_python(folder: Path) -> Path:
    """Return where the interpreter of a virtual environment is."""
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def choose_installer(base: str) -> Installer:
    """Return what is to build an environment of an interpreter."""
    uv = shutil.which("uv")
    if uv is None:
        return Installer(name="pip")
    if not _is_uv_configured():
        sources = _list_pip_sources(base)
        if sources:
            return Installer(name="pip", reason=f"pip's configuration, {', '.join(sources)}, is none of uv's")
    return Installer(name="uv", program=os.path.abspath(uv))


def _is_uv_configured() -> bool:
    if any(os.environ.get(name) for name in _UV_SOURCES):
        return True
    home = os.environ.get("APPDATA") if os.name == "nt" else os.environ.get("XDG_CONFIG_HOME") or "~/.config"
    places = [os.path.join(os.path.expanduser(home), "uv", "uv.toml")] if home else []
    return any(os.path.isfile(place) for place in (*places, "/etc/uv/uv.toml"))


def _list_pip_sources(base: str) -> list[str]:
    """Return which sources pip is told, by its variables or by any file that it reads."""
    told = {name for name in _SOURCES if os.environ.get(f"PIP_{name.replace('-', '_').upper()}")}
    # pip knows best where its files are; an environment made by uv has no pip, another one may.
    for python in dict.fromkeys((sys.executable, base)):
        try:
            ending = run_to_end(
                [python, "-m", "pip", "config", "list"], variables=make_variables({}), limit_s=_ASK_LIMIT_S
            )
        except OSError:
            continue
        if ending.code == 0:
            # global.index-url='https://...', :env:.index-url='https://...'
            keys = re.findall(r"(?m)^[^\s=]*\.([a-z-]+)=", ending.output)
            told.update(key for key in keys if key in _SOURCES)
            break
    return [name for name in _SOURCES if name in told]
