"""When a golden may be recorded or replaced."""

from __future__ import annotations

import pytest

from pytest_modelreg.domain.errors import RegenerationRefused
from pytest_modelreg.domain.verdict import Verdict
from pytest_modelreg.engine.regeneration import locking_variable, plan_regeneration

ACCEPTED = {
    "missing": {Verdict.MISSING},
    "changed": {Verdict.MISSING, Verdict.DRIFT, Verdict.STALE},
    "all": {Verdict.MISSING, Verdict.DRIFT, Verdict.STALE, Verdict.MATCH},
}


@pytest.mark.parametrize("mode", ACCEPTED)
@pytest.mark.parametrize("verdict", Verdict)
def test_each_mode_accepts_exactly_its_verdicts(mode, verdict):
    """An error never becomes a golden; a match only when everything is rewritten."""
    plan = plan_regeneration(mode, reason="r", allow_ci=False, environ={})
    assert plan.accepts(verdict) is (verdict in ACCEPTED[mode])


@pytest.mark.parametrize(
    ("environ", "expected"),
    [({}, None), ({"CI": ""}, None), ({"CI": "false"}, "CI"), ({"BUILD_NUMBER": "7"}, "BUILD_NUMBER")],
)
def test_lock_looks_at_whether_the_variable_is_empty(environ, expected):
    """Any value counts, as CI systems set many; empty is how people switch it off."""
    assert locking_variable(environ) == expected


def test_refusal_in_ci_names_variable_and_override():
    """The user learns what locked and both ways on."""
    with pytest.raises(RegenerationRefused, match=r"CI=1 .*add --allow-ci"):
        plan_regeneration("all", reason="r", allow_ci=False, environ={"CI": "1"})


def test_override_is_remembered():
    """What was overridden goes into the golden."""
    assert plan_regeneration("all", reason="r", allow_ci=True, environ={"CI": "1"}).ci == "CI"
    assert plan_regeneration("all", reason="r", allow_ci=True, environ={}).ci is None


@pytest.mark.parametrize("reason", ["", "  \n"])
def test_empty_reason_is_no_reason(reason):
    """A blank would satisfy the flag and explain nothing."""
    with pytest.raises(RegenerationRefused, match="empty"):
        plan_regeneration("changed", reason=reason, allow_ci=False, environ={})
