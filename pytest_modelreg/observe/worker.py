"""The observation worker: observes or traces one case in an interpreter that has nothing of ours installed.

Run as ``python -m pytest_modelreg.observe.worker job.json``, or by :data:`~.worker_process.BOOTSTRAP`
where this package is on no path. It needs Python 3.10 and numpy, and whatever the case itself
needs. What belongs here: taking the job, answering it, and nothing else reaching standard output.

Standard output carries one JSON list a line, ``[samples done, samples in all]``; whatever user code
prints goes to standard error. The worker ends when its standard input is closed: whoever started it
is gone then.
"""

from __future__ import annotations

import faulthandler
import json
import os
import signal
import sys
import threading
from pathlib import Path
from typing import TextIO

from pytest_modelreg.domain.errors import EnvironmentUnavailable, ModelRegError
from pytest_modelreg.observe.case import observe_case
from pytest_modelreg.observe.failure import describe_crash, describe_failure
from pytest_modelreg.observe.handed_inputs import read_handed_inputs
from pytest_modelreg.observe.input_probes import KnownProbes
from pytest_modelreg.observe.tracing import observe_graph_trace, observe_trace
from pytest_modelreg.store.job_file import RESULT_FILE, Job, read_job, write_result
from pytest_modelreg.store.observation_store import write_observation
from pytest_modelreg.store.trace_record import write_trace_record

_ORPHANED = 70
"""Exit code of a worker whose parent has gone, or which was asked to end; nobody reads it."""

_UNWRITTEN = 74
"""Exit code of a worker that cannot write its answer."""


def main(arguments: list[str]) -> int:
    """Carry out the job in the file that is named; 0 when it is answered, by an error too."""
    faulthandler.enable()
    asked = _interrupt_when_asked()
    stream = _keep_output()
    threading.Thread(target=_end_with_parent, daemon=True).start()
    job = read_job(Path(arguments[0]))
    folder = Path(job.folder)
    try:
        _answer_job(job, folder, stream)
    except KeyboardInterrupt:
        if not asked.is_set():  # by the model itself
            raise
        return _ORPHANED  # its traceback would hide what was printed last
    except ModelRegError as error:
        return _answer(folder, error, describe_failure(error))
    except Exception as error:  # noqa: BLE001 - the edge of this process: the parent tells it as the case's
        return _answer(folder, ModelRegError(), describe_crash(error))
    return _answer(folder, None, "")


def _interrupt_when_asked() -> threading.Event:
    """Let user code remove its temporary folders when it is asked to end, which by default it would not."""
    asked = threading.Event()

    def interrupt(number: int, frame: object) -> None:
        asked.set()
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupt)
    return asked


def _answer(folder: Path, error: ModelRegError | None, text: str) -> int:
    try:
        write_result(folder / RESULT_FILE, error, text)
    except OSError as fault:  # a full disk: what was printed last is told, and that is then the reason
        sys.stderr.write(f"{text or f'the answer cannot be written: {fault}'}\n")
        return _UNWRITTEN
    return 0


def _answer_job(job: Job, folder: Path, stream: TextIO) -> None:
    """Gather what is asked for, and write it once it is known to be of the code that was asked for."""

    def report(done: int, total: int) -> None:
        print(json.dumps([done, total]), file=stream, flush=True)

    handed = None if job.inputs is None else read_handed_inputs(Path(job.inputs))
    if job.trace is None:
        observation = observe_case(
            job.spec,
            folder,
            progress=report,
            known=KnownProbes() if job.probes else None,
            handed=handed,
        )
        _require_own_code(job)
        write_observation(folder, observation)
        return
    if job.is_of_graph:
        trace = observe_graph_trace(job.spec, folder, job.trace)
    else:
        trace = observe_trace(job.spec, folder, job.trace, handed=handed)
    _require_own_code(job)
    write_trace_record(folder, trace)


def _require_own_code(job: Job) -> None:
    if job.checkout is not None and (foreign := list_modules_of(job.checkout)):
        raise EnvironmentUnavailable(
            f"{job.spec.id}: environment: revision: expected the Python code of the revision, got "
            f"{', '.join(foreign)} from the checkout, which the revision does not have or which an editable "
            "installation puts on the path; name its folder in python_path"
        )


def list_modules_of(checkout: str) -> list[str]:
    """Return the modules that were imported from a folder, packages installed below it left out."""
    inside, installed = (os.path.join(os.path.realpath(path), "") for path in (checkout, sys.prefix))
    found = []
    for name, module in sorted(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if not isinstance(file, str) or name.partition(".")[0] in ("pytest_modelreg", "__main__"):
            continue
        path = os.path.realpath(file)
        # torch.ops calls itself `_ops.py`, which names no file of the folder that this process is in.
        if os.path.isabs(file) and path.startswith(inside) and not path.startswith(installed):
            found.append(f"{name} ({path})")
    return found


def _keep_output() -> TextIO:
    """Return what stands for standard output, which from now on is standard error to all others."""
    stream = os.fdopen(os.dup(1), "w", encoding="utf-8")
    sys.stdout.flush()
    os.dup2(2, 1)
    return stream


def _end_with_parent() -> None:
    while os.read(0, 1):
        pass
    if hasattr(os, "killpg") and os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)  # with what the model started
    os._exit(_ORPHANED)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
