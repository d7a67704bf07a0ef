"""Why inputs differ: those that a golden keeps, whole or at points, against those of now.

What belongs here: where this run's side comes from, with a model that has run and without, and handing
both sides to ``diagnose``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from pytest_modelreg.diagnose import DriftCase, InputPair
from pytest_modelreg.diagnose.inputs import PointPair, explain_inputs, explain_points
from pytest_modelreg.diagnose.ranking import rank_findings
from pytest_modelreg.domain.case import CaseSpec
from pytest_modelreg.domain.cause import CauseFinding
from pytest_modelreg.domain.errors import ModelRegError
from pytest_modelreg.domain.golden import Golden
from pytest_modelreg.domain.observation import UNREPEATABLE
from pytest_modelreg.domain.precheck import PrecheckResult
from pytest_modelreg.domain.trace import Trace
from pytest_modelreg.engine.diagnosis.input_pairs import pair_arrays
from pytest_modelreg.engine.diagnosis.input_points import PointsOf, pair_points
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
        else _explain_prepared(result, golden, golden_folder, spec, folder)
    )
    return rank_findings([*named, *found])


def digest_kept_inputs(trace: Trace) -> str:
    """Return one digest over all that a trace keeps of inputs."""
    return " ".join(part.file.sha256 for part in (trace.exact, trace.points) if part is not None)


def explain_kept_inputs(
    drift: DriftCase, folder: Path, *, has_time: Callable[[], bool]
) -> tuple[CauseFinding, ...]:
    """Return what turns the golden's inputs into this run's.

    By the inputs that both sides keep whole; where these are the same, or none is kept, by points of those
    that differ. An explanation of whole inputs is held against points of others.

    Parameters
    ----------
    folder : Path
        Where files may be written meanwhile.
    has_time : callable
        Asked before each step.

    Raises
    ------
    ModelRegError
        When kept inputs are not as recorded.
    """
    then, today = drift.then, drift.today
    if then is None:
        return ()
    exact, now = then.trace.exact, None if today is None else today.trace.exact
    pairs: Sequence[InputPair] = ()
    if exact is not None and now is not None and today is not None:
        pairs = pair_arrays(
            read_exact_arrays(then.folder, exact), read_exact_arrays(today.folder, now), drift.spec
        )
    worst = drift.worst_rel_l2
    changed = sorted(drift.changed_inputs, key=lambda name: -worst.get(name, 0.0))
    digests = {sample.id: sample.input_digest for sample in drift.observation.samples}
    points_of = PointsOf(golden=drift.golden, folder=then.folder)
    return _explain(pairs, changed, digests, points_of, drift.spec, folder, has_time)


def _explain_prepared(
    result: PrecheckResult, golden: Golden, golden_folder: Path, spec: CaseSpec, folder: Path
) -> tuple[CauseFinding, ...]:
    """Return what turns the golden's inputs into those of now.

    Empty where the golden keeps no inputs, or they cannot be made again on their own.
    """
    trace = golden.observation.trace
    if trace is None or result.inputs is None:
        return ()
    end = time.monotonic() + TIME_S
    pairs: Sequence[InputPair] = ()
    try:
        if trace.exact is not None:
            alone = replace(spec, samples=confine(spec.samples, frozenset(trace.exact.ids)))
            kept = prepare_inputs(alone, folder, to_tensors=is_fed_tensors(golden.observation))
            try:
                actual = read_kept_arrays(kept)
            finally:
                kept.remove()
            pairs = pair_arrays(read_exact_arrays(golden_folder, trace.exact), actual, spec)
        changed = [distance.sample for distance in result.inputs.distances]
        points_of = PointsOf(golden=golden, folder=golden_folder)
        return _explain(pairs, changed, {}, points_of, spec, folder, lambda: time.monotonic() < end)
    except ModelRegError:  # the precheck itself has said what is wrong with them
        return ()


def _explain(
    pairs: Sequence[InputPair],
    changed: Sequence[str],
    digests: Mapping[str, str | None],
    points_of: PointsOf,
    spec: CaseSpec,
    folder: Path,
    has_time: Callable[[], bool],
) -> tuple[CauseFinding, ...]:
    """Explain whole inputs, and hold that against points of other samples; or explain points."""
    whole = {pair.sample for pair in pairs}
    others = [name for name in changed if name not in whole]
    is_explained = any(pair.sample in set(changed) for pair in pairs)
    alike = (name for name in points_of.golden_ids if name not in set(changed))
    points: Sequence[PointPair] = ()
    if others and has_time():
        try:
            points = pair_points(
                points_of,
                spec,
                folder,
                changed=others,
                alike=() if is_explained else alike,
                digests=digests,
            )
        except ModelRegError:  # what is whole still tells
            points = ()
    found = explain_inputs(pairs, has_time=has_time, others=points) if pairs else ()
    return found or explain_points(points, has_time=has_time)
