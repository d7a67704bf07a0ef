"""The keys of a suite file, block by block: what can be written where.

What belongs here: structure and types. Shorthand forms are brought to their block by a
function in front, so that no value is a union of models: a union's error lists every
way in which every member does not fit. To support a new key, add its field with a
description (editors show it) and delete it from ``suite_file.support``.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, ClassVar, Union, get_args, get_origin

from pydantic import BeforeValidator, ConfigDict, Field, ValidationInfo, model_validator

from pytest_modelreg.domain.case import CheckpointRef
from pytest_modelreg.engine.suite_file.block import Block
from pytest_modelreg.engine.suite_file.fault import KeyPath
from pytest_modelreg.engine.suite_file.limit import ChecksBlock
from pytest_modelreg.engine.suite_file.path import (
    ExistingFolder,
    GoldenFolder,
    Labels,
    check_checkpoint,
    find_packaged_file,
    place_path,
    root_of,
)
from pytest_modelreg.engine.suite_file.support import AXES_NOT_YET, RUNTIME_KEYS_NOT_YET, SUITE_KEYS_NOT_YET
from pytest_modelreg.engine.suite_file.value import (
    Count,
    FormatVersion,
    KindName,
    LoaderName,
    OutputPath,
    Per,
    Reference,
    RuntimeName,
    SuiteName,
    Text,
    expect,
)
from pytest_modelreg.observe import CHECKPOINT_SUFFIXES, LOADERS


class SamplesBlock(Block):
    """The pinned sample set."""

    folder: ExistingFolder = Field(
        description="folder with samples.csv, relative to this file", examples=["fixtures/photos"]
    )
    loader: LoaderName = Field(
        description=f"how a sample's file is read: {', '.join(LOADERS)} (image: Pillow, mode as stored), "
        "or module:fn called with the path",
        examples=["image"],
    )


class CheckpointBlock(Block):
    """A file with weights."""

    path: Text = Field(
        description=f"{', '.join(CHECKPOINT_SUFFIXES)} file (read without running code), relative to this "
        "file; "
        "with `package`, inside that package",
        examples=["weights/v1.safetensors"],
    )
    key: Text | None = Field(
        default=None, description="where the state dict sits in a training checkpoint, keys joined by `.`"
    )
    package: Text | None = Field(
        default=None, description="installed package that ships the file; it is not imported"
    )

    @model_validator(mode="after")
    def _require_file(self, info: ValidationInfo) -> CheckpointBlock:
        self.locate(root_of(info))
        return self

    def locate(self, root: Path) -> CheckpointRef:
        """Return where the file is; ``root`` is the suite's folder."""
        if self.package is not None:
            path = find_packaged_file(self.package, self.path)
        else:
            path = place_path(self.path, root)
            check_checkpoint(path, self.path, below="path")
        return CheckpointRef(path=str(path), key=self.key)


class RuntimeBlock(Block):
    """How the model is run; further keys are options of the runtime."""

    model_config = ConfigDict(extra="allow")
    not_yet: ClassVar[frozenset[str]] = RUNTIME_KEYS_NOT_YET

    kind: RuntimeName = Field(description="name of the runtime", examples=["eager"])


def _expand(key: str, expected: str) -> Callable[[Any], Any]:
    """Return a function that brings the short form, text, to the mapping ``{key: text}``."""

    def expand(value: Any) -> Any:
        if isinstance(value, str):
            return {key: value}
        if isinstance(value, dict):
            return value
        raise expect(expected)

    return expand


class ReferenceBlock(Block):
    """The axis values that the golden is recorded from."""

    not_yet: ClassVar[frozenset[str]] = AXES_NOT_YET

    model: Reference = Field(
        description="module:fn called with model_args; returns an nn.Module (put in eval mode) or a callable",
        examples=["shop.models:build"],
    )
    model_args: dict[str, Any] = Field(default_factory=dict, description="keyword arguments of the factory")
    checkpoint: Annotated[
        CheckpointBlock | None,
        BeforeValidator(
            _expand("path", "a path or {path: FILE, key: KEY, package: NAME}"),
            json_schema_input_type=str | CheckpointBlock,
        ),
    ] = Field(default=None, description="weights: a file, {path, key} or {package, path}")
    preprocess: Reference | None = Field(
        default=None, description="module:attr that makes one loaded sample a tensor, a tuple or a dict"
    )
    collate: Reference | None = Field(
        default=None, description="module:fn that makes one batch of several; default: stack"
    )
    forward: Reference | None = Field(
        default=None, description="module:fn called with model and batch; default: model(x)"
    )
    runtime: Annotated[
        RuntimeBlock,
        BeforeValidator(
            _expand("kind", "a runtime or {kind: RUNTIME, ...}"), json_schema_input_type=str | RuntimeBlock
        ),
    ] = Field(
        default=RuntimeBlock(kind="eager"),
        description="how the model is run: a name, or {kind: NAME} with options",
    )
    batch_size: Count = Field(default=8, description="samples a forward pass; the last batch may be shorter")
    threads: Count | None = Field(
        default=None, description="intra-op threads around the case; default: torch's own"
    )


class OutputBlock(Block):
    """What the numbers of one output mean."""

    kind: KindName = Field(default="tensor", description="what the numbers are; gives the default checks")
    per: Per = Field(
        default="sample",
        description="what the leading dimension is: the samples of a batch, one value a batch, or ignore",
    )
    labels: Labels | None = Field(
        default=None, description="file with one class name a line; classification only"
    )
    top_k: Count = Field(default=5, description="classes that topk_overlap looks at; classification only")
    checks: ChecksBlock = Field(
        default_factory=ChecksBlock, description="limits of this output; they win over the suite's"
    )


Outputs = Annotated[
    dict[OutputPath, OutputBlock],
    Field(
        description="outputs by path (keys joined by `.`); a bare tensor takes the only name, else `output`"
    ),
]
SuiteChecks = Annotated[ChecksBlock, Field(description="limits of all outputs")]


class JudgingBlock(Block):
    """The part of a suite that says what is compared."""

    outputs: Outputs = Field(default_factory=dict)
    checks: SuiteChecks = Field(default_factory=ChecksBlock)


class SuiteBlock(Block):
    """One suite: a sample set, a reference, checks."""

    not_yet: ClassVar[frozenset[str]] = SUITE_KEYS_NOT_YET

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
    deterministic: bool = Field(default=False, description="ask the framework for deterministic algorithms")
    reference: ReferenceBlock = Field(
        description="what the golden is recorded from", examples=[{"model": "shop.models:build"}]
    )
    outputs: Outputs = Field(default_factory=dict)
    checks: SuiteChecks = Field(default_factory=ChecksBlock)


def find_block(path: KeyPath) -> type[Block] | None:
    """Return the model of the mapping at a key path, or None where keys are free."""
    found: Any = SuiteBlock
    for part in path:
        if isinstance(found, type) and issubclass(found, Block):
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
