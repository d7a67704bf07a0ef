"""Types of single values in a suite file: names, references, numbers, closed words.

What belongs here: what one value must look like, told by :func:`expect` in our own
words. What must exist on disk is in ``suite_file.path``. To add a type, write a function
that returns the value or raises ``expect(...)`` and annotate ``str`` with it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_core import PydanticCustomError

from pytest_modelreg.domain.case import BOX_FORMATS, PER
from pytest_modelreg.domain.check import KINDS
from pytest_modelreg.domain.nearest import find_nearest
from pytest_modelreg.engine.suite_file.fault import list_names, shorten
from pytest_modelreg.engine.suite_file.support import (
    MAX_NAME_CHARS,
    RESERVED_CASES,
    RESERVED_NAMES,
    SUITE_FORMAT,
)
from pytest_modelreg.fingerprint import ENVIRONMENT_KEYS
from pytest_modelreg.observe import LOADERS
from pytest_modelreg.runtimes import BUILTIN, list_runtime_names

_CASE_NAME = re.compile(r"[\w+-](?:[\w.+-]*[\w+-])?")
_DEVICE = re.compile(r"cpu|cuda(:\d+)?|mps|xpu(:\d+)?")
_REFERENCE_EXAMPLE = "a reference such as shop.models:build"


def expect(
    expected: str,
    *,
    got: str | None = None,
    hint: str | None = None,
    remark: str | None = None,
    below: str = "",
) -> PydanticCustomError:
    """Return the error of one value.

    Parameters
    ----------
    expected : str
        What stands behind ``expected``.
    got : str or None
        What stands behind ``got``; None names the value as it is in the file.
    hint : str or None
        What was probably meant.
    remark : str or None
        What else to know, behind ``got``.
    below : str
        Key inside the value that the fault is at.
    """
    context = {"expected": expected, "got": got, "hint": hint, "remark": remark, "below": below}
    return PydanticCustomError("expected", "{expected}", context)


def check_word(value: str, known: Sequence[str]) -> str:
    """Return a word of a closed list, or raise with the nearest one."""
    if value in known:
        return value
    raise expect(list_names(known), hint=find_nearest(value, known))


def check_reference(value: str) -> str:
    """Return a ``module:attr`` reference that can be imported as far as its syntax goes."""
    module, separator, attribute = value.partition(":")
    if separator and all(part.isidentifier() for part in f"{module}.{attribute}".split(".")):
        return value
    parts = value.rpartition(".")
    hint = None
    if not separator and parts[0] and all(part.isidentifier() for part in value.split(".")):
        hint = f"{shorten(parts[0])}:{shorten(parts[2])}"
    raise expect(_REFERENCE_EXAMPLE, hint=hint)


def _check_suite_name(value: str) -> str:
    if not value.strip():
        raise expect("a name for the suite")
    if len(value) > MAX_NAME_CHARS:
        raise expect(f"a name of at most {MAX_NAME_CHARS} characters", got=f"one of {len(value)}")
    unfit = [mark for mark in ("::", "[", "]", "=", "/", "\\") if mark in value]
    if unfit:
        raise expect("a name without [ ] :: = / \\", remark="it becomes part of test ids and folder names")
    if not value.isprintable() or value != value.strip() or value[0] == "." or value[-1] == ".":
        raise expect("a printable name without spaces or dots at its ends")
    if value.casefold() in RESERVED_NAMES:
        raise expect("another name", remark="golden/py/ holds the goldens of Python tests")
    return value


def _check_loader(value: str) -> str:
    return check_reference(value) if ":" in value else check_word(value, (*LOADERS, "module:fn"))


def _check_runtime(value: str) -> str:
    if value in BUILTIN:
        return value
    return check_word(value, list_runtime_names())


def _check_version(value: int) -> int:
    if value != SUITE_FORMAT:
        raise expect(str(SUITE_FORMAT))
    return value


def _check_output_path(value: str) -> str:
    if not value or not value.isprintable():
        raise expect("an output path such as logits or heads.0")
    return value


def check_case_name(value: str) -> str:
    """Return a name that can be part of a test id, of a folder's name and of a ``-k`` expression."""
    if len(value) > MAX_NAME_CHARS:
        raise expect(f"a name of at most {MAX_NAME_CHARS} characters", got=f"one of {len(value)}")
    if not _CASE_NAME.fullmatch(value):
        meant = re.sub(r"[^\w.+-]+", "-", value).strip("-.")
        raise expect(
            "a name of letters, digits and _ - + . (no dot at its ends)",
            hint=meant or None,
            remark="it becomes part of test ids, of -k expressions and of folder names",
        )
    if value.casefold() in RESERVED_CASES:
        raise expect("another name", remark="the reference has this one")
    return value


def _check_device(value: str) -> str:
    if not _DEVICE.fullmatch(value):
        raise expect("cpu, cuda or cuda:N", hint=find_nearest(value, ["cpu", "cuda", "cuda:0"]))
    return value


def _check_tag(value: str) -> str:
    if not value or not value.isprintable() or " " in value:
        raise expect("a tag of samples.csv, without spaces")
    return value


def _check_identifier(value: str) -> str:
    if not value.isidentifier():
        raise expect("a name such as slow")
    return value


def _check_text(value: str) -> str:
    if not value or not value.isprintable():
        raise expect("text")
    return value


def _check_columns(value: Any) -> Any:
    names = value if isinstance(value, list) else [value]
    if not names or not all(isinstance(name, str) and name and name.isprintable() for name in names):
        raise expect("a column, or a list of columns")
    if len(set(names)) < len(names):
        raise expect(
            "every column once", got=repr(next(name for name in names if names.count(name) > 1)) + " twice"
        )
    return tuple(value) if isinstance(value, list) else value


Text = Annotated[str, AfterValidator(_check_text), Field(min_length=1)]
Identifier = Annotated[str, AfterValidator(_check_identifier)]
Reference = Annotated[
    str,
    AfterValidator(check_reference),
    Field(json_schema_extra={"pattern": r"^[^\s:.]+(\.[^\s:.]+)*:[^\s:.]+(\.[^\s:.]+)*$"}),
]
SuiteName = Annotated[
    str,
    AfterValidator(_check_suite_name),
    Field(json_schema_extra={"pattern": r"^[^\[\]=/\\]+$", "minLength": 1, "maxLength": MAX_NAME_CHARS}),
]
InputColumns = Annotated[
    str | tuple[str, ...],
    BeforeValidator(_check_columns, json_schema_input_type=str | list[str]),
]
FormatVersion = Annotated[
    int, AfterValidator(_check_version), Field(json_schema_extra={"const": SUITE_FORMAT})
]
LoaderName = Annotated[
    str,
    AfterValidator(_check_loader),
    Field(json_schema_extra={"anyOf": [{"enum": list(LOADERS)}, {"pattern": "^[^:]+:[^:]+$"}]}),
]
RuntimeName = Annotated[str, AfterValidator(_check_runtime), Field(json_schema_extra={"minLength": 1})]
KindName = Annotated[
    str,
    AfterValidator(lambda value: check_word(value, KINDS)),
    Field(json_schema_extra={"enum": list(KINDS)}),
]
Per = Annotated[
    str, AfterValidator(lambda value: check_word(value, PER)), Field(json_schema_extra={"enum": list(PER)})
]
BoxFormat = Annotated[
    str,
    AfterValidator(lambda value: check_word(value, BOX_FORMATS)),
    Field(json_schema_extra={"enum": list(BOX_FORMATS)}),
]
CaseName = Annotated[
    str,
    AfterValidator(check_case_name),
    Field(json_schema_extra={"pattern": r"^[^\s\[\]:=/\\]+$", "maxLength": MAX_NAME_CHARS}),
]
DeviceName = Annotated[str, AfterValidator(_check_device)]
OutputPath = Annotated[str, AfterValidator(_check_output_path)]
Tag = Annotated[str, AfterValidator(_check_tag)]
EnvironmentKey = Annotated[
    str,
    AfterValidator(lambda value: check_word(value, ENVIRONMENT_KEYS)),
    Field(json_schema_extra={"enum": list(ENVIRONMENT_KEYS)}),
]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=1)]

NotNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]
