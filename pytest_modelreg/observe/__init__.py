"""Observing: running a case and recording what it produced, without an opinion.

What belongs here: imports of the user's modules, loading, preprocessing, collation,
building the model, its weights, global state, flattening what the model returned. What
does not: limits, goldens, verdicts; and how a framework runs a model (``runtimes``).

To add a step, add a module and place it in ``case``, which holds the order of things.
Frameworks are imported inside functions only.
"""

from __future__ import annotations

from pytest_modelreg.observe.case import observe_case
from pytest_modelreg.observe.checkpoint import CHECKPOINT_SUFFIXES
from pytest_modelreg.observe.elsewhere import observe_elsewhere, trace_elsewhere
from pytest_modelreg.observe.input_observation import observe_inputs, prepare_inputs
from pytest_modelreg.observe.input_probes import KnownProbes, read_known_probes
from pytest_modelreg.observe.kept_inputs import KeptInputs
from pytest_modelreg.observe.loaders import LOADERS
from pytest_modelreg.observe.outputs import Leaf, flatten_outputs
from pytest_modelreg.observe.shared_work import SharedWork
from pytest_modelreg.observe.suite_checks import suite_functions
from pytest_modelreg.observe.tracing import (
    choose_samples,
    keep_points,
    list_points,
    observe_graph_trace,
    observe_trace,
    open_exact,
    read_exact_arrays,
    read_kept_arrays,
)
from pytest_modelreg.observe.tracing.example_trial import observe_example_trial
from pytest_modelreg.observe.value_tree import read_values
from pytest_modelreg.observe.values import observe_values
from pytest_modelreg.observe.worker_process import Elsewhere

__all__ = [
    "CHECKPOINT_SUFFIXES",
    "Elsewhere",
    "KeptInputs",
    "KnownProbes",
    "LOADERS",
    "Leaf",
    "SharedWork",
    "choose_samples",
    "flatten_outputs",
    "keep_points",
    "list_points",
    "observe_case",
    "observe_elsewhere",
    "observe_example_trial",
    "observe_graph_trace",
    "observe_inputs",
    "observe_trace",
    "observe_values",
    "open_exact",
    "prepare_inputs",
    "read_exact_arrays",
    "read_kept_arrays",
    "read_known_probes",
    "read_values",
    "suite_functions",
    "trace_elsewhere",
]
