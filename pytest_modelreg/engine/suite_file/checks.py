"""Limits of suite, outputs and variants merged into what a case asks of each output.

What belongs here: which check applies to which output, the narrowest scope winning by
name: the suite, then the output, then the variant, then the variant's output. Limits by
dtype are ``judge``'s: a suite file does not know dtypes. Faults that show only when all of
it is seen together are in ``judging``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pytest_modelreg.domain.case import OutputSpec
from pytest_modelreg.domain.check import (
    CHECK_NAMES,
    KINDS_OF_CHECK,
    CheckPlan,
    Limit,
    OutputChecks,
    fits_kind,
    is_function,
)
from pytest_modelreg.domain.output_path import find_entry
from pytest_modelreg.engine.suite_file.axes import VariantOutputBlock
from pytest_modelreg.engine.suite_file.limit import (
    ChecksBlock,
    ElementwiseBlock,
    FunctionBlock,
    NumberBlock,
    read_function_checks,
)
from pytest_modelreg.engine.suite_file.model import OutputBlock


def plan_checks(
    outputs: Mapping[str, OutputBlock],
    checks: ChecksBlock,
    *,
    variant: ChecksBlock | None = None,
    variant_outputs: Mapping[str, VariantOutputBlock] | None = None,
    scope: str = "",
) -> CheckPlan:
    """Return what is asked of every declared output, and of all others.

    Parameters
    ----------
    variant, variant_outputs
        Limits of the variant, for all its outputs and by output path.
    scope : str
        Where the variant is in the file, for the sources of its limits.
    """
    suite = read_limits(checks, "checks")
    wide = {} if variant is None else read_limits(variant, f"{scope}.checks")
    narrow = dict(variant_outputs or {})
    by_output = {}
    for path in dict.fromkeys([*outputs, *narrow]):
        output = find_entry(path, outputs) or OutputBlock()
        unfit = list_unfit_checks(output.kind)
        entry = find_entry(path, narrow)
        here = {} if entry is None else read_limits(entry.checks, f"{scope}.outputs.{path}.checks")
        by_output[path] = gather_limits(
            overlay_limits(
                leave_out(suite, unfit),
                read_limits(output.checks, f"outputs.{path}.checks"),
                leave_out(wide, unfit),
                here,
            )
        )
    default = gather_limits(leave_out(overlay_limits(suite, wide), list_unfit_checks("tensor")))
    return CheckPlan(by_output=by_output, default=default)


def list_unfit_checks(kind: str) -> frozenset[str]:
    """Return the checks that need another kind of output than this one."""
    return frozenset(name for name in KINDS_OF_CHECK if not fits_kind(name, kind))


def describe_outputs(outputs: Mapping[str, OutputBlock]) -> dict[str, OutputSpec]:
    """Return what the suite says of every declared output."""
    return {
        path: OutputSpec(
            kind=output.kind,
            per=output.per,
            per_is_declared="per" in output.model_fields_set,
            labels=output.labels,
            top_k=output.top_k,
            scores=output.scores,
            classes=output.classes,
            along=output.along,
            box_format=output.box_format,
            threshold=output.threshold,
            ignore_index=output.ignore_index,
            logits=output.logits,
        )
        for path, output in outputs.items()
    }


def read_limits(checks: ChecksBlock, source: str) -> dict[str, Limit | None]:
    """Return the limits that are written, by name; None for those that are off."""
    written = {name: getattr(checks, name) for name in CHECK_NAMES if name in checks.model_fields_set}
    written.update(read_function_checks(checks))
    return {name: _read_limit(name, block, f"{source}.{name}") for name, block in written.items()}


def _read_limit(name: str, block: Any, source: str) -> Limit | None:
    if block is None:
        return None
    if isinstance(block, NumberBlock):
        return Limit(name=name, value=block.number, tags=dict(block.tags), source=source)
    if isinstance(block, FunctionBlock):
        return Limit(name=name, value=block.number, tags=dict(block.tags), bound=block.bound, source=source)
    if isinstance(block, ElementwiseBlock):
        return Limit(name=name, rtol=block.rtol, atol=block.atol, source=source)
    return Limit(name=name, source=source)


def overlay_limits(*scopes: Mapping[str, Limit | None]) -> dict[str, Limit | None]:
    """Merge limits by name, the last scope winning; limits for tags alone leave that for all samples.

    Otherwise a stricter limit for a few samples would free all the others.
    """
    merged: dict[str, Limit | None] = {}
    for scope in scopes:
        for name, limit in scope.items():
            outer = merged.get(name)
            if limit is not None and outer is not None and limit.value is None and limit.tags:
                merged[name] = replace(limit, value=outer.value, tags={**outer.tags, **limit.tags})
            else:
                merged[name] = limit
    return merged


def leave_out(limits: Mapping[str, Limit | None], names: frozenset[str]) -> dict[str, Limit | None]:
    """Return the limits but for those of these names."""
    return {name: limit for name, limit in limits.items() if name not in names}


def gather_limits(limits: Mapping[str, Limit | None]) -> OutputChecks:
    """Return limits by name as what is asked of an output, in the order of reports."""
    named = (*CHECK_NAMES, *filter(is_function, limits))
    found = [limits[name] for name in named if name in limits]
    return OutputChecks(
        limits=tuple(limit for limit in found if limit is not None),
        off=frozenset(name for name, limit in limits.items() if limit is None),
    )
