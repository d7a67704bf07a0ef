"""What a Python test declares of its values, in the words of a suite file.

The same keys, checks and messages as in ``outputs`` and ``checks`` of a suite file, so
that nobody has to learn them twice; only the lines are missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from pytest_modelreg.domain.case import OutputSpec
from pytest_modelreg.domain.check import CheckPlan
from pytest_modelreg.domain.errors import SuiteFileError
from pytest_modelreg.engine.suite_file.checks import describe_outputs, plan_checks
from pytest_modelreg.engine.suite_file.document import Document, Mark
from pytest_modelreg.engine.suite_file.fault import FaultLog, KeyPath
from pytest_modelreg.engine.suite_file.judging import check_judging
from pytest_modelreg.engine.suite_file.model import JudgingBlock
from pytest_modelreg.engine.suite_file.wording import log_errors


def read_declaration(
    outputs: Mapping[str, Any], checks: Mapping[str, Any], *, where: str, root: Path
) -> tuple[dict[str, OutputSpec], CheckPlan]:
    """Return what is declared, checked as a suite file's ``outputs`` and ``checks`` are.

    Parameters
    ----------
    where : str
        The test, for messages.
    root : Path
        What label files are relative to.

    Raises
    ------
    SuiteFileError
        With every fault.
    """
    document = lay_out({"outputs": _plain(outputs), "checks": _plain(checks)})
    log = FaultLog(where)
    try:
        block = JudgingBlock.model_validate(document.data, context={"root": root})
    except ValidationError as error:
        block = None
        log_errors(error, document, log)
    check_judging(document, root, log)
    if block is None or log.faults:
        raise SuiteFileError(log.faults)
    return describe_outputs(block.outputs), plan_checks(block.outputs, block.checks)


def _plain(value: Any) -> Any:
    """Return mappings and sequences as the builtin ones that a file would hold."""
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    return value


def lay_out(data: dict[str, Any]) -> Document:
    """Return values that come from no file as a document whose faults name no line."""
    marks: dict[KeyPath, Mark] = {}

    def mark(value: Any, path: KeyPath) -> None:
        marks[path] = Mark(key_line=0, value_line=0)
        if isinstance(value, dict):
            for key, entry in value.items():
                mark(entry, (*path, key))
        elif isinstance(value, list):
            for index, entry in enumerate(value):
                mark(entry, (*path, index))

    mark(data, ())
    return Document(data=data, marks=marks, unquoted={})
