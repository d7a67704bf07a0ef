"""What a precheck came to: inputs held against the golden's, and behaviour where that was asked."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_modelreg.domain.case import case_id
from pytest_modelreg.domain.cause import CauseFinding
from pytest_modelreg.domain.observation import PreprocessHabit
from pytest_modelreg.domain.result import CaseResult, SampleSetDifference
from pytest_modelreg.domain.verdict import Verdict


@dataclass(frozen=True, kw_only=True)
class InputDistance:
    """How far one sample's inputs are from those of the golden.

    Parameters
    ----------
    rel_l2 : float or None
        Estimated Euclidean norm of the difference over the expected norm, dimensionless; infinite
        where another number of elements is not finite, or all expected ones are zero. None where it
        is not on record, where no number tells the two apart, or where the forms differ in more than dtypes.
    expected_form, actual_form : str
        Paths, dtypes and shapes on both sides; empty where not on record.
    dtypes : str
        Which inputs have another dtype, where the forms differ in nothing else: ``ids int64 -> int32``.
    is_within_limit : bool
        Whether the difference is what another CPU makes.
    """

    sample: str
    rel_l2: float | None = None
    expected_form: str = ""
    actual_form: str = ""
    dtypes: str = ""
    is_within_limit: bool = False

    @property
    def has_other_form(self) -> bool:
        """Whether what the model is fed has another structure, dtype or shape."""
        return bool(self.expected_form and self.actual_form) and self.expected_form != self.actual_form


@dataclass(frozen=True, kw_only=True)
class InputResult:
    """What the inputs of all samples came to.

    Parameters
    ----------
    difference : SampleSetDifference
        Samples that only one side has, or whose bytes changed.
    common : tuple of str
        Samples that both sides have.
    distances : tuple of InputDistance
        Of the common samples whose inputs differ, the farthest first.
    limit : float
        Up to which another CPU explains a difference, dimensionless.
    notes : tuple of str
        The first stage that differs and the settings that do, in words.
    habits : tuple of PreprocessHabit
        What preprocessing does and should not, where inputs differ.
    """

    difference: SampleSetDifference
    common: tuple[str, ...]
    distances: tuple[InputDistance, ...]
    limit: float
    notes: tuple[str, ...]
    habits: tuple[PreprocessHabit, ...] = ()

    @property
    def is_within_limit(self) -> bool:
        """Whether every difference is what another CPU makes."""
        return all(distance.is_within_limit for distance in self.distances)

    @property
    def dtypes(self) -> str:
        """Which inputs have another dtype, where that is all in which any sample's differ; else empty."""
        told = [distance.dtypes for distance in self.distances if distance.is_within_limit]
        return told[0] if len(told) == len(self.distances) and all(told) else ""


@dataclass(frozen=True, kw_only=True)
class PrecheckResult:
    """One pipeline of a suite, prechecked.

    Parameters
    ----------
    suite, variant : str
        The case whose pipeline it is.
    verdict : Verdict
        ``match`` where nothing differs that matters, ``drift`` where inputs or behaviour do.
    message : str
        One line, without the verdict.
    inputs : InputResult or None
        None where they could not be had or compared.
    behaviour : CaseResult or None
        What the model answered on the samples whose inputs differ; None when it was not run.
    causes : tuple of CauseFinding
        What turns the golden's inputs into those of now, or keeps them from being the same twice; the
        best explanation first.
    sharing : tuple of str
        Variants that are fed the same.
    command, advice : str
        What would accept what was seen, and what to do before; empty where there is nothing to accept.
    details : str
        Further lines of an error.
    duration_s : float
        Wall time, seconds.
    """

    suite: str
    variant: str
    verdict: Verdict
    message: str
    inputs: InputResult | None = None
    behaviour: CaseResult | None = None
    causes: tuple[CauseFinding, ...] = ()
    sharing: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    command: str = ""
    advice: str = ""
    details: str = ""
    duration_s: float = 0.0

    @property
    def id(self) -> str:
        """The case id, ``<suite>[<variant>]``."""
        return case_id(self.suite, self.variant)
