"""Values that a Python test hands over: the case they are, without a suite file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_modelreg.domain.case import OutputSpec, case_id
from pytest_modelreg.domain.check import CheckPlan
from pytest_modelreg.domain.observation import Observation
from pytest_modelreg.domain.sample import Sample, SampleSet
from pytest_modelreg.engine.outcome import Place
from pytest_modelreg.store import safe_component

VALUES_SUITE = "py"
"""The suite that the cases of all Python tests belong to; no suite file may have its name."""


@dataclass(frozen=True, kw_only=True)
class ValuesCase:
    """One check of a Python test.

    Parameters
    ----------
    variant : str
        Test and check: ``tests/test_embed.py::TestSmall::test_embed[a]::embed``.
    outputs, checks
        What the values mean and what is asked of them.
    values : Any
        What the test handed over.
    sample_ids : sequence of str or None
        One a sample, as in :func:`~pytest_modelreg.observe.observe_values`.
    command, recording_command : str
        What would accept a difference, and what records a golden that is missing.
    """

    variant: str
    place: Place
    values: Any
    outputs: Mapping[str, OutputSpec] = field(default_factory=dict)
    checks: CheckPlan = field(default_factory=CheckPlan)
    sample_ids: Sequence[str] | None = None
    command: str = ""
    recording_command: str = ""

    @property
    def id(self) -> str:
        """The case id, ``py[<test>::<check>]``."""
        return case_id(VALUES_SUITE, self.variant)


def values_golden(golden_root: Path, parts: Sequence[str]) -> Path:
    """Return the golden folder of a check: ``golden/py/<module>/<class>/<test[param]>/<name>``.

    Parameters
    ----------
    parts : sequence of str
        Module (dotted), classes, test with its parameters, check name.
    """
    return golden_root.joinpath(VALUES_SUITE, *map(safe_component, parts))


def samples_of(observation: Observation) -> SampleSet:
    """Return the sample set of values: ids only, without files, labels or tags."""
    return SampleSet(
        folder="",
        samples=tuple(Sample(id=sample.id, file="", sha256=sample.sha256) for sample in observation.samples),
    )
