"""Values of axes in a suite file: checkpoints, runtimes, dtypes, layouts.

What belongs here: one block or type a form of value. Shorthand forms are brought to their
block by a function in front. Which axes a reference or a variant has is in ``axes``.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, ValidationInfo, model_validator

from pytest_modelreg.domain.case import AUTOCAST_DTYPES, COMPUTE_DTYPES, MEMORY_FORMATS, CheckpointRef
from pytest_modelreg.engine.suite_file.block import Block
from pytest_modelreg.engine.suite_file.path import (
    check_checkpoint,
    find_checkpoints,
    find_packaged_files,
    place_path,
    root_of,
)
from pytest_modelreg.engine.suite_file.value import (
    Identifier,
    Reference,
    RuntimeName,
    Text,
    check_word,
    expect,
)
from pytest_modelreg.observe import CHECKPOINT_SUFFIXES
from pytest_modelreg.runtimes import BUILTIN, find_runtime

Off = Literal[False, "off"]


class CheckpointBlock(Block):
    """A file with weights."""

    path: Text = Field(
        description=f"{', '.join(CHECKPOINT_SUFFIXES)} file (read without running code), relative to this "
        "file; with `package`, inside that package",
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
        self._check(root_of(info))
        return self

    def _check(self, root: Path) -> None:
        self.locate(root)

    def locate(self, root: Path) -> CheckpointRef:
        """Return where the file is; ``root`` is the suite's folder."""
        if self.package is not None:
            (path,) = find_packaged_files(self.package, self.path)
        else:
            path = place_path(self.path, root)
            check_checkpoint(path, self.path, below="path")
        return CheckpointRef(path=str(path), key=self.key)


class CheckpointsBlock(CheckpointBlock):
    """One file with weights, or a pattern for several: one variant a file."""

    def _check(self, root: Path) -> None:
        self.locate_all(root)

    @property
    def is_pattern(self) -> bool:
        """Whether the path may stand for several files."""
        return any(mark in self.path for mark in "*?[")

    def locate_all(self, root: Path) -> list[CheckpointRef]:
        """Return where the files are, in natural order (``epoch-9`` before ``epoch-10``)."""
        if not self.is_pattern:
            return [self.locate(root)]
        if self.package is not None:
            paths = find_packaged_files(self.package, self.path)
        else:
            paths = find_checkpoints(self.path, root)
        return [CheckpointRef(path=str(path), key=self.key) for path in paths]


class RuntimeBlock(Block):
    """How the model is run; further keys are options of the runtime."""

    model_config = ConfigDict(extra="allow")

    kind: RuntimeName = Field(description="name of the runtime", examples=["eager"])
    transform: Reference | None = Field(
        default=None,
        description="module:fn called with the loaded model; returns the model to run (quantised, fused)",
    )

    @property
    def options(self) -> dict[str, Any]:
        """The runtime's own options."""
        return dict(self.model_extra or {})


def _expand(key: str, expected: str) -> Callable[[Any], Any]:
    """Return a function that brings the short form, text, to the mapping ``{key: text}``."""

    def expand(value: Any) -> Any:
        if isinstance(value, str):
            return {key: value}
        if isinstance(value, dict):
            return value
        raise expect(expected)

    return expand


def _as_tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _one_of(words: tuple[str, ...]) -> AfterValidator:
    return AfterValidator(lambda value: check_word(value, words))


_CHECKPOINT_FORM = "a path or {path: FILE, key: KEY, package: NAME}"
_RUNTIME_FORM = "a runtime or {kind: RUNTIME, ...}"

Checkpoint = Annotated[
    CheckpointBlock,
    BeforeValidator(_expand("path", _CHECKPOINT_FORM), json_schema_input_type=str | CheckpointBlock),
]
Checkpoints = Annotated[
    CheckpointsBlock,
    BeforeValidator(_expand("path", _CHECKPOINT_FORM), json_schema_input_type=str | CheckpointsBlock),
]
Runtime = Annotated[
    RuntimeBlock, BeforeValidator(_expand("kind", _RUNTIME_FORM), json_schema_input_type=str | RuntimeBlock)
]
ComputeDtype = Annotated[
    str, _one_of(COMPUTE_DTYPES), Field(json_schema_extra={"enum": list(COMPUTE_DTYPES)})
]
AutocastDtype = Annotated[
    str, _one_of(AUTOCAST_DTYPES), Field(json_schema_extra={"enum": list(AUTOCAST_DTYPES)})
]
MemoryFormat = Annotated[
    str, _one_of(MEMORY_FORMATS), Field(json_schema_extra={"enum": list(MEMORY_FORMATS)})
]
OwnGolden = Annotated[str, _one_of(("own",)), Field(json_schema_extra={"enum": ["own"]})]


def or_off(form: Any) -> BeforeValidator:
    """Return what puts None for ``off``: the variant goes without what the reference has."""
    return BeforeValidator(
        lambda value: None if value is False or value == "off" else value,
        json_schema_input_type=form | Off,
    )


Marks = Annotated[tuple[Identifier, ...], BeforeValidator(_as_tuple, json_schema_input_type=list[Identifier])]


def runs_a_model(runtime: Any) -> bool:
    """Whether a runtime, as written, runs a model that a factory has to build."""
    written = runtime if isinstance(runtime, dict) else {"kind": runtime}
    kind = written.get("kind")
    return not (isinstance(kind, str) and kind in BUILTIN) or find_runtime(kind, written).needs_model
