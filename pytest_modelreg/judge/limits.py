"""Limits of one output: what a suite wrote over what kind and dtype give, and what counts as noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pytest_modelreg.domain.case import OutputSpec
from pytest_modelreg.domain.check import DEFAULT_CHECKS, CheckPlan, Limit
from pytest_modelreg.judge.applied import AppliedCheck
from pytest_modelreg.judge.checks import CHECKS
from pytest_modelreg.judge.defaults import DefaultLimit, find_default_limit, find_loosest_limit, is_exact
from pytest_modelreg.judge.request import JudgeRequest
from pytest_modelreg.judge.sides import OutputSides

REPLACE_EXACT = frozenset({"rel_l2", "max_abs", "mean_abs", "elementwise", "pixel_agreement", "miou"})
"""Checks that, written for an integer output by name, replace its ``exact``."""

KIND_DEFAULT = "kind default"
"""How the source of a limit begins that only the output's kind asks for."""


def find_default(request: JudgeRequest, output: OutputSides) -> DefaultLimit | None:
    """Return the ``rel_l2`` limit of the coarsest precision that is involved in an output."""
    expected, actual = request.golden.observation.fingerprint, request.observation.fingerprint
    # Who handed over values computed them we do not know how: a setting that another test left behind
    # must not loosen their limit. One that both sides have is the environment that the user works in.
    sides = [(expected, expected), (actual, actual)] if request.is_handed_over else [(expected, actual)]
    dtypes = (output.expected.dtype, output.actual.dtype)
    found = [find_loosest_limit(dtypes, request.compute_dtypes, *side) for side in sides]
    limits = [limit for limit in found if limit is not None]
    return min(limits, key=lambda limit: limit.value, default=None)


def merge_limits(
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
            value, source = CHECKS[name].default_limit, f"{KIND_DEFAULT} ({spec.kind})"
            merged[name] = Limit(name=name, value=value, source=source)
        elif is_exact(dtype):
            if not for_this_output & REPLACE_EXACT:
                merged["exact"] = Limit(name="exact", source=f"dtype default ({dtype})")
        elif default is not None:
            merged[name] = Limit(name=name, value=default.value, source=default.source)
    for name, limit in written.items():
        own = merged.get(name)
        if limit.value is None and limit.tags and own is not None:
            # Limits for a few samples must not free all the others.
            source = f"{limit.source}; for all samples: {own.source}"
            merged[name] = replace(limit, value=own.value, source=source)
        else:
            merged[name] = limit
    return {name: limit for name, limit in merged.items() if name not in asked.off}


def choose_share_limit(applied: Sequence[AppliedCheck], dtype: str, default: DefaultLimit | None) -> float:
    """Return the ``rel_l2`` limit by which mismatched elements are counted, dimensionless."""
    by_name = {each.check.name: each for each in applied}
    if is_exact(dtype) or "exact" in by_name:
        return 0.0
    gate = by_name.get("rel_l2")
    if gate is not None and gate.value is not None:
        return gate.value
    return 0.0 if default is None else default.value


def choose_epsilon(request: JudgeRequest, output: OutputSides, default: DefaultLimit | None) -> float:
    """Return what counts as noise: the golden's calibrated floor, else the dtype's limit, dimensionless.

    A floor was measured in the golden's precision: where this case computes in a coarser one, noise
    is not less than that one's.
    """
    noise = 0.0 if default is None else default.value
    floor = request.golden.noise_floor.get(output.path)
    if floor is None:
        return noise
    own = find_default_limit(
        output.expected.dtype, request.golden.observation.fingerprint, request.observation.fingerprint
    )
    return floor if own == default else max(floor, noise)
