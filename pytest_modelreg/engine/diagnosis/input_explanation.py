"""Why inputs differ, where no model has run: the inputs that a golden keeps against those of now.

What belongs here: preparing a golden's samples once more, and handing both sides to ``diagnose``.
"""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

from pytest_modelreg.diagnose.inputs import explain_inputs
from pytest_modelreg.diagnose.ranking import rank_findings
from pytest_modelreg.domain.case import CaseSpec
from pytest_modelreg.domain.cause import CauseFinding
from pytest_modelreg.domain.errors import ModelRegError
from pytest_modelreg.domain.golden import Golden
from pytest_modelreg.domain.observation import UNREPEATABLE
from pytest_modelreg.domain.precheck import PrecheckResult
from pytest_modelreg.engine.diagnosis.input_pairs import pair_arrays
from pytest_modelreg.engine.pipelines import is_fed_tensors
from pytest_modelreg.engine.sample_sets import confine
from pytest_modelreg.observe import prepare_inputs, read_exact_arrays, read_kept_arrays

TIME_S = 15.0
"""Time after which no further hypothesis is tried, seconds."""


def explain_precheck(
    result: PrecheckResult, golden: Golden, golden_folder: Path, spec: CaseSpec, folder: Path
) -> tuple[CauseFinding, ...]:
    """Return the causes of a precheck's drift, the best first: what judging named, and what is found here.

    Parameters
    ----------
    spec : CaseSpec
        The case, with its samples.
    folder : Path
        Where files may be written meanwhile.
    """
    named = () if result.behaviour is None else result.behaviour.causes
    habits = () if result.inputs is None else result.inputs.habits
    # What differs every time has no rule to be found, and one that fits by chance would mislead.
    found = (
        ()
        if any(habit.habit in UNREPEATABLE for habit in habits)
        else _explain_prepared(golden, golden_folder, spec, folder)
    )
    return rank_findings([*named, *found])


def _explain_prepared(
    golden: Golden, golden_folder: Path, spec: CaseSpec, folder: Path
) -> tuple[CauseFinding, ...]:
    """Return what turns the golden's inputs into those of now.

    Empty where the golden keeps no inputs, or they cannot be made again on their own.
    """
    trace = golden.observation.trace
    if trace is None or trace.exact is None:
        return ()
    end = time.monotonic() + TIME_S
    spec = replace(spec, samples=confine(spec.samples, frozenset(trace.exact.ids)))
    try:
        kept = prepare_inputs(spec, folder, to_tensors=is_fed_tensors(golden.observation))
        try:
            actual = read_kept_arrays(kept)
        finally:
            kept.remove()
        pairs = pair_arrays(read_exact_arrays(golden_folder, trace.exact), actual, spec)
    except ModelRegError:  # the precheck itself has said what is wrong with them
        return ()
    return tuple(explain_inputs(pairs, has_time=lambda: time.monotonic() < end))
