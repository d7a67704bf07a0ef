"""The axis `environment` in a suite file: another interpreter, packages, variables, another revision.

What belongs here: what can be written. Making such an environment is ``engine.environments``'.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from pytest_modelreg.domain.case import PREPROCESS_PLACES, TIME_LIMIT_S, EnvironmentSpec
from pytest_modelreg.engine.suite_file.block import Block
from pytest_modelreg.engine.suite_file.value import Positive, Text, check_word, expect

_PARTS = ("python", "requirements", "variables", "revision")


def _read_revision(value: Any) -> Any:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        # 1234567 is a number in YAML, 12e4567 as well: the digits as written are lost.
        raise expect('a revision in quotes, such as "1234567"')
    return value


def _read_variable(value: Any) -> Any:
    if isinstance(value, bool):
        raise expect('text, a number, or null to unset it; write "true" in quotes')
    return str(value) if isinstance(value, (int, float)) else value


def _check_name(value: str) -> str:
    if not value or "=" in value or "\0" in value:
        raise expect("the name of an environment variable")
    return value


def _check_value(value: str | None) -> str | None:
    if value is not None and "\0" in value:
        raise expect("text without NUL")
    return value


def _as_tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


Requirements = Annotated[tuple[Text, ...], BeforeValidator(_as_tuple, json_schema_input_type=list[Text])]
Revision = Annotated[Text, BeforeValidator(_read_revision, json_schema_input_type=str)]
VariableName = Annotated[str, AfterValidator(_check_name)]
VariableValue = Annotated[
    str | None,
    AfterValidator(_check_value),
    BeforeValidator(_read_variable, json_schema_input_type=str | int | float | None),
]
PreprocessPlace = Annotated[
    str,
    AfterValidator(lambda value: check_word(value, PREPROCESS_PLACES)),
    Field(json_schema_extra={"enum": list(PREPROCESS_PLACES)}),
]


class EnvironmentBlock(Block):
    """Where a case is observed; what is not written is as here."""

    python: Text | None = Field(
        default=None,
        description="interpreter: a path, relative to this file, or a name on PATH",
        examples=["/usr/bin/python3"],
    )
    requirements: Requirements = Field(
        default=(),
        description="packages of an environment that is built for them, once",
        examples=[["torch==2.13.0", "numpy"]],
    )
    variables: dict[VariableName, VariableValue] = Field(
        default_factory=dict,
        description="environment variables by name; null unsets one",
        examples=[{"ATEN_CPU_CAPABILITY": "avx2"}],
    )
    revision: Revision | None = Field(
        default=None,
        description="git revision whose Python code is used; all else is as it is here",
        examples=["origin/main"],
    )
    preprocess: PreprocessPlace = Field(
        default="there",
        description="here: samples are decoded and preprocessed in this environment and handed over",
    )
    time_limit_s: Positive = Field(
        default=TIME_LIMIT_S, description="seconds after which the observation counts as hanging"
    )

    @model_validator(mode="after")
    def _require_part(self) -> EnvironmentBlock:
        if not any(getattr(self, part) for part in _PARTS):
            raise expect(f"at least one of {', '.join(_PARTS)}")
        return self

    def locate(self, root: Path) -> EnvironmentSpec:
        """Return the environment of a case; ``root`` is the suite's folder."""
        python = self.python
        if python is not None:
            expanded = os.path.expanduser(python)
            # A name without a separator is looked for on PATH.
            is_path = os.path.dirname(expanded) != ""
            python = os.path.normpath(root / expanded) if is_path else expanded
        return EnvironmentSpec(
            python=python,
            requirements=self.requirements,
            variables=self.variables,
            revision=self.revision,
            preprocess=self.preprocess,
            time_limit_s=self.time_limit_s,
        )
