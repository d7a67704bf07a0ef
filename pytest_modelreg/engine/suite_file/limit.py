"""Checks of a suite file: every form in which a limit can be written.

What belongs here: one block a form of limit, and :class:`ChecksBlock` with a key for each
check. To add a check, add its name to ``domain.check.CHECK_NAMES``, a key here, and the
measure in ``judge``; to add a form, add a block and the function that expands it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, model_validator

from pytest_modelreg.engine.suite_file.block import Block
from pytest_modelreg.engine.suite_file.scalar import resolve_scalar
from pytest_modelreg.engine.suite_file.support import CHECK_KEYS_NOT_YET, CHECKS_NOT_YET
from pytest_modelreg.engine.suite_file.value import Tag, expect

NonNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Fraction = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Cosine = Annotated[float, Field(ge=-1, le=1, allow_inf_nan=False)]

_TAGS = "limits for the samples with a tag, judged apart"


class DistanceLimit(Block):
    """A largest allowed distance."""

    not_yet: ClassVar[frozenset[str]] = CHECK_KEYS_NOT_YET

    max: NonNegative | None = Field(default=None, description="the largest value that is no drift")
    tags: dict[Tag, NonNegative] = Field(default_factory=dict, description=_TAGS)

    @model_validator(mode="after")
    def _require_number(self) -> DistanceLimit:
        if self.max is None and not self.tags:
            raise expect("max or tags")
        return self


class FractionLimit(Block):
    """A smallest allowed fraction of samples."""

    not_yet: ClassVar[frozenset[str]] = CHECK_KEYS_NOT_YET

    min: Fraction | None = Field(default=None, description="the smallest value that is no drift, 0 to 1")
    tags: dict[Tag, Fraction] = Field(default_factory=dict, description=_TAGS)

    @model_validator(mode="after")
    def _require_number(self) -> FractionLimit:
        if self.min is None and not self.tags:
            raise expect("min or tags")
        return self


class CosineLimit(Block):
    """A smallest allowed cosine."""

    not_yet: ClassVar[frozenset[str]] = CHECK_KEYS_NOT_YET

    min: Cosine | None = Field(default=None, description="the smallest value that is no drift, -1 to 1")
    tags: dict[Tag, Cosine] = Field(default_factory=dict, description=_TAGS)

    @model_validator(mode="after")
    def _require_number(self) -> CosineLimit:
        if self.min is None and not self.tags:
            raise expect("min or tags")
        return self


class ElementwiseLimit(Block):
    """Every element: ``|actual - expected| <= atol + rtol * |expected|``."""

    rtol: NonNegative = Field(description="allowed share of the expected element", examples=[1e-3])
    atol: NonNegative = Field(description="allowed difference, in the output's unit", examples=[1e-6])


class ExactLimit(Block):
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
    DistanceLimit | None,
    BeforeValidator(
        _expand("a number, {max: NUMBER, tags: {TAG: NUMBER}} or off", "max"),
        json_schema_input_type=NonNegative | Off | DistanceLimit,
    ),
]
FractionCheck = Annotated[
    FractionLimit | None,
    BeforeValidator(
        _expand("a number, {min: NUMBER, tags: {TAG: NUMBER}} or off", "min"),
        json_schema_input_type=Fraction | Off | FractionLimit,
    ),
]
CosineCheck = Annotated[
    CosineLimit | None,
    BeforeValidator(
        _expand("a number, {min: NUMBER, tags: {TAG: NUMBER}} or off", "min"),
        json_schema_input_type=Cosine | Off | CosineLimit,
    ),
]
ElementwiseCheck = Annotated[
    ElementwiseLimit | None,
    BeforeValidator(
        _expand("{rtol: NUMBER, atol: NUMBER} or off", None), json_schema_input_type=Off | ElementwiseLimit
    ),
]
ExactCheck = Annotated[
    ExactLimit | None,
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
