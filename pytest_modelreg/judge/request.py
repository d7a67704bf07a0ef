"""What judging a case needs: both sides, and what the suite asks of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pytest_modelreg.domain.case import OutputSpec, case_id
from pytest_modelreg.domain.check import CheckPlan
from pytest_modelreg.domain.golden import Golden
from pytest_modelreg.domain.observation import Observation
from pytest_modelreg.domain.sample import SampleSet


@dataclass(frozen=True, kw_only=True)
class JudgeRequest:
    """One observation to be held against one golden.

    Parameters
    ----------
    golden : Golden
        Expected side; its files are already verified.
    golden_folder, observation_folder : pathlib.Path
        Where the arrays of either side are.
    observation : Observation
        Actual side.
    samples : SampleSet
        The suite's sample set: tags come from here.
    outputs : mapping of str to OutputSpec
        Declared outputs by output path; any other is a tensor.
    checks : CheckPlan
        What the suite asks.
    """

    golden: Golden
    golden_folder: Path
    observation: Observation
    observation_folder: Path
    samples: SampleSet
    outputs: Mapping[str, OutputSpec]
    checks: CheckPlan

    @property
    def case(self) -> str:
        """The case id, for messages."""
        return case_id(self.observation.suite, self.observation.variant)

    def spec_of(self, path: str) -> OutputSpec:
        """Return what the numbers at this output path mean."""
        return self.outputs.get(path, OutputSpec())
