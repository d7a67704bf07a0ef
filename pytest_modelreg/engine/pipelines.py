"""The preprocessing pipelines of a suite: which cases are fed the same, and which have inputs of their own.

What belongs here: telling pipelines apart without running them, and the digest by which a golden
knows the inputs of the variants that are judged against it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

from pytest_modelreg.domain.case import REFERENCE
from pytest_modelreg.domain.errors import ModelRegError
from pytest_modelreg.domain.observation import Observation
from pytest_modelreg.domain.sample import SampleSet
from pytest_modelreg.engine.suite import CasePlan
from pytest_modelreg.observe import observe_inputs


def pipeline_of(case: CasePlan) -> tuple[object, ...]:
    """Return what the inputs of a case follow from, as far as a suite file says it."""
    spec = case.template
    return spec.loader, spec.preprocess, spec.python_path


def list_prechecked(cases: Iterable[CasePlan]) -> list[CasePlan]:
    """Return the cases whose inputs this environment makes; of those of others it cannot say."""
    return [
        case
        for case in cases
        if case.template.environment is None or case.template.environment.preprocess == "here"
    ]


def list_variants_apart(cases: Iterable[CasePlan]) -> list[CasePlan]:
    """Return the variants that are judged against the reference's golden, and fed something else."""
    known = list(cases)
    reference = next((case for case in known if case.variant == REFERENCE), None)
    if reference is None:
        return []
    return [
        case
        for case in list_prechecked(known)
        if not case.keeps_golden and pipeline_of(case) != pipeline_of(reference)
    ]


def is_fed_tensors(observation: Observation) -> bool:
    """Whether the model of an observation is a module, so that the numbers that it is fed become tensors.

    A module that refuses ``eval()``, as an exported program does, has weights all the same.
    """
    return observation.eval_applied or observation.weights_digest is not None


def digest_inputs(observation: Observation) -> str:
    """Return one sha256 over the samples of an observation and what the model is fed for each."""
    lines = (f"{sample.id}\0{sample.sha256}\0{sample.input_digest}\n" for sample in observation.samples)
    sha = hashlib.sha256()
    for line in lines:
        sha.update(line.encode("utf-8", "surrogatepass"))
    return sha.hexdigest()


def digest_variant_inputs(
    cases: Iterable[CasePlan], samples: SampleSet, *, to_tensors: bool, folder: Path
) -> dict[str, str]:
    """Return the digest of the inputs of each variant that is fed something else, by variant.

    One whose preprocessing cannot run is left out: its own case says why.

    Parameters
    ----------
    to_tensors : bool
        Whether the model is a module.
    folder : Path
        Where files may be written meanwhile.
    """
    digests = {}
    for case in list_variants_apart(cases):
        try:
            observation = observe_inputs(case.spec(samples), folder, to_tensors=to_tensors)
        except ModelRegError:
            continue
        digests[case.variant] = digest_inputs(observation)
    return digests
