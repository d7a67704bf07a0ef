"""What can be said of a case: the axis values of the reference, and those that a variant replaces.

What belongs here: the mappings of axes. To add an axis, add its name to ``domain.case.AXES``,
the form of its values to ``axis_value`` and a field to :class:`AxesBlock`.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from pytest_modelreg.engine.suite_file.axis_value import (
    AutocastDtype,
    Checkpoint,
    Checkpoints,
    ComputeDtype,
    Marks,
    MemoryFormat,
    OwnGolden,
    Runtime,
    RuntimeBlock,
    or_off,
)
from pytest_modelreg.engine.suite_file.block import Block
from pytest_modelreg.engine.suite_file.environment import EnvironmentBlock
from pytest_modelreg.engine.suite_file.limit import ChecksBlock, no_checks
from pytest_modelreg.engine.suite_file.value import Count, DeviceName, OutputPath, Reference


class AxesBlock(Block):
    """Axis values, and what belongs to the model beside them; a key that is not written is None."""

    model: Reference | None = Field(
        default=None,
        description="module:fn called with model_args; returns an nn.Module (put in eval mode) or a callable",
        examples=["shop.models:build"],
    )
    model_args: dict[str, Any] = Field(default_factory=dict, description="keyword arguments of the factory")
    collate: Reference | None = Field(
        default=None, description="module:fn that makes one batch of several; default: stack"
    )
    forward: Reference | None = Field(
        default=None, description="module:fn called with model and batch; default: model(x)"
    )
    device: DeviceName | None = Field(
        default=None, description="cpu, cuda or cuda:N; skipped with the reason where it is not present"
    )
    dtype: ComputeDtype | None = Field(
        default=None, description="what floating parameters, buffers and inputs are cast to"
    )
    memory_format: MemoryFormat | None = Field(
        default=None, description="memory layout of parameters and inputs of 4 (channels_last_3d: 5) axes"
    )


class ReferenceBlock(AxesBlock):
    """The axis values that the golden is recorded from."""

    checkpoint: Checkpoint | None = Field(
        default=None, description="weights: a file, {path, key} or {package, path}"
    )
    preprocess: Reference | None = Field(
        default=None,
        description="module:attr that makes one loaded sample a tensor, a tuple or a dict: a callable, or "
        "a Compose, Sequential or list, which is followed stage by stage",
    )
    environment: EnvironmentBlock | None = Field(
        default=None, description="where the case is observed: {python, requirements, variables, revision}"
    )
    runtime: Runtime = Field(
        default=RuntimeBlock(kind="eager"),
        description="how the model is run: a name, or {kind: NAME} with options",
    )
    autocast: AutocastDtype | None = Field(
        default=None, description="mixed precision around the forward passes"
    )
    batch_size: Count = Field(default=8, description="samples a forward pass; the last batch may be shorter")
    threads: Count | None = Field(
        default=None, description="intra-op threads around the case; default: torch's own"
    )


class VariantOutputBlock(Block):
    """What a variant asks of one output."""

    checks: ChecksBlock = Field(description="limits of this output in this variant; the narrowest scope")


class VerdictBlock(Block):
    """How a variant, or every combination of a matrix, comes to its verdict."""

    golden: OwnGolden | None = Field(
        default=None, description="own: judged against a golden of its own, not the reference's"
    )
    marks: Marks = Field(default=(), description="pytest marks of the case, for -m: [slow]")
    checks: ChecksBlock = Field(default_factory=no_checks, description="limits of all outputs in the variant")
    outputs: dict[OutputPath, VariantOutputBlock] = Field(
        default_factory=dict, description="limits by output path in the variant"
    )


class VariantBlock(AxesBlock, VerdictBlock):
    """The reference with one or more axes replaced; ``off`` goes without."""

    checkpoint: Annotated[Checkpoints | None, or_off(Checkpoints)] = Field(
        default=None, description="weights; a pattern such as weights/*.pt makes one variant a file"
    )
    preprocess: Annotated[Reference | None, or_off(Reference)] = Field(
        default=None, description="module:attr, as in the reference"
    )
    environment: Annotated[EnvironmentBlock | None, or_off(EnvironmentBlock)] = Field(
        default=None, description="another interpreter, packages, variables or git revision"
    )
    runtime: Runtime | None = Field(default=None, description="a name, or {kind: NAME} with options")
    dtype: Annotated[ComputeDtype | None, or_off(ComputeDtype)] = Field(
        default=None, description="what floating parameters, buffers and inputs are cast to"
    )
    autocast: Annotated[AutocastDtype | None, or_off(AutocastDtype)] = Field(
        default=None, description="mixed precision around the forward passes"
    )
    batch_size: Count | None = Field(default=None, description="samples a forward pass")
    threads: Count | None = Field(default=None, description="intra-op threads around the case")
