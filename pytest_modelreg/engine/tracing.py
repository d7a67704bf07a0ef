"""When a case is traced, and on which samples.

What belongs here: the request, and what becomes of the answer. What a trace holds is
``domain.trace``'s, who gathers it ``observe``'s.
"""

from __future__ import annotations

from dataclasses import replace

from pytest_modelreg.domain.golden import Golden
from pytest_modelreg.domain.trace import Trace, TraceRequest
from pytest_modelreg.engine.outcome import Outcome
from pytest_modelreg.engine.suite import Suite
from pytest_modelreg.observe import choose_samples, keep_points
from pytest_modelreg.observe.tracing.input_points import SHARE
from pytest_modelreg.observe.tracing.sample_choice import MAX_SAMPLES


def request_trace(outcome: Outcome, suite: Suite) -> TraceRequest | None:
    """Return what is asked of the trace of an outcome; None where the suite keeps none."""
    if not suite.trace_bytes or outcome.samples is None or outcome.observation is None:
        return None
    digests = {
        sample.id: sample.input_digest
        for sample in outcome.observation.samples
        if sample.input_digest is not None
    }
    known = list_traced(outcome.golden)
    chosen = dict.fromkeys((*known, *choose_samples(outcome.samples)))
    wanted = [name for name in chosen if name in digests][:MAX_SAMPLES]
    return TraceRequest(chosen=tuple(wanted), digests=digests, max_bytes=suite.trace_bytes)


def list_traced(golden: Golden | None) -> tuple[str, ...]:
    """Return the samples whose exact inputs a golden keeps."""
    trace = None if golden is None else golden.observation.trace
    return () if trace is None or trace.exact is None else trace.exact.ids


def with_trace(outcome: Outcome, trace: Trace | None, *, max_bytes: int) -> Outcome:
    """Return an outcome whose observation has this trace, with the points that it keeps.

    Parameters
    ----------
    max_bytes : int
        What exact inputs and points may weigh together: points take a share of what is left.

    Raises
    ------
    GoldenError, RunFolderError
        When the observation's points are not as recorded, or cannot be written.
    """
    observation, folder = outcome.observation, outcome.observation_folder
    if trace is None or observation is None:
        return outcome
    if observation.input_points is not None and folder is not None:
        exact = trace.exact
        points = keep_points(
            folder,
            observation.input_points,
            without=() if exact is None else exact.ids,
            max_bytes=SHARE * (max_bytes - (0 if exact is None else exact.n_bytes)),
        )
        trace = replace(trace, points=points)
    return replace(outcome, observation=replace(observation, input_points=None, trace=trace))
