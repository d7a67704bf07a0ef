"""What judging a case came to: the verdict with the numbers behind it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_modelreg.domain.case import case_id
from pytest_modelreg.domain.cause import CauseFinding
from pytest_modelreg.domain.environment import EnvironmentChange
from pytest_modelreg.domain.verdict import Verdict


@dataclass(frozen=True, kw_only=True)
class ElementDifference:
    """One element that differs: sample (or ``batch N``), index within its row, values."""

    sample: str
    index: tuple[int, ...]
    expected: Any
    actual: Any


@dataclass(frozen=True, kw_only=True)
class OutputMeasures:
    """Whole-output statistics, in float64 (int64 for integers), over compared rows.

    Parameters
    ----------
    dtype, shape : str, tuple of int
        Of the actual side.
    n_total, n_mismatched : int
        Elements compared, and elements beyond the per-element share of the row's
        ``rel_l2`` allowance (integers: unequal).
    rel_l2 : float
        Largest per-sample value, dimensionless; infinity where R is 0 and actual is
        not, or one side is not finite.
    max_abs, mean_abs, rms_abs : float
        Of |actual - expected| over elements finite on both sides, the output's unit.
    max_rel : float or None
        Of |actual - expected| / |expected| over non-zero expected; None (not defined)
        when every expected value is zero.
    cosine_min : float or None
        Smallest row cosine; None when no row has one.
    nan_expected, nan_actual : int
        NaN counts.
    inf_expected, inf_actual : int
        Infinity counts.
    n_one_sided : int
        Elements non-finite on one side only, or differently non-finite.
    bit_identical : bool
        Whether the bytes were equal, so that no value was looked at.
    worst : tuple of ElementDifference
        At most 20, largest difference first, non-finite ones before all.
    """

    dtype: str
    shape: tuple[int, ...]
    n_total: int
    n_mismatched: int
    rel_l2: float
    max_abs: float
    mean_abs: float
    rms_abs: float
    max_rel: float | None
    cosine_min: float | None
    nan_expected: int
    nan_actual: int
    inf_expected: int
    inf_actual: int
    n_one_sided: int
    bit_identical: bool
    worst: tuple[ElementDifference, ...] = ()


@dataclass(frozen=True, kw_only=True)
class CheckResult:
    """One applied check with its value, its limit and where the limit came from.

    Parameters
    ----------
    value : float
        The worst over samples for per-sample checks; may be infinite or NaN.
    limit : float
        For ``elementwise`` and ``exact`` 0: the allowed number of violating elements.
    direction : str
        ``max`` (value at most limit) or ``min`` (at least).
    """

    name: str
    output: str
    tag: str | None
    value: float
    limit: float
    direction: str
    ok: bool
    source: str


@dataclass(frozen=True, kw_only=True)
class SampleResult:
    """One sample's standing: what it was, what it is.

    Parameters
    ----------
    rel_l2 : float
        Largest over outputs, dimensionless.
    expected, actual : str
        One-line renderings by the output kind; empty where nothing changed that a reader needs.
    near_tie : bool
        Whether a decision flipped within the near-tie bound.
    note : str
        What else to say in a table cell: ``near tie``, ``new NaN``.
    """

    id: str
    ok: bool
    rel_l2: float
    expected: str
    actual: str
    near_tie: bool = False
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class SampleMeasures:
    """The numbers of every compared sample, in sample-set order, for tables.

    Parameters
    ----------
    ids : tuple of str
        Samples that both sides have.
    rel_l2 : mapping of str to tuple of float
        One number a sample, dimensionless, for every output that holds a row a sample;
        infinite where a row has another shape or dtype or a side alone is not finite.
    failed : tuple of bool
        Whether a sample is among the drifted ones.
    """

    ids: tuple[str, ...] = ()
    rel_l2: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    failed: tuple[bool, ...] = ()


@dataclass(frozen=True, kw_only=True)
class StructureFinding:
    """An output path, shape or dtype that is not what the golden has."""

    output: str
    what: str
    expected: str
    actual: str

    def __str__(self) -> str:
        return f"{self.output}: {self.what}: expected {self.expected}, got {self.actual}"


@dataclass(frozen=True, kw_only=True)
class SampleSetDifference:
    """How the sample set differs from the golden's, by sample id."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed)


@dataclass(frozen=True, kw_only=True)
class CaseResult:
    """The record of one case: the same fields whatever the verdict.

    Parameters
    ----------
    message : str
        One line for lists and reports.
    details : str
        Further text for people where no numbers exist (an error's explanation).
    samples : tuple of SampleResult
        Samples that drifted or decide otherwise, all of them, and the worst others up to 20
        in all; worst first.
    drifted_samples : tuple of str
        All ids that failed a per-sample check or a decision, or whose row of an output has
        another shape or dtype, in sample-set order.
    measures : SampleMeasures
        The numbers of every compared sample.
    inputs_identical : bool or None
        Whether every common sample's input digest equals the golden's; None when
        nothing could be compared.
    environment_changes : tuple of EnvironmentChange
        What can move a number and differs, most telling first.
    notes : tuple of str
        Facts worth a line that change no verdict.
    command : str
        The one command that would accept what was seen; empty when there is none.
    advice : str
        What to do before the command; empty where nothing is.
    """

    suite: str
    variant: str
    axes: Mapping[str, Any] = field(default_factory=dict)
    verdict: Verdict
    message: str
    details: str = ""
    outputs: Mapping[str, OutputMeasures] = field(default_factory=dict)
    checks: tuple[CheckResult, ...] = ()
    n_samples: int = 0
    samples: tuple[SampleResult, ...] = ()
    drifted_samples: tuple[str, ...] = ()
    measures: SampleMeasures = field(default_factory=SampleMeasures)
    inputs_identical: bool | None = None
    structure: tuple[StructureFinding, ...] = ()
    sample_set: SampleSetDifference = field(default_factory=SampleSetDifference)
    causes: tuple[CauseFinding, ...] = ()
    environment_changes: tuple[EnvironmentChange, ...] = ()
    notes: tuple[str, ...] = ()
    command: str = ""
    advice: str = ""
    duration_s: float = 0.0

    @property
    def id(self) -> str:
        """The case id, ``<suite>[<variant>]``."""
        return case_id(self.suite, self.variant)
