"""A drift of a session explained: traced, replayed, and the causes put on record.

What belongs here: the edge between a case and its diagnosis. Whatever goes wrong here is a note of the
case: no verdict changes.
"""

from __future__ import annotations

import shutil
import time
from dataclasses import replace
from pathlib import Path

from pytest_modelreg.diagnose import DriftCase, TraceAt, explain_drift
from pytest_modelreg.domain.errors import ModelRegError
from pytest_modelreg.engine.diagnosis.budget import DiagnosisBudget
from pytest_modelreg.engine.diagnosis.replay import CaseReplay
from pytest_modelreg.engine.observer import Observer
from pytest_modelreg.engine.outcome import Outcome
from pytest_modelreg.engine.suite import Suite
from pytest_modelreg.engine.tracing import request_trace, with_trace
from pytest_modelreg.observe.failure import describe_crash

_TRACE_SHARE = 0.5
"""Of the time of a case, what another environment may take for its trace: its replays need the rest."""


def explain_outcome(
    outcome: Outcome, suite: Suite, observer: Observer, folder: Path, budget: DiagnosisBudget
) -> Outcome:
    """Return a drift with its causes, and with the trace that was needed to find them.

    Parameters
    ----------
    folder : Path
        For replays; removed afterwards.
    budget : DiagnosisBudget
        Of the run.

    Returns
    -------
    Outcome
        As it was, with a note, where it could not be explained.
    """
    started = time.monotonic()
    try:
        return _explain(outcome, suite, observer, folder, budget)
    except ModelRegError as error:
        return _note(outcome, str(error).partition("\n")[0])
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:  # noqa: BLE001 - the per-case edge: no diagnosis may cost a verdict
        return _note(outcome, describe_crash(error).partition("\n")[0])
    finally:
        budget.spend(time.monotonic() - started)
        shutil.rmtree(folder, ignore_errors=True)


def _explain(
    outcome: Outcome, suite: Suite, observer: Observer, folder: Path, budget: DiagnosisBudget
) -> Outcome:
    golden, observation, samples = outcome.golden, outcome.observation, outcome.samples
    source, case = outcome.observation_folder, outcome.case
    if golden is None or observation is None or samples is None or source is None or case is None:
        return outcome
    trace_s = _TRACE_SHARE * budget.case_s
    has_time = budget.start_case()
    spec = case.spec(samples)
    request = request_trace(outcome, suite)
    trace_fault = ""
    if request is not None:
        try:
            trace = observer.trace(spec, source, request, golden=golden, time_limit_s=trace_s)
        except ModelRegError as error:
            if spec.environment is None:
                raise
            # It has answered once: what it lacks for a trace, a replay here may not.
            trace, trace_fault = None, _shorten(error)
        outcome = with_trace(outcome, trace, max_bytes=suite.trace_bytes)
        observation = outcome.observation or observation
    drift = DriftCase(
        golden=golden,
        golden_folder=outcome.place.found.absolute(),
        observation=observation,
        result=outcome.result,
        spec=spec,
        today=None if observation.trace is None else TraceAt(trace=observation.trace, folder=source),
        trace_fault=trace_fault,
    )
    replay = CaseReplay(
        drift,
        outcome,
        observer,
        folder,
        explained=budget.explained,
        has_time=has_time,
        trace_s=trace_s,
    )
    causes = explain_drift(drift, replay)
    return replace(outcome, result=replace(outcome.result, causes=causes))


def _shorten(error: ModelRegError) -> str:
    """Return the first line of an error, with the last thing that a dead process printed."""
    first, *others = str(error).splitlines()
    return f"{first} {others[-1].strip()}" if others else first


def _note(outcome: Outcome, text: str) -> Outcome:
    notes = (*outcome.result.notes, f"the drift could not be explained: {text}")
    return replace(outcome, result=replace(outcome.result, notes=notes))
