"""Limits of a suite file as blocks: what each form of limit holds when it is written out.

What belongs here: one block a form of limit. To add a form, add its block here, and to
``suite_file.limit`` the function that brings shorthand to it.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Generic, Literal, TypeVar

from pydantic import Field, model_validator

from pytest_modelreg.domain.check import BOUNDS
from pytest_modelreg.engine.suite_file.block import Block
from pytest_modelreg.engine.suite_file.value import Tag, expect

NonNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Fraction = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Cosine = Annotated[float, Field(ge=-1, le=1, allow_inf_nan=False)]

Finite = Annotated[float, Field(allow_inf_nan=False)]

Number = TypeVar("Number")


class NumberBlock(Block, Generic[Number]):
    """A number that a measure is held against: for all samples, or for those with a tag.

    Subclasses add the number for all samples under the key that ``bound`` names.
    """

    bound: ClassVar[Literal["max", "min"]]

    tags: dict[Tag, Number] = Field(
        default_factory=dict, description="limits for the samples with a tag, judged apart"
    )

    @property
    def number(self) -> float | None:
        """The limit for all samples; None where only tags carry limits."""
        number: float | None = getattr(self, self.bound)
        return number

    @model_validator(mode="after")
    def _require_number(self) -> NumberBlock[Number]:
        if self.number is None and not self.tags:
            raise expect(f"{self.bound} or tags")
        return self


class DistanceBlock(NumberBlock[NonNegative]):
    """A largest allowed distance."""

    bound = "max"

    max: NonNegative | None = Field(default=None, description="the largest value that is no drift")


class FractionBlock(NumberBlock[Fraction]):
    """A smallest allowed fraction of samples."""

    bound = "min"

    min: Fraction | None = Field(default=None, description="the smallest value that is no drift, 0 to 1")


class CosineBlock(NumberBlock[Cosine]):
    """A smallest allowed cosine."""

    bound = "min"

    min: Cosine | None = Field(default=None, description="the smallest value that is no drift, -1 to 1")


class ShareBlock(NumberBlock[Fraction]):
    """A largest allowed fraction of samples."""

    bound = "max"

    max: Fraction | None = Field(default=None, description="the largest value that is no drift, 0 to 1")


class DropBlock(NumberBlock[Cosine]):
    """A largest allowed loss of a fraction; below 0 a gain is asked for."""

    bound = "max"

    max: Cosine | None = Field(default=None, description="the largest value that is no drift, -1 to 1")


class RatioBlock(NumberBlock[Finite]):
    """A smallest allowed ratio, in decibels."""

    bound = "min"

    min: Finite | None = Field(default=None, description="the smallest value that is no drift, in dB")


class FunctionBlock(Block):
    """What the number that a function of the suite's own returns is held against."""

    max: Finite | None = Field(default=None, description="the largest value that is no drift")
    min: Finite | None = Field(default=None, description="the smallest value that is no drift")
    max_change: NonNegative | None = Field(
        default=None,
        description="how far the value may move from fn(expected, expected, samples), the golden's own",
    )
    tags: dict[Tag, Finite] = Field(
        default_factory=dict, description="limits for the samples with a tag, judged apart"
    )

    @property
    def bound(self) -> str:
        """Which of max, min and max_change was written."""
        return next(bound for bound in BOUNDS if getattr(self, bound) is not None)

    @property
    def number(self) -> float:
        """The limit for all samples."""
        number: float = getattr(self, self.bound)
        return number

    @model_validator(mode="after")
    def _require_one_bound(self) -> FunctionBlock:
        written = [bound for bound in BOUNDS if getattr(self, bound) is not None]
        if len(written) != 1:
            raise expect("one of max, min and max_change", got=" and ".join(written) or "none of them")
        if self.max_change is not None and any(limit < 0 for limit in self.tags.values()):
            raise expect("limits of a change that are at least 0", got="a negative one", below="tags")
        return self


class ElementwiseBlock(Block):
    """Every element: ``|actual - expected| <= atol + rtol * |expected|``."""

    rtol: NonNegative = Field(description="allowed share of the expected element", examples=[1e-3])
    atol: NonNegative = Field(description="allowed difference, in the output's unit", examples=[1e-6])


class ExactBlock(Block):
    """Every element equal; has no number. Written as ``true``."""
