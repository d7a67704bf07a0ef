"""Gathering all declared facts into one fingerprint."""

from __future__ import annotations

import warnings
from collections.abc import Mapping

from pytest_modelreg.domain.environment import FactValue, Fingerprint
from pytest_modelreg.fingerprint.collectors import (
    cpu,
    gpu,
    interpreter,
    packages,
    torch_build,
    torch_knobs,
    variables,
)
from pytest_modelreg.fingerprint.fact import declared_facts, read_fact

COLLECTORS = (interpreter, cpu, torch_build, torch_knobs, gpu, packages, variables)
"""The modules whose import declares the facts."""

NO_FACTS: Mapping[str, FactValue] = {}


def collect(
    *, runtime: Mapping[str, FactValue] = NO_FACTS, project: Mapping[str, FactValue] = NO_FACTS
) -> Fingerprint:
    """Gather the facts about this process, as it is now.

    Nothing is imported for a fact: what a framework alone can tell is asked only when
    the framework is loaded, else the fact is None with that reason. Facts that cannot
    change are read once a process, settings every time.

    Parameters
    ----------
    runtime : mapping of str to scalar
        Options of the runtime that ran the model (``{"kind": "eager"}``), recorded
        under ``runtime.``; None means "not set".
    project : mapping of str to scalar
        What the project adds, by dotted key, as
        :func:`~pytest_modelreg.fingerprint.ask_project_facts` returned it.

    Returns
    -------
    Fingerprint
        Keys sorted; every None has a reason.
    """
    facts: dict[str, FactValue] = {}
    reasons: dict[str, str] = {}
    neutral: list[str] = []
    with warnings.catch_warnings():
        # Asking torch for settings with an older and a newer interface warns of the older one;
        # under -W error that would lose the fact, and the user did nothing to deserve it.
        warnings.simplefilter("ignore")
        for key, declared in declared_facts().items():
            reading = read_fact(declared)
            facts[key] = reading.value
            if reading.value is None:
                reasons[key] = reading.reason or "not set"
            if declared.is_neutral_here:
                neutral.append(key)
    for option, value in runtime.items():
        facts[f"runtime.{option}"] = value
        if value is None:
            reasons[f"runtime.{option}"] = "not set"
    for key, value in project.items():
        facts[key] = value
        if value is None:
            reasons[key] = "the project does not know it"
    return Fingerprint(
        facts=dict(sorted(facts.items())),
        reasons=dict(sorted(reasons.items())),
        neutral=tuple(sorted(neutral)),
    )
