"""Which checks apply to one output, with which limits, and where each limit comes from.

Here the suite's words meet the output's dtype and shape: limits written in the suite win by
name over the defaults of kind and dtype, ``off`` drops a check. What cannot be applied is a
fault with advice; it never counts as passed.
"""

from __future__ import annotations

from collections.abc import Sequence

from pytest_modelreg.domain.check import Limit, is_function
from pytest_modelreg.domain.nearest import suggest
from pytest_modelreg.judge.applied import AppliedCheck, AppliedFunction, IndexArray, OutputPlan
from pytest_modelreg.judge.checks import CHECKS, N_SAMPLES, Check, OutputFacts
from pytest_modelreg.judge.defaults import DefaultLimit
from pytest_modelreg.judge.kinds import KINDS
from pytest_modelreg.judge.labels import resolve_labels
from pytest_modelreg.judge.limits import (
    KIND_DEFAULT,
    choose_epsilon,
    choose_share_limit,
    find_default,
    merge_limits,
)
from pytest_modelreg.judge.pairing import PairedOutput
from pytest_modelreg.judge.request import JudgeRequest


def plan_output(request: JudgeRequest, paired: PairedOutput) -> tuple[OutputPlan | None, list[str]]:
    """Return what is applied to an output, or everything that stands against it."""
    path, record = paired.path, paired.expected
    spec = request.spec_of(path)
    default = find_default(request, paired)
    limits = merge_limits(request.checks, path, record.dtype, spec, default)
    faults = [] if limits else [_describe_nothing(path, record.dtype, default)]
    misfit = KINDS[spec.kind].find_fault(path, record.shape[1:], spec)
    if misfit is not None:
        faults.append(misfit)
    checks: list[AppliedCheck] = []
    functions: list[AppliedFunction] = []
    notes: list[str] = []
    facts = OutputFacts(
        dtype=record.dtype,
        row_shape=record.shape[1:],
        per=record.per,
        n_rows=len(paired.pairs),
        top_k=spec.top_k,
    )
    for name, limit in limits.items():
        if is_function(name):
            functions += _apply_function(request, limit)
            found = [] if name in request.functions else ["expected a function that was imported, got none"]
            refusal = _refuse_function(record.per)
        elif name not in CHECKS:
            known = ", ".join(CHECKS)
            faults.append(
                f"outputs.{path}: expected a check out of {known}, got {name!r}{suggest(name, CHECKS)}"
            )
            continue
        elif _lacks_neighbours(request, paired, CHECKS[name], limit):
            notes.append(f"{path}: {name}: not judged, it takes at least {N_SAMPLES} samples in common")
            continue
        else:
            checks.append(_apply(CHECKS[name], limit))
            found, refusal = [], CHECKS[name].refuse(facts)
        found += [] if refusal is None else [refusal]
        faults += [f"outputs.{path}: {name}: {fault}" for fault in found]
        faults += _find_tag_faults(request, path, record.per, limit)
    if limits and not (checks or functions or faults):
        faults = [f"outputs.{path}: expected a check that can be applied, got none: {'; '.join(notes)}"]
    labels, found = (None, []) if faults else _resolve_labels(request, paired, checks)
    faults += found
    if faults:
        return None, faults
    order = list(CHECKS)
    plan = OutputPlan(
        checks=tuple(sorted(checks, key=lambda each: order.index(each.check.name))),
        functions=tuple(functions),
        share_limit=choose_share_limit(checks, record.dtype, default),
        epsilon=choose_epsilon(request, paired, default),
        labels=labels,
        notes=tuple(notes),
    )
    return plan, []


def _lacks_neighbours(request: JudgeRequest, paired: PairedOutput, check: Check, limit: Limit) -> bool:
    """Whether there are too few samples for a check of neighbours, and nobody wrote it for so few.

    It is left out where only the kind asks for it, and where the sample set shrank since; written for
    a set that is too small, it would pass whatever happened, which is a fault.
    """
    if check.reads != "neighbours" or len(paired.pairs) >= N_SAMPLES:
        return False
    return limit.source.startswith(KIND_DEFAULT) or len(request.golden.observation.samples) >= N_SAMPLES


def _resolve_labels(
    request: JudgeRequest, paired: PairedOutput, applied: Sequence[AppliedCheck]
) -> tuple[IndexArray | None, list[str]]:
    names = [each.check.name for each in applied if each.check.reads == "labels"]
    if not names:
        return None, []
    n_classes = paired.expected.shape[1]
    labels, faults = resolve_labels(request.samples, paired.names, request.spec_of(paired.path), n_classes)
    return labels, [f"outputs.{paired.path}: {' and '.join(names)}: {fault}" for fault in faults]


def _apply(check: Check, limit: Limit) -> AppliedCheck:
    value = limit.value
    if check.name in ("exact", "elementwise"):
        value = 0.0  # the number of elements that may violate it
    return AppliedCheck(
        check=check,
        value=value,
        tags=limit.tags,
        rtol=limit.rtol or 0.0,
        atol=limit.atol or 0.0,
        source=limit.source,
    )


def _apply_function(request: JudgeRequest, limit: Limit) -> list[AppliedFunction]:
    function, bound = request.functions.get(limit.name), limit.bound or "max"
    if function is None:
        return []
    source = f"{limit.source} (max_change)" if bound == "max_change" else limit.source
    return [
        AppliedFunction(
            reference=limit.name,
            function=function,
            bound=bound,
            value=limit.value,
            tags=limit.tags,
            source=source,
        )
    ]


def _refuse_function(per: str) -> str | None:
    if per == "sample":
        return None
    return f"expected an output per sample, got one per {per}; write `off` for it in the output's checks"


def _find_tag_faults(request: JudgeRequest, path: str, per: str, limit: Limit) -> list[str]:
    if not limit.tags:
        return []
    if per != "sample":
        return [
            f"outputs.{path}: {limit.name}: tags: expected an output per sample, got one per {per}, "
            "which no tag selects from; write the limit without tags for it"
        ]
    known = {tag: None for sample in request.samples.samples for tag in sample.tags}
    return [
        f"outputs.{path}: {limit.name}: tags: expected a tag that samples carry "
        f"({', '.join(known) or 'none do'}), got {tag!r}{suggest(tag, known)}"
        for tag in limit.tags
        if tag not in known
    ]


def _describe_nothing(path: str, dtype: str, default: DefaultLimit | None) -> str:
    if default is None:
        return (
            f"outputs.{path}: expected a check, got none: dtype {dtype} has no default limit; "
            f"write one, such as `outputs: {{{path}: {{checks: {{rel_l2: 1e-5}}}}}}`"
        )
    return (
        f"outputs.{path}: expected at least one check, got all of them off; keep one, "
        f"or write `per: ignore` for the output"
    )
