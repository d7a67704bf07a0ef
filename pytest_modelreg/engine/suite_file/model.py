"""The keys of a suite file, block by block: what can be written where.

What belongs here: structure and types; axes are in ``axes``, their cross product in
``matrix``. Shorthand forms are brought to their block by a function in front, so that no
value is a union of models: a union's error lists every way in which every member does not
fit. To support a new key, add its field with a description (editors show it) and delete it
from ``suite_file.support``.
"""

from __future__ import annotations

from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BeforeValidator, Field

from pytest_modelreg.domain.check import is_function
from pytest_modelreg.engine.suite_file.axes import ReferenceBlock, VariantBlock
from pytest_modelreg.engine.suite_file.block import Block
from pytest_modelreg.engine.suite_file.fault import KeyPath
from pytest_modelreg.engine.suite_file.limit import ChecksBlock, FunctionBlock, no_checks
from pytest_modelreg.engine.suite_file.limit_block import Finite
from pytest_modelreg.engine.suite_file.matrix import MatrixBlock
from pytest_modelreg.engine.suite_file.path import ExistingFolder, GoldenFolder, Labels
from pytest_modelreg.engine.suite_file.samples import SamplesBlock
from pytest_modelreg.engine.suite_file.value import (
    BoxFormat,
    CaseName,
    Count,
    EnvironmentKey,
    FormatVersion,
    KindName,
    NotNegative,
    OutputPath,
    Per,
    Positive,
    SuiteName,
)


class OutputBlock(Block):
    """What the numbers of one output mean."""

    kind: KindName = Field(default="tensor", description="what the numbers are; gives the default checks")
    per: Per = Field(
        default="sample",
        description="what the leading dimension is: the samples of a batch, one value a batch, or ignore",
    )
    labels: Labels | None = Field(
        default=None,
        description="names of classes, labels or tokens: a file with one a line, or a list",
    )
    top_k: Count = Field(default=5, description="classes that topk_overlap looks at; classification only")
    scores: OutputPath | None = Field(
        default=None,
        description="output with a score a box, by its path beside the boxes; detection only",
        examples=["scores"],
    )
    classes: OutputPath | None = Field(
        default=None,
        description="output with a class number a box, by its path beside the boxes; detection only",
        examples=["labels"],
    )
    along: Annotated[
        tuple[OutputPath, ...],
        BeforeValidator(
            lambda value: tuple(value) if isinstance(value, list) else value,
            json_schema_input_type=list[OutputPath],
        ),
    ] = Field(
        default=(),
        description="further outputs with a row a box, such as landmarks, by their paths beside the boxes; "
        "detection only",
    )
    box_format: BoxFormat = Field(
        default="xyxy",
        description="the four numbers of a box: two corners (xyxy), a corner and the size (xywh), or the "
        "centre and the size (cxcywh); detection only",
    )
    threshold: Finite | None = Field(
        default=None,
        description="score from which a box counts (detection; default: every box does), or a label is on "
        "(multilabel, segmentation with one score a pixel; default: 0.5), in the scores' own unit",
    )
    ignore_index: int | None = Field(
        default=None, description="class of the golden's pixels that do not count; segmentation only"
    )
    logits: OutputPath | None = Field(
        default=None,
        description="output with the scores that each token was chosen by, by its path beside them; "
        "tokens only",
        examples=["logits"],
    )
    checks: ChecksBlock = Field(
        default_factory=no_checks, description="limits of this output; they win over the suite's"
    )


Outputs = Annotated[
    dict[OutputPath, OutputBlock],
    Field(
        description="outputs by path (keys joined by `.`) or pattern (`heads.*`; `**`: any number of keys); "
        "a bare tensor takes the only name, else `output`"
    ),
]
SuiteChecks = Annotated[ChecksBlock, Field(description="limits of all outputs")]


class JudgingBlock(Block):
    """The part of a suite that says what is compared."""

    outputs: Outputs = Field(default_factory=dict)
    checks: SuiteChecks = Field(default_factory=no_checks)


class SuiteBlock(Block):
    """One suite: a sample set, a reference, variants, checks."""

    modelreg: FormatVersion = Field(description="version of this file's format", examples=[1])
    suite: SuiteName = Field(
        description="name; part of test ids and golden folders", examples=["photo-classifier"]
    )
    python_path: list[ExistingFolder] | None = Field(
        default=None,
        description="folders in front of sys.path, relative to this file; "
        "default: this folder, pytest's rootdir, and src below either",
    )
    samples: SamplesBlock = Field(
        description="the pinned sample set", examples=[{"folder": "...", "loader": "..."}]
    )
    golden: GoldenFolder | None = Field(
        default=None, description="folder of accepted observations; default: golden"
    )
    golden_per: Annotated[
        tuple[EnvironmentKey, ...],
        BeforeValidator(
            lambda value: tuple(value) if isinstance(value, list) else value,
            json_schema_input_type=list[EnvironmentKey],
        ),
    ] = Field(
        default=(),
        description="keep a golden an environment, told apart by these facts, the most telling first: "
        "[device, machine]",
    )
    golden_budget_mb: Positive = Field(
        default=20.0, description="size of all goldens of the suite above which a run warns, in MB"
    )
    trace_mb: NotNegative = Field(
        default=8.0,
        description="size of the inputs that all goldens of the suite keep to explain a later drift, in MB; "
        "0: they keep nothing for that",
    )
    deterministic: bool = Field(default=False, description="ask the framework for deterministic algorithms")
    reference: ReferenceBlock = Field(
        description="what the golden is recorded from", examples=[{"model": "shop.models:build"}]
    )
    outputs: Outputs = Field(default_factory=dict)
    checks: SuiteChecks = Field(default_factory=no_checks)
    variants: dict[CaseName, VariantBlock] = Field(
        default_factory=dict, description="the reference with one or more axes replaced, by name"
    )
    matrix: MatrixBlock | None = Field(
        default=None, description="variants as the cross product of axis values"
    )


def find_block(path: KeyPath) -> type[Block] | None:
    """Return the model of the mapping at a key path, or None where keys are free."""
    found: Any = SuiteBlock
    for part in path:
        if found is ChecksBlock and is_function(str(part)):
            found = FunctionBlock
        elif isinstance(found, type) and issubclass(found, Block):
            field = found.model_fields.get(str(part))
            found = None if field is None else field.annotation
        else:
            found = get_args(found)[-1] if get_args(found) else None
        found = _strip(found)
    return found if isinstance(found, type) and issubclass(found, Block) else None


def _strip(annotation: Any) -> Any:
    """Return a type without ``Annotated`` and without the None of an optional one."""
    while get_origin(annotation) in (Annotated, UnionType, Union):
        members = [member for member in get_args(annotation) if member is not NoneType]
        annotation = members[0]
    return annotation
