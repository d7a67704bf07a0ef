"""Other programs, run to their end: interpreters that are asked, installers.

What belongs here: the process and what it printed. What is run, and what its answer means, is the
caller's.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pytest_modelreg.observe import warden
from pytest_modelreg.observe.worker_process import describe_end, end_process

TAIL_LINES = 15
_LINE_CHARS = 300
# -S, -I: nothing but the standard library, whatever the variables say.
_WARDEN = (sys.executable, "-I", "-S", warden.__file__) if sys.executable else ()


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


def run_to_end(
    command: Sequence[str],
    *,
    variables: Mapping[str, str],
    limit_s: float,
    folder: Path | None = None,
) -> Ending:
    """Run a program and return how it ended; nothing that it started lives on, also when we are killed.

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
            [*_WARDEN, *command],
            cwd=folder,
            env=dict(variables),
            # Never ours: a question for a password would wait for ever. The warden gives it none.
            stdin=subprocess.PIPE if _WARDEN else subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        code: int | None = None
        try:
            with suppress(subprocess.TimeoutExpired):
                code = process.wait(timeout=limit_s)
        finally:
            end_process(process)
        output.seek(0)
        text = output.read().decode("utf-8", "replace")
    refusal = re.fullmatch(r"errno: (\d+)\n", text) if code == warden.REFUSED else None
    if refusal is not None:
        raise OSError(int(refusal[1]), os.strerror(int(refusal[1])), command[0])
    return Ending(code=code, output=text)
