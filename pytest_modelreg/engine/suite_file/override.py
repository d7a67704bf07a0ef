"""Limits from the command line, laid over those of a suite: ``rel_l2=1e-3``, ``logits.top1_agreement=off``.

What belongs here: reading them in the forms of a suite file, and the scope that they are: narrower
than anything that the file says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import ValidationError

from pytest_modelreg.domain.case import OutputSpec
from pytest_modelreg.domain.check import CHECK_NAMES, CheckPlan, Limit, OutputChecks, fits_kind, is_function
from pytest_modelreg.domain.errors import Fault, SuiteFileError
from pytest_modelreg.domain.output_path import find_entry, matches
from pytest_modelreg.engine.suite_file.checks import (
    gather_limits,
    leave_out,
    list_unfit_checks,
    overlay_limits,
    read_limits,
)
from pytest_modelreg.engine.suite_file.declaration import lay_out
from pytest_modelreg.engine.suite_file.document import parse_document
from pytest_modelreg.engine.suite_file.fault import FaultLog
from pytest_modelreg.engine.suite_file.model import JudgingBlock
from pytest_modelreg.engine.suite_file.wording import log_errors


@dataclass(frozen=True, kw_only=True)
class Override:
    """One limit that was given in a command.

    Parameters
    ----------
    text : str
        As it was given.
    output : str
        Output path or pattern that it is for; empty: every output that the check fits.
    check : str
        The check's name or reference.
    limit : Limit or None
        None drops the check.
    """

    text: str
    output: str
    check: str
    limit: Limit | None

    def applies_to(self, path: str, kind: str) -> bool:
        """Whether it says something of the output at this path, of this kind."""
        return fits_kind(self.check, kind) and (not self.output or matches(self.output, path))


def read_overrides(texts: Sequence[str], *, flag: str) -> tuple[Override, ...]:
    """Return limits that are written ``[OUTPUT.]CHECK=LIMIT``, a limit as in a suite file.

    Parameters
    ----------
    flag : str
        How they were given, for messages and as the source of the limits.

    Raises
    ------
    SuiteFileError
        With every fault, misspelt checks with the nearest name.
    """
    overrides: list[Override] = []
    faults: list[Fault] = []
    for text in texts:
        try:
            override = _read_override(text, flag)
        except SuiteFileError as error:
            faults += error.faults
            continue
        if any((other.output, other.check) == (override.output, override.check) for other in overrides):
            message = f"expected one limit for {override.check}, got another one before"
            faults.append(Fault(where=f"{flag} {text}", message=message))
        overrides.append(override)
    if faults:
        raise SuiteFileError(faults)
    return tuple(overrides)


def apply_overrides(
    overrides: Sequence[Override], plan: CheckPlan, outputs: Mapping[str, OutputSpec]
) -> CheckPlan:
    """Return what a case asks of its outputs with these limits in the place of its own.

    Parameters
    ----------
    outputs : mapping of str to OutputSpec
        What is declared of the outputs, by output path or pattern.
    """
    wide = {each.check: each.limit for each in overrides if not each.output}
    by_output = {}
    for path in dict.fromkeys([*plan.by_output, *(each.output for each in overrides if each.output)]):
        kind = (find_entry(path, outputs) or OutputSpec()).kind
        narrow = {each.check: each.limit for each in overrides if each.output and each.applies_to(path, kind)}
        by_output[path] = gather_limits(
            overlay_limits(_limits_of(plan.of(path)), leave_out(wide, list_unfit_checks(kind)), narrow)
        )
    default = overlay_limits(_limits_of(plan.default), leave_out(wide, list_unfit_checks("tensor")))
    return CheckPlan(by_output=by_output, default=gather_limits(default))


def _read_override(text: str, flag: str) -> Override:
    log = FaultLog(f"{flag} {text}")
    key, separator, value = text.partition("=")
    if not (separator and key.strip() and value.strip()):
        raise log.stop(0, "expected [OUTPUT.]CHECK=LIMIT, such as rel_l2=1e-3 or logits.rel_l2=off")
    output, check = _split(key.strip())
    try:
        document = lay_out({"checks": {check: parse_document(value, log).data}})
    finally:
        if log.faults:  # without the lines of a file
            raise SuiteFileError(tuple(Fault(where=log.file, message=each.message) for each in log.faults))
    try:
        block = JudgingBlock.model_validate(document.data)
    except ValidationError as error:
        log_errors(error, document, log)
        raise SuiteFileError(log.faults) from error
    return Override(text=text, output=output, check=check, limit=read_limits(block.checks, flag)[check])


def _split(key: str) -> tuple[str, str]:
    """Return output path and check; the dots of a ``module:fn`` are its own."""
    output, _, check = key.rpartition(".")
    if is_function(key) and check not in CHECK_NAMES:
        return "", key
    return output, check


def _limits_of(asked: OutputChecks) -> dict[str, Limit | None]:
    return {**dict.fromkeys(sorted(asked.off)), **{limit.name: limit for limit in asked.limits}}
