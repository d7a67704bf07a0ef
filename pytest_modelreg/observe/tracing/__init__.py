"""Tracing: what is kept of a case, beside its answers, so that a later drift can be explained.

What belongs here: running a case once more on a few samples and writing down what it was made of and
what happened inside. To keep one more fact, give it a module that returns it and a field of
:class:`~pytest_modelreg.domain.trace.Trace`, and call it from ``case_trace``, which holds the order.
"""

from __future__ import annotations

from pytest_modelreg.observe.tracing.case_trace import observe_trace
from pytest_modelreg.observe.tracing.exact_inputs import open_exact, read_exact_arrays, read_kept_arrays
from pytest_modelreg.observe.tracing.graph_trace import observe_graph_trace
from pytest_modelreg.observe.tracing.input_points import keep_points, list_points
from pytest_modelreg.observe.tracing.sample_choice import choose_samples

__all__ = [
    "choose_samples",
    "keep_points",
    "list_points",
    "observe_graph_trace",
    "observe_trace",
    "open_exact",
    "read_exact_arrays",
    "read_kept_arrays",
]
