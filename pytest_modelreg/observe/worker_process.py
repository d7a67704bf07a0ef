"""The process of an observation worker: started, followed, ended with everything that it started.

What belongs here: the process. What it is asked and what it answers is ``elsewhere``'s.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from pytest_modelreg.domain.errors import EnvironmentUnavailable
from pytest_modelreg.observe.passes import Progress

BOOTSTRAP = """
import sys
if sys.version_info < (3, 10):
    sys.exit("expected Python 3.10 or newer, got " + sys.version.split()[0])
sys.path[:] = [folder for folder in sys.path if folder]
import importlib.util, os, runpy
folder = sys.argv[1]
if sys.platform.startswith("linux"):
    warden = runpy.run_path(os.path.join(folder, "observe", "warden.py"))
    warden["adopt_orphans"]()
    child = os.fork()
    if child:
        warden["stand_guard"](child)
spec = importlib.util.spec_from_file_location(
    "pytest_modelreg", os.path.join(folder, "__init__.py"), submodule_search_locations=[folder]
)
package = importlib.util.module_from_spec(spec)
sys.modules["pytest_modelreg"] = package
spec.loader.exec_module(package)
sys.argv[:] = ["pytest_modelreg.observe.worker", sys.argv[2]]
runpy.run_module("pytest_modelreg.observe.worker", run_name="__main__")
"""
"""Runs the worker of this very package, which need be on no path of the other interpreter.

Putting our ``site-packages`` on its path would give it our torch. Where a warden can have orphans, the
worker is its child: made before anything is imported, it costs no second start of the interpreter.
"""

_PACKAGE = Path(__file__).resolve().parents[1]
OURS_ALONE = frozenset(
    {"PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "VIRTUAL_ENV", "__PYVENV_LAUNCHER__", "PYTHONSAFEPATH"}
)
"""Variables that say where this interpreter finds its packages: another one would load them."""

_POLL_S = 0.2
_LEAVING_S = 10.0
"""How long a worker that has answered may take to end: a thread of the model's may never let it."""

_ENDING_S = 5.0
_WARDEN_S = 6.0
"""What the warden takes to end what does not listen, and a bit."""


@dataclass(frozen=True, kw_only=True)
class Elsewhere:
    """The process that observes.

    Parameters
    ----------
    python : str
        Absolute path of the interpreter.
    is_this_interpreter : bool
        Whether it is this very one, whose variables it then keeps.
    variables : mapping of str to str or None
        What to set, and what to unset.
    checkout : str or None
        Folder whose Python code must not be met there, because a revision stands in for it.
    description : str
        What it is called in messages: ``torch==2.13.0 (Python 3.11)``.
    time_limit_s : float
        Seconds after which it counts as hanging.
    advice : str
        What gives it more time.
    """

    python: str = sys.executable
    is_this_interpreter: bool = True
    variables: Mapping[str, str | None] = field(default_factory=dict)
    checkout: str | None = None
    description: str
    time_limit_s: float
    advice: str = "raise `time_limit_s` of the environment"


def run_worker(
    case: str, place: Elsewhere, job: Path, *, answer: Path, output: IO[bytes], progress: Progress | None
) -> int:
    """Start the worker and follow it to its end; return its exit code, 0 where it has to be ended.

    Parameters
    ----------
    answer : Path
        A file that is there once the worker has answered.
    """
    try:
        process = subprocess.Popen(
            [place.python, "-c", BOOTSTRAP, str(_PACKAGE), str(job)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=output,
            env={
                **make_variables(place.variables, is_this_interpreter=place.is_this_interpreter),
                "PYTHONFAULTHANDLER": "1",
            },
            # A group of its own: what it starts is ended with it, and Ctrl-C reaches it through us alone.
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        raise EnvironmentUnavailable(
            f"{case}: environment {place.description}: {place.python} cannot be started: {error}"
        ) from error
    try:
        return _follow(case, place, process, progress, answer)
    finally:
        end_process(process)


def _follow(
    case: str, place: Elsewhere, process: subprocess.Popen[bytes], progress: Progress | None, answer: Path
) -> int:
    lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
    threading.Thread(target=_read_lines, args=(process.stdout, lines), daemon=True).start()
    deadline = time.monotonic() + place.time_limit_s
    is_open, has_answered = True, False
    while True:
        if is_open:
            try:
                line = lines.get(timeout=_POLL_S)
            except queue.Empty:
                pass
            else:
                is_open = line is not None
                if line is not None and progress is not None:
                    _report(line, progress)
        else:
            # Its output is closed: it is ending, or something that it started lives on.
            with suppress(subprocess.TimeoutExpired):
                return process.wait(timeout=_POLL_S)
        if is_open and process.poll() is not None and lines.empty():
            return process.returncode
        if not has_answered and answer.exists():
            has_answered, deadline = True, time.monotonic() + _LEAVING_S
        if time.monotonic() > deadline:
            if has_answered:
                return 0
            raise EnvironmentUnavailable(
                f"{case}: environment {place.description}: no answer within {place.time_limit_s:.3g} s; it "
                f"was ended; if it only takes long, {place.advice}"
            )


def _read_lines(stream: IO[bytes] | None, lines: queue.SimpleQueue[bytes | None]) -> None:
    if stream is not None:
        with suppress(ValueError, OSError):  # closed when the process is ended
            for line in stream:
                lines.put(line)
    lines.put(None)


def _report(line: bytes, progress: Progress) -> None:
    try:
        done, total = json.loads(line)
        progress(int(done), int(total))
    except (ValueError, TypeError):  # written by something that kept our descriptor
        return


def end_process(process: subprocess.Popen[bytes]) -> None:
    """End a program that has a group of its own, with everything that it started; it is asked first."""
    has_ended = process.poll() is not None
    try:
        for ask in (signal.SIGTERM, getattr(signal, "SIGKILL", signal.SIGTERM)):
            with suppress(ProcessLookupError, PermissionError):
                if hasattr(os, "killpg"):
                    os.killpg(process.pid, ask)
                elif not has_ended:
                    process.terminate() if ask is signal.SIGTERM else process.kill()
            for patience_s in (_ENDING_S, _WARDEN_S):
                with suppress(subprocess.TimeoutExpired):
                    process.wait(timeout=patience_s)
                    break
                _close(process.stdin)  # asked in vain: the warden ends it, and what left its group
    finally:
        # Also when a second interruption cuts this short.
        _close(process.stdin)
        _close(process.stdout)


def _close(stream: IO[bytes] | None) -> None:
    if stream is not None:
        with suppress(OSError):
            stream.close()


def make_variables(changes: Mapping[str, str | None], *, is_this_interpreter: bool = False) -> dict[str, str]:
    """Return this process's variables as another process is to see them.

    Parameters
    ----------
    changes : mapping of str to str or None
        What to set, and what to unset.
    is_this_interpreter : bool
        Whether it finds its packages where this one does.
    """
    left_out = frozenset() if is_this_interpreter else OURS_ALONE
    variables = {name: value for name, value in os.environ.items() if name not in left_out}
    for name, value in changes.items():
        if value is None:
            variables.pop(name, None)
        else:
            variables[name] = value
    return variables


def describe_end(code: int) -> str:
    """Return how a process ended, from its exit code."""
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    reason = " (the system does that when memory runs out)" if name == "SIGKILL" else ""
    return f"was killed by {name}{reason}"
