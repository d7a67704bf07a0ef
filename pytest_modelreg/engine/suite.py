"""A suite as the session runs it: its cases, and where everything of it is.

What belongs here: values. How they come from a file is ``suite_loading``'s.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pytest_modelreg.domain.case import REFERENCE, CaseSpec, OutputSpec
from pytest_modelreg.domain.check import CheckPlan, is_function
from pytest_modelreg.domain.sample import SampleSet


@dataclass(frozen=True, kw_only=True)
class CasePlan:
    """One case of a suite before its samples are read.

    Parameters
    ----------
    template : CaseSpec
        What is to be observed, with an empty sample set.
    checks : CheckPlan
        What is asked of declared and all other outputs.
    keeps_golden : bool
        Whether its golden is its own; a variant without one is judged against the
        reference's.
    marks : tuple of str
        Names by which a test run selects it.
    line : int
        Where the suite file declares it, from 1.
    """

    template: CaseSpec
    checks: CheckPlan = field(default_factory=CheckPlan)
    keeps_golden: bool = True
    marks: tuple[str, ...] = ()
    line: int = 1

    @property
    def id(self) -> str:
        """The case id, ``<suite>[<variant>]``."""
        return self.template.id

    @property
    def variant(self) -> str:
        """The variant's name; ``reference`` for the reference."""
        return self.template.variant

    @property
    def axes(self) -> Mapping[str, Any]:
        """The axis values in which the case differs from the reference, as written."""
        return self.template.axes

    @property
    def golden_variant(self) -> str:
        """The variant whose golden the case is judged against."""
        return self.variant if self.keeps_golden else REFERENCE

    @property
    def compute_dtypes(self) -> tuple[str, ...]:
        """Dtypes that the case declares its model to compute in."""
        return tuple(dtype for dtype in (self.template.dtype, self.template.autocast) if dtype is not None)

    @property
    def allows_other_dtype(self) -> bool:
        """Whether outputs of another floating dtype than the golden's are no finding."""
        return bool(self.compute_dtypes) or self.template.runtime.transform is not None

    @property
    def functions(self) -> tuple[str, ...]:
        """References of the checks that are functions of the suite's own."""
        asked = [*self.checks.by_output.values(), self.checks.default]
        names = (limit.name for checks in asked for limit in checks.limits)
        return tuple(dict.fromkeys(filter(is_function, names)))

    @property
    def outputs(self) -> Mapping[str, OutputSpec]:
        """Declared outputs by output path."""
        return self.template.outputs

    def spec(self, samples: SampleSet) -> CaseSpec:
        """Return what observing this case on these samples needs to know."""
        return replace(self.template, samples=samples)


@dataclass(frozen=True, kw_only=True)
class Suite:
    """One suite file.

    Parameters
    ----------
    name : str
        Part of case ids and golden folders.
    file, root : Path
        The suite file and its folder, absolute.
    where : str
        File and line of the name, for messages: ``modelreg.yaml:2``.
    samples : SampleSet
        What the file says of the sample set, its samples not read; folder or file exist.
    golden_root : Path
        Absolute; need not exist.
    model : str
        Reference of the model factory, or the runtime that brings a model, for the header.
    cases : tuple of CasePlan
        Never empty; the reference first.
    golden_per : tuple of str
        Facts by which it keeps a golden an environment; empty: one golden for all.
    golden_budget_mb : float
        Size of all its goldens above which a run warns, in MB (10^6 bytes).
    trace_mb : float
        Size of the inputs that all its goldens keep for diagnosis, in MB; 0: they keep no trace.
    """

    name: str
    file: Path
    root: Path
    where: str
    samples: SampleSet
    golden_root: Path
    model: str
    cases: tuple[CasePlan, ...]
    golden_per: tuple[str, ...] = ()
    golden_budget_mb: float = 20.0
    trace_mb: float = 8.0

    @property
    def trace_bytes(self) -> int:
        """What the inputs kept in one golden may weigh, so that all together stay within ``trace_mb``."""
        n_goldens = sum(case.keeps_golden for case in self.cases)
        return int(self.trace_mb * 10**6 / max(1, n_goldens))
