"""Trying a candidate: the case as it is, observed with another revision's code or another version.

What belongs here: from a candidate to a case in another environment, and from its verdict to a
finding. Nothing is ever recorded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from pytest_modelreg.domain.case import EnvironmentSpec
from pytest_modelreg.domain.golden import Golden
from pytest_modelreg.domain.verdict import Verdict
from pytest_modelreg.engine.bisection.search import Finding, Trial
from pytest_modelreg.engine.outcome import Outcome
from pytest_modelreg.engine.suite import CasePlan

_FINDINGS = {Verdict.MATCH: Finding.GOOD, Verdict.DRIFT: Finding.BAD}

_PINNED = {
    "numpy.version": "numpy",
    "pillow.version": "Pillow",
    "safetensors.version": "safetensors",
    "onnx.version": "onnx",
    "onnxscript.version": "onnxscript",
    "onnxruntime.version": "onnxruntime",
    "transformers.version": "transformers",
    "tokenizers.version": "tokenizers",
}
"""Facts of a golden by which its other packages are pinned."""

_FREE = {"torch.version": "torch", "torchvision.version": "torchvision"}
"""Facts of packages that fit one version of another one: which, the installer finds out."""


class Trials:
    """Tries candidates and keeps what each came to.

    Parameters
    ----------
    place : callable
        From case and candidate to the case in the candidate's environment.
    run : callable
        Runs a case; its outcome is never concluded.
    """

    def __init__(
        self,
        case: CasePlan,
        *,
        place: Callable[[CasePlan, str], CasePlan],
        run: Callable[[CasePlan], Outcome],
        report: Callable[[Trial, int], None],
    ) -> None:
        self._case = case
        self._place = place
        self._run = run
        self._report = report
        self.outcomes: dict[str, Outcome] = {}
        """What the case came to, by candidate."""

    def attempt(self, candidate: str, n_left: int) -> Trial:
        """Run the case with a candidate; ``n_left`` are those not decided yet."""
        outcome = self._run(self._place(self._case, candidate))
        self.outcomes[candidate] = outcome
        finding = _FINDINGS.get(outcome.result.verdict, Finding.UNKNOWN)
        message = outcome.result.message
        if finding is Finding.UNKNOWN and outcome.result.verdict is not Verdict.ERROR:
            message = f"{outcome.result.verdict.value}: {message}"
        details = outcome.result.details if finding is Finding.UNKNOWN else ""
        trial = Trial(candidate=candidate, finding=finding, message=message, details=details)
        self._report(trial, n_left)
        return trial


def place_in_revision(case: CasePlan, commit: str) -> CasePlan:
    """Return a case observed with a commit's Python code, all else as it is."""
    return _in_environment(case, replace(_environment_of(case), revision=commit))


def place_in_version(case: CasePlan, package: str, version: str, *, others: Sequence[str]) -> CasePlan:
    """Return a case observed with one package in another version.

    Parameters
    ----------
    others : sequence of str
        Requirements beside it.
    """
    environment = _environment_of(case)
    kept = [text for text in (*environment.requirements, *others) if _name_of(text) != _normal(package)]
    named = {_name_of(text): text for text in kept}  # the last one wins: what the command names
    requirements = (f"{package}=={version}", *named.values())
    return _in_environment(case, replace(environment, requirements=requirements))


def list_packages(golden: Golden | None, package: str) -> list[str]:
    """Return what a golden was recorded with, as requirements, one package left out.

    torch and torchvision fit one version of each other: they are named without one.
    """
    if golden is None:
        return ["numpy"]
    facts = golden.observation.fingerprint.facts
    listed = [f"{name}=={facts[key]}" for key, name in _PINNED.items() if facts.get(key)]
    listed += [name for key, name in _FREE.items() if facts.get(key)]
    return [text for text in listed if _name_of(text) != _normal(package)]


def _environment_of(case: CasePlan) -> EnvironmentSpec:
    return case.template.environment or EnvironmentSpec()


def _in_environment(case: CasePlan, environment: EnvironmentSpec) -> CasePlan:
    return replace(case, template=replace(case.template, environment=environment))


def _name_of(requirement: str) -> str:
    found = re.match(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)", requirement)
    return _normal(found[1]) if found else requirement


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
