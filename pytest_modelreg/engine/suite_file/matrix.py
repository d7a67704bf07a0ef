"""The cross product of axis values: how a matrix is written.

What belongs here: the blocks. Combining the values is ``cases``'. An axis lists its values
by name, ``{fast: "shop.data:fast"}``, or names them after themselves, ``[eager, onnx]``.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field, model_validator

from pytest_modelreg.domain.case import AXES
from pytest_modelreg.engine.suite_file.axes import VerdictBlock
from pytest_modelreg.engine.suite_file.axis_value import (
    AutocastDtype,
    Checkpoints,
    ComputeDtype,
    MemoryFormat,
    Runtime,
)
from pytest_modelreg.engine.suite_file.environment import EnvironmentBlock
from pytest_modelreg.engine.suite_file.naming import name_value
from pytest_modelreg.engine.suite_file.value import (
    CaseName,
    Count,
    DeviceName,
    Reference,
    expect,
)


def _name_values(value: Any) -> Any:
    """Bring a list of values to a mapping of name to value."""
    if isinstance(value, dict):
        if not value:
            raise expect("at least one value", got="an empty mapping")
        return value
    if not isinstance(value, list):
        raise expect("a list of values, or a mapping of name to value")
    if not value:
        raise expect("at least one value", got="an empty list")
    named: dict[str, Any] = {}
    for entry in value:
        name = name_value(entry)
        if not name or name in named:
            got = "an entry that names nothing" if not name else f"{name!r} twice"
            raise expect("values with names of their own", got=got, remark="write them as {NAME: VALUE}")
        named[name] = entry
    return named


def _axis(description: str) -> Any:
    return Field(default=None, description=f"{description}: [VALUE, ...] or {{NAME: VALUE, ...}}")


_Named = BeforeValidator(_name_values)
ValueName = Annotated[
    str,
    BeforeValidator(name_value, json_schema_input_type=str | int),
    Field(json_schema_extra={"minLength": 1}),
]


class MatrixBlock(VerdictBlock):
    """Axis values by axis; every combination is a variant."""

    checkpoint: Annotated[dict[CaseName, Checkpoints] | None, _Named] = _axis("weights")
    preprocess: Annotated[dict[CaseName, Reference] | None, _Named] = _axis("preprocessing")
    runtime: Annotated[dict[CaseName, Runtime] | None, _Named] = _axis("runtimes")
    environment: Annotated[dict[CaseName, EnvironmentBlock] | None, _Named] = _axis("environments")
    device: Annotated[dict[CaseName, DeviceName] | None, _Named] = _axis("devices")
    dtype: Annotated[dict[CaseName, ComputeDtype] | None, _Named] = _axis("dtypes")
    autocast: Annotated[dict[CaseName, AutocastDtype] | None, _Named] = _axis("mixed precision")
    batch_size: Annotated[dict[CaseName, Count] | None, _Named] = _axis("samples a forward pass")
    threads: Annotated[dict[CaseName, Count] | None, _Named] = _axis("threads")
    memory_format: Annotated[dict[CaseName, MemoryFormat] | None, _Named] = _axis("memory layouts")
    exclude: list[dict[str, ValueName]] = Field(
        default_factory=list,
        description="combinations to leave out: [{preprocess: fast, runtime: onnx}], by the values' names",
    )

    @model_validator(mode="after")
    def _require_axis(self) -> MatrixBlock:
        if not self.axes:
            raise expect(f"at least one axis ({', '.join(AXES)})")
        return self

    @property
    def axes(self) -> dict[str, dict[str, Any]]:
        """Values by name by axis."""
        return {axis: getattr(self, axis) for axis in AXES if getattr(self, axis, None)}
