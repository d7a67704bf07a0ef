"""Other programs, run to their end: interpreters that are asked, installers.

What belongs here: the process and what it printed. What is run, and what its answer means, is the
caller's.
"""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pytest_modelreg.observe.worker_process import describe_end

TAIL_LINES = 15
_LINE_CHARS = 300

_ENDING_S = 5.0
_OURS_ALONE = frozenset(
    {"PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "VIRTUAL_ENV", "__PYVENV_LAUNCHER__", "PYTHONSAFEPATH"}
)
"""Variables that say where this interpreter finds its packages: another one would load them."""


@dataclass(frozen=True, kw_only=True)
class Ending:
    """How a program ended.

    Parameters
    ----------
    code : int or None
        Exit code, negative for a signal; None when its time was up.
    output : str
        What it printed, errors included, in the order in which it did.
    """

    code: int | None
    output: str

    @property
    def description(self) -> str:
        """How it ended and what it printed last, for the end of a message."""
        how = "did not end in time" if self.code is None else describe_end(self.code)
        lines = [line.rstrip() for line in self.output.splitlines() if line.strip()][-TAIL_LINES:]
        lines = [line if len(line) <= _LINE_CHARS else f"{line[:_LINE_CHARS]}..." for line in lines]
        if not lines:
            return f"{how}; it printed nothing"
        return "".join([f"{how}; it printed last:", *(f"\n  {line}" for line in lines)])


def make_variables(changes: Mapping[str, str | None]) -> dict[str, str]:
    """Return this process's variables as another interpreter is to see them.

    Parameters
    ----------
    changes : mapping of str to str or None
        What to set, and what to unset.
    """
    variables = {name: value for name, value in os.environ.items() if name not in _OURS_ALONE}
    for name, value in changes.items():
        if value is None:
            variables.pop(name, None)
        else:
            variables[name] = value
    return variables


def run_to_end(
    command: Sequence[str], *, variables: Mapping[str, str], limit_s: float, folder: Path | None = None
) -> Ending:
    """Run a program and return how it ended; nothing that it started lives on.

    Parameters
    ----------
    variables : mapping of str to str
        All variables of its process.
    limit_s : float
        Seconds after which it is ended.
    folder : Path or None
        Its working directory; None: this one.

    Raises
    ------
    OSError
        When it cannot be started.
    """
    # A file, not a pipe: what the program leaves running holds a pipe open, and we would wait for it.
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            list(command),
            cwd=folder,
            env=dict(variables),
            stdin=subprocess.DEVNULL,  # a question for a password would wait for ever
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        code: int | None = None
        try:
            with suppress(subprocess.TimeoutExpired):
                code = process.wait(timeout=limit_s)
        finally:
            _end(process)
        output.seek(0)
        return Ending(code=code, output=output.read().decode("utf-8", "replace"))


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a program and what it started, asking first: an installer then removes what it has half done."""
    has_ended = process.poll() is not None
    for ask in (signal.SIGTERM, getattr(signal, "SIGKILL", signal.SIGTERM)):
        with suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(process.pid, ask)
            elif not has_ended:
                process.terminate() if ask is signal.SIGTERM else process.kill()
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=_ENDING_S)
