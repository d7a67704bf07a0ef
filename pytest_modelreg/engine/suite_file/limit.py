"""Checks of a suite file: every form in which a limit can be written.

What belongs here: one block a form of limit, and :class:`ChecksBlock` with a key for each
check. To add a check, add its name to ``domain.check.CHECK_NAMES``, a key here, and the
measure in ``judge``; to add a form, add a block and the function that expands it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, ClassVar, Generic, Literal, TypeVar

from pydantic import BeforeValidator, Field, model_validator

from pytest_modelreg.engine.suite_file.block import Block
from pytest_modelreg.engine.suite_file.scalar import resolve_scalar
from pytest_modelreg.engine.suite_file.support import CHECK_KEYS_NOT_YET, CHECKS_NOT_YET
from pytest_modelreg.engine.suite_file.value import Tag, expect

NonNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Fraction = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Cosine = Annotated[float, Field(ge=-1, le=1, allow_inf_nan=False)]

Number = TypeVar("Number")


class NumberBlock(Block, Generic[Number]):
    """A number that a measure is held against: for all samples, or for those with a tag.

    Subclasses add the number for all samples under the key that ``bound`` names.
    """

    not_yet: ClassVar[frozenset[str]] = CHECK_KEYS_NOT_YET
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


class ElementwiseBlock(Block):
    """Every element: ``|actual - expected| <= atol + rtol * |expected|``."""

    rtol: NonNegative = Field(description="allowed share of the expected element", examples=[1e-3])
    atol: NonNegative = Field(description="allowed difference, in the output's unit", examples=[1e-6])


class ExactBlock(Block):
    """Every element equal; has no number. Written as ``true``."""


def _expand(form: str, key: str | None) -> Callable[[Any], Any]:
    """Return a function that brings every form of a limit to its block, ``off`` to None."""

    def expand(value: Any) -> Any:
        if value is False or value == "off":
            return None
        if key is not None and isinstance(value, int | float) and not isinstance(value, bool):
            return {key: value}
        if isinstance(value, dict):
            return value
        hint = None
        if isinstance(value, str) and value.lower() == "off":
            hint = "off"
        elif key is not None and isinstance(value, str) and _is_number(value):
            hint = f"{value} without quotes"
        raise expect(form, hint=hint)

    return expand


def _expand_exact(value: Any) -> Any:
    if value is False or value == "off":
        return None
    if value is True:
        return {}
    raise expect("true or off")


def _is_number(text: str) -> bool:
    try:
        return isinstance(resolve_scalar(text), int | float)
    except ValueError:
        return False


Off = Literal[False, "off"]

DistanceCheck = Annotated[
    DistanceBlock | None,
    BeforeValidator(
        _expand("a number, {max: NUMBER, tags: {TAG: NUMBER}} or off", "max"),
        json_schema_input_type=NonNegative | Off | DistanceBlock,
    ),
]
FractionCheck = Annotated[
    FractionBlock | None,
    BeforeValidator(
        _expand("a number, {min: NUMBER, tags: {TAG: NUMBER}} or off", "min"),
        json_schema_input_type=Fraction | Off | FractionBlock,
    ),
]
CosineCheck = Annotated[
    CosineBlock | None,
    BeforeValidator(
        _expand("a number, {min: NUMBER, tags: {TAG: NUMBER}} or off", "min"),
        json_schema_input_type=Cosine | Off | CosineBlock,
    ),
]
ElementwiseCheck = Annotated[
    ElementwiseBlock | None,
    BeforeValidator(
        _expand("{rtol: NUMBER, atol: NUMBER} or off", None), json_schema_input_type=Off | ElementwiseBlock
    ),
]
ExactCheck = Annotated[
    ExactBlock | None,
    BeforeValidator(_expand_exact, json_schema_input_type=Literal[True, False, "off"]),
]


class ChecksBlock(Block):
    """Limits by check; the narrowest scope wins, off drops a check."""

    # A key that was written and is None is off; one that was not written leaves the default.

    not_yet: ClassVar[frozenset[str]] = CHECKS_NOT_YET

    rel_l2: DistanceCheck = Field(
        default=None,
        description="relative error of a sample's row: |actual - expected| / |expected|, the usual gate",
    )
    max_abs: DistanceCheck = Field(
        default=None, description="largest absolute difference, in the output's unit"
    )
    mean_abs: DistanceCheck = Field(
        default=None, description="mean absolute difference, in the output's unit"
    )
    elementwise: ElementwiseCheck = Field(
        default=None,
        description="every element within atol + rtol * |expected|; fails healthy runs if rtol is tight",
    )
    cosine: CosineCheck = Field(
        default=None, description="cosine of a sample's row with the expected; blind to scaling"
    )
    exact: ExactCheck = Field(default=None, description="every element equal")
    top1_agreement: FractionCheck = Field(
        default=None, description="fraction of samples with the same best class; classification only"
    )
    topk_overlap: FractionCheck = Field(
        default=None, description="shared fraction of the best top_k classes; classification only"
    )
