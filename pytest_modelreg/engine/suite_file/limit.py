"""Checks of a suite file: every form in which a limit can be written.

What belongs here: the short forms, and :class:`ChecksBlock` with a key for each check; a key
with a colon is a check of the suite's own. To add a check, add its name to
``domain.check.CHECK_NAMES``, a key here, and the measure in ``judge``; to add a form, add a
block to ``limit_block`` and the function that expands it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError, PydanticKnownError

from pytest_modelreg.domain.check import is_function
from pytest_modelreg.engine.suite_file.block import Block
from pytest_modelreg.engine.suite_file.fault import shorten
from pytest_modelreg.engine.suite_file.limit_block import (
    Cosine,
    CosineBlock,
    DistanceBlock,
    DropBlock,
    ElementwiseBlock,
    ExactBlock,
    Finite,
    Fraction,
    FractionBlock,
    FunctionBlock,
    NonNegative,
    NumberBlock,
    RatioBlock,
    ShareBlock,
)
from pytest_modelreg.engine.suite_file.scalar import resolve_scalar
from pytest_modelreg.engine.suite_file.value import check_reference, expect

__all__ = [
    "ChecksBlock",
    "ElementwiseBlock",
    "FunctionBlock",
    "NumberBlock",
    "no_checks",
    "read_function_checks",
]

FUNCTION_PATTERN = r"^[^\s:.]+(\.[^\s:.]+)*:[^\s:.]+(\.[^\s:.]+)*$"
"""What a key looks like that is a check of the suite's own, for editors."""


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
ShareCheck = Annotated[
    ShareBlock | None,
    BeforeValidator(
        _expand("a number, {max: NUMBER, tags: {TAG: NUMBER}} or off", "max"),
        json_schema_input_type=Fraction | Off | ShareBlock,
    ),
]
DropCheck = Annotated[
    DropBlock | None,
    BeforeValidator(
        _expand("a number, {max: NUMBER, tags: {TAG: NUMBER}} or off", "max"),
        json_schema_input_type=Cosine | Off | DropBlock,
    ),
]
RatioCheck = Annotated[
    RatioBlock | None,
    BeforeValidator(
        _expand("a number, {min: NUMBER, tags: {TAG: NUMBER}} or off", "min"),
        json_schema_input_type=Finite | Off | RatioBlock,
    ),
]
FunctionCheck = Annotated[
    FunctionBlock | None,
    BeforeValidator(
        _expand("{max: NUMBER}, {min: NUMBER}, {max_change: NUMBER} or off", None),
        json_schema_input_type=Off | FunctionBlock,
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


def _check_key(key: str) -> str:
    """Return the reference of a check of the suite's own; any other key is one that is not known."""
    if not is_function(key):
        raise PydanticKnownError("extra_forbidden")
    try:
        return check_reference(key)
    except PydanticCustomError as error:
        # Said of the key: by itself, pydantic would show the value behind it.
        raise expect("a reference such as shop.metrics:f1", got=repr(shorten(key))) from error


def _close_schema(schema: dict[str, Any]) -> None:
    """Let the JSON Schema take further keys only where they are references."""
    schema["patternProperties"] = {FUNCTION_PATTERN: schema.pop("additionalProperties")}
    schema["additionalProperties"] = False


class ChecksBlock(Block):
    """Limits by check; the narrowest scope wins, off drops a check."""

    # A key that was written and is None is off; one that was not written leaves the default.

    model_config = ConfigDict(extra="allow", json_schema_extra=_close_schema)
    __pydantic_extra__: dict[Annotated[str, AfterValidator(_check_key)], FunctionCheck]

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
    snr_db: RatioCheck = Field(
        default=None,
        description="norm of a sample's expected row over that of its difference, in dB (20 * log10)",
    )
    exact: ExactCheck = Field(default=None, description="every element equal")
    kl: DistanceCheck = Field(
        default=None,
        description="divergence of a sample's probabilities from the expected, nats; classification only",
    )
    top1_agreement: FractionCheck = Field(
        default=None, description="fraction of samples with the same best class; classification only"
    )
    topk_overlap: FractionCheck = Field(
        default=None, description="shared fraction of the best top_k classes; classification only"
    )
    negative_flips: ShareCheck = Field(
        default=None,
        description="fraction of labelled samples that were right and are wrong; classification only",
    )
    accuracy_drop: DropCheck = Field(
        default=None, description="accuracy lost on the labelled samples; classification only"
    )
    rank_overlap: FractionCheck = Field(
        default=None,
        description="shared fraction of the top_k nearest neighbours within the set; embedding only",
    )
    iou_match: FractionCheck = Field(
        default=None,
        description="mean overlap of a sample's boxes with their partners, 0 for a box without one; "
        "detection only",
    )
    label_agreement: FractionCheck = Field(
        default=None,
        description="share of labels that are on or off as in the golden, mean over samples; multilabel only",
    )
    pixel_agreement: FractionCheck = Field(
        default=None,
        description="share of a sample's pixels that keep their class, sample by sample; segmentation only",
    )
    miou: FractionCheck = Field(
        default=None,
        description="mean over classes of intersection over union, sample by sample; segmentation only",
    )


def no_checks() -> ChecksBlock:
    """Return the limits of a scope in which none are written."""
    return ChecksBlock.model_validate({})


def read_function_checks(block: ChecksBlock) -> dict[str, FunctionBlock | None]:
    """Return the suite's own checks by reference, as written; None for one that is off."""
    return {key: check for key, check in (block.model_extra or {}).items() if is_function(key)}
