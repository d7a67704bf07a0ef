"""Observing or tracing a case in another process: another interpreter, other packages, other variables.

What belongs here: what the worker is asked, and what is said when it does not answer. Which
interpreter it is, and how it came about, is the caller's. Nothing is left behind: no process, whether
this one is interrupted or killed, and no file but the arrays.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from pytest_modelreg.domain.case import CaseSpec
from pytest_modelreg.domain.errors import EnvironmentUnavailable
from pytest_modelreg.domain.observation import Observation
from pytest_modelreg.domain.trace import Trace, TraceRequest
from pytest_modelreg.observe.handed_inputs import write_handed_inputs
from pytest_modelreg.observe.kept_inputs import KeptInputs
from pytest_modelreg.observe.passes import Progress
from pytest_modelreg.observe.worker_process import Elsewhere, describe_end, run_worker
from pytest_modelreg.store.job_file import JOB_FILE, RESULT_FILE, Job, read_result, write_job
from pytest_modelreg.store.observation_store import OBSERVATION_FILE, read_observation
from pytest_modelreg.store.trace_record import TRACE_FILE, read_trace_record

_OUTPUT_FILE = "output.txt"
_INPUTS_FILE = "inputs.json"
_TRACING_FOLDER = "tracing"
_OUR_FRAMES = (str(Path(__file__).resolve().parents[1]), '"<frozen ', '"<string>"')
_TAIL_LINES = 15
_TAIL_BYTES = 16384


def observe_elsewhere(
    spec: CaseSpec,
    folder: Path,
    place: Elsewhere,
    *,
    progress: Progress | None = None,
    handed: KeptInputs | None = None,
    probes: bool = False,
) -> Observation:
    """Run one case in another process and record what it produced, as ``observe_case`` does here.

    Parameters
    ----------
    folder : Path
        Where the arrays are written; made when it does not exist.
    handed : KeptInputs or None
        Inputs that were prepared here; None: they are prepared there.
    probes : bool
        Whether inputs are probed.

    Raises
    ------
    EnvironmentUnavailable
        The process could not be started, crashed, or did not answer in time; with the tail of
        what it printed.
    CaseError
        Whatever ``observe_case`` raised there.
    """
    folder = folder.absolute()
    job = Job(
        spec=replace(spec, environment=None), folder=str(folder), probes=probes, checkout=place.checkout
    )
    with _answered(job, place, progress=progress, handed=handed):
        observation = read_observation(folder)
    if handed is None:
        return observation
    facts = handed.facts
    return replace(observation, stages=facts.stages, checklist=facts.checklist, habits=facts.habits)


def trace_elsewhere(
    spec: CaseSpec,
    folder: Path,
    place: Elsewhere,
    request: TraceRequest,
    *,
    handed: KeptInputs | None = None,
    is_of_graph: bool = False,
) -> Trace:
    """Trace one case in another process, as ``observe_trace`` and ``observe_graph_trace`` do here.

    Parameters
    ----------
    folder : Path
        Where the trace's files are put once it is whole; a process that fails leaves none.
    handed : KeptInputs or None
        Inputs of the chosen samples that were prepared here; None: they are prepared there.
    is_of_graph : bool
        Whether the exported model is traced.

    Raises
    ------
    EnvironmentUnavailable
        As :func:`observe_elsewhere`.
    CaseError, GoldenError, RunFolderError
        Whatever was raised there.
    """
    folder = folder.absolute()
    own = folder / _TRACING_FOLDER
    digests = {name: request.digests[name] for name in request.chosen if name in request.digests}
    job = Job(
        spec=replace(spec, environment=None),
        folder=str(own),
        checkout=place.checkout,
        trace=replace(request, digests=digests),
        is_of_graph=is_of_graph,
    )
    try:
        with _answered(job, place, handed=handed):
            trace = read_trace_record(own)
        for file in trace.files:
            if (own / file.file).exists():  # exact inputs that were given stay where they are
                os.replace(own / file.file, folder / file.file)
    finally:
        shutil.rmtree(own, ignore_errors=True)
    return trace


@contextmanager
def _answered(
    job: Job, place: Elsewhere, *, progress: Progress | None = None, handed: KeptInputs | None = None
) -> Iterator[None]:
    """Have a worker carry out a job; inside the block its answer lies in the job's folder."""
    folder, case = Path(job.folder), job.spec.id
    folder.mkdir(parents=True, exist_ok=True)
    asked, inputs = folder / JOB_FILE, folder / _INPUTS_FILE
    output, result = folder / _OUTPUT_FILE, folder / RESULT_FILE
    try:
        if handed is not None:
            write_handed_inputs(inputs, handed)
            job = replace(job, inputs=str(inputs))
        write_job(asked, job)
        try:
            with output.open("wb") as stream:
                code = run_worker(case, place, asked, answer=result, output=stream, progress=progress)
        except EnvironmentUnavailable as fault:
            if output.stat().st_size:
                raise EnvironmentUnavailable(f"{fault}{_read_tail(output)}") from fault
            raise
        if not result.exists():  # once it is there, a crash of a library's teardown changes nothing
            raise EnvironmentUnavailable(
                f"{case}: environment {place.description}: the observation there {describe_end(code)} "
                f"without an answer{_read_tail(output)}"
            )
        error = read_result(result)
        if error is not None:
            raise error
        yield
    finally:
        for file in (asked, inputs, output, result, folder / OBSERVATION_FILE, folder / TRACE_FILE):
            with suppress(OSError):
                file.unlink()


def _read_tail(output: Path) -> str:
    """Return the last lines that the worker printed, each on a line of its own."""
    try:
        with output.open("rb") as stream:
            stream.seek(0, os.SEEK_END)
            stream.seek(max(0, stream.tell() - _TAIL_BYTES))
            text = stream.read().decode("utf-8", "replace")
    except OSError:
        return ""
    lines = [line.rstrip() for line in text.splitlines() if line.strip() and not _is_ours(line)]
    told = "".join(f"\n  {line}" for line in lines[-_TAIL_LINES:])
    return f"; it printed last:{told}" if lines else "; it printed nothing"


def _is_ours(line: str) -> bool:
    """Whether a line of a dead process's traceback tells of how it was started, not of what it did."""
    if line.startswith("Extension modules:"):
        return True
    return line.lstrip().startswith('File "') and any(mark in line for mark in _OUR_FRAMES)
