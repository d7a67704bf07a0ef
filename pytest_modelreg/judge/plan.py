"""Which checks apply to one output, with which limits, and where each limit comes from.

Here the suite's words meet the output's dtype and shape: limits written in the suite win by
name over the defaults of kind and dtype, ``off`` drops a check. What cannot be applied is a
fault with advice; it never counts as passed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pytest_modelreg.domain.case import OutputSpec
from pytest_modelreg.domain.check import DEFAULT_CHECKS, CheckPlan, Limit
from pytest_modelreg.domain.nearest import suggest
from pytest_modelreg.domain.observation import OutputRecord
from pytest_modelreg.judge.checks import CHECKS, Check, OutputFacts
from pytest_modelreg.judge.defaults import DefaultLimit, find_default_limit, is_exact
from pytest_modelreg.judge.kinds import KINDS
from pytest_modelreg.judge.request import JudgeRequest

REPLACE_EXACT = frozenset({"rel_l2", "max_abs", "mean_abs", "elementwise"})
"""Checks of values that, written for an integer output by name, replace its ``exact``."""


@dataclass(frozen=True, kw_only=True)
class AppliedCheck:
    """One check on one output with its limit, in the check's direction.

    Parameters
    ----------
    value : float or None
        Limit over all samples; None where only tags carry limits.
    tags : mapping of str to float
        Limits over the samples with a tag.
    rtol, atol : float
        Of ``elementwise`` only.
    source : str
        Where the limit comes from.
    """

    check: Check
    value: float | None
    tags: Mapping[str, float] = field(default_factory=dict)
    rtol: float = 0.0
    atol: float = 0.0
    source: str


@dataclass(frozen=True, kw_only=True)
class OutputPlan:
    """What is applied to one output.

    Parameters
    ----------
    checks : tuple of AppliedCheck
        In the order of reports; never empty.
    share_limit : float
        The ``rel_l2`` limit by which mismatched elements are counted, dimensionless:
        the applied one, else the dtype's; 0 where elements have to be equal.
    epsilon : float
        Relative noise under which a flip is a near tie, dimensionless: calibrated for the
        golden, else the dtype's. Never a limit that a suite widened.
    """

    checks: tuple[AppliedCheck, ...]
    share_limit: float
    epsilon: float

    def find(self, name: str) -> AppliedCheck | None:
        """Return the applied check of this name."""
        return next((applied for applied in self.checks if applied.check.name == name), None)


def plan_output(
    request: JudgeRequest, path: str, record: OutputRecord
) -> tuple[OutputPlan | None, list[str]]:
    """Return what is applied to an output, or everything that stands against it.

    Parameters
    ----------
    record : OutputRecord
        Golden side; the actual side has the same dtype and row shape.
    """
    spec = request.spec_of(path)
    default = find_default_limit(
        record.dtype, request.golden.observation.fingerprint, request.observation.fingerprint
    )
    limits = _merge_limits(request.checks, path, record.dtype, spec, default)
    faults = [] if limits else [_describe_nothing(path, record.dtype, default)]
    misfit = KINDS[spec.kind].find_fault(path, record.shape[1:], spec)
    if misfit is not None:
        faults.append(misfit)
    applied = []
    for name, limit in limits.items():
        check = CHECKS.get(name)
        if check is None:
            faults.append(
                f"outputs.{path}: expected a check out of {', '.join(CHECKS)}, "
                f"got {name!r}{suggest(name, CHECKS)}"
            )
            continue
        refusal = check.refuse(OutputFacts(dtype=record.dtype, row_shape=record.shape[1:], top_k=spec.top_k))
        if refusal is not None:
            faults.append(f"outputs.{path}: {name}: {refusal}")
        faults += _find_tag_faults(request, path, record.per, limit)
        applied.append(_apply(check, limit))
    if faults:
        return None, faults
    order = list(CHECKS)
    plan = OutputPlan(
        checks=tuple(sorted(applied, key=lambda each: order.index(each.check.name))),
        share_limit=_choose_share_limit(applied, record.dtype, default),
        epsilon=request.golden.noise_floor.get(path, 0.0 if default is None else default.value),
    )
    return plan, []


def _merge_limits(
    checks: CheckPlan, path: str, dtype: str, spec: OutputSpec, default: DefaultLimit | None
) -> dict[str, Limit]:
    """Merge what is written with the defaults, by name."""
    asked = checks.of(path)
    written = {limit.name: limit for limit in asked.limits}
    # A limit that the whole suite shares was written with its floating outputs in mind: it must not
    # loosen integers, where one changed token id of a million is far below any relative limit.
    for_this_output = {limit.name for limit in asked.limits if limit not in checks.default.limits}
    merged: dict[str, Limit] = {}
    for name in DEFAULT_CHECKS[spec.kind]:
        if CHECKS[name].default_limit is not None:
            value, source = CHECKS[name].default_limit, f"kind default ({spec.kind})"
            merged[name] = Limit(name=name, value=value, source=source)
        elif is_exact(dtype):
            if not for_this_output & REPLACE_EXACT:
                merged["exact"] = Limit(name="exact", source=f"dtype default ({dtype})")
        elif default is not None:
            merged[name] = Limit(name=name, value=default.value, source=default.source)
    merged.update(written)
    return {name: limit for name, limit in merged.items() if name not in asked.off}


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


def _choose_share_limit(applied: list[AppliedCheck], dtype: str, default: DefaultLimit | None) -> float:
    by_name = {each.check.name: each for each in applied}
    if is_exact(dtype) or "exact" in by_name:
        return 0.0
    gate = by_name.get("rel_l2")
    if gate is not None and gate.value is not None:
        return gate.value
    return 0.0 if default is None else default.value


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
