"""What judging a case needs: both sides, and what the suite asks of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_modelreg.domain.case import OutputSpec, case_id
from pytest_modelreg.domain.check import CheckPlan
from pytest_modelreg.domain.golden import Golden
from pytest_modelreg.domain.observation import Observation
from pytest_modelreg.domain.output_path import find_entry
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
        The suite's sample set: tags and labels come from here.
    outputs : mapping of str to OutputSpec
        Declared outputs by output path or pattern; any other is a tensor.
    checks : CheckPlan
        What the suite asks.
    compute_dtypes : tuple of str
        Dtypes that the case declares to compute in (``dtype``, ``autocast``): values are judged at
        the loosest one's limit.
    allows_other_dtype : bool
        Whether the case declares what may change the outputs' dtypes: ``dtype``, ``autocast`` or
        ``transform``.
    is_variant : bool
        Whether the golden is another case's, the reference's.
    is_handed_over : bool
        Whether a Python test computed the values itself, so that the settings on record are
        those of the test's process, not those of a forward pass.
    is_numbered : bool
        Whether samples have no names but their numbers: then another count of them is another
        shape of the values, not another sample set.
    functions : mapping of str to callable
        The suite's own checks by reference, imported: ``fn(expected, actual, samples)``.
    only : frozenset of str or None
        Samples to which the judgement is confined: the golden's others are not missed. None: all.
    """

    golden: Golden
    golden_folder: Path
    observation: Observation
    observation_folder: Path
    samples: SampleSet
    outputs: Mapping[str, OutputSpec]
    checks: CheckPlan
    compute_dtypes: tuple[str, ...] = ()
    allows_other_dtype: bool = False
    is_variant: bool = False
    is_handed_over: bool = False
    is_numbered: bool = False
    functions: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    only: frozenset[str] | None = None

    @property
    def case(self) -> str:
        """The case id, for messages."""
        return case_id(self.observation.suite, self.observation.variant)

    def spec_of(self, path: str) -> OutputSpec:
        """Return what the numbers at this output path mean."""
        return find_entry(path, self.outputs) or OutputSpec()

    def declares(self, axis: str) -> bool:
        """Return whether the case is a variant that differs from the golden's case in this axis."""
        return self.is_variant and axis in self.observation.axes
