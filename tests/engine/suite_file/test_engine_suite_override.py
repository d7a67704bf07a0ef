"""Limits of a command: read as in a suite file, laid over everything that the file says."""

from __future__ import annotations

import pytest

from pytest_modelreg.domain.case import OutputSpec
from pytest_modelreg.domain.check import CheckPlan, Limit, OutputChecks
from pytest_modelreg.domain.errors import SuiteFileError
from pytest_modelreg.engine.suite_file.override import apply_overrides, read_overrides

FLAG = "--checks"
CLASSES = {"logits": OutputSpec(kind="classification")}


def read_one(text):
    """Return the one override of a text."""
    (override,) = read_overrides([text], flag=FLAG)
    return override


def find_faults(*texts):
    """Return the faults of texts, a line each."""
    with pytest.raises(SuiteFileError) as caught:
        read_overrides(texts, flag=FLAG)
    return str(caught.value).splitlines()


@pytest.mark.parametrize(
    ("text", "output", "check", "limit"),
    [
        ("rel_l2=1e-3", "", "rel_l2", Limit(name="rel_l2", value=1e-3, source="--checks.rel_l2")),
        ("rel_l2=off", "", "rel_l2", None),
        ("heads.a.rel_l2 = 2", "heads.a", "rel_l2", Limit(name="rel_l2", value=2, source="--checks.rel_l2")),
        ("exact=true", "", "exact", Limit(name="exact", source="--checks.exact")),
        (
            "max_abs={max: 1, tags: {dark: 0.5}}",
            "",
            "max_abs",
            Limit(name="max_abs", value=1, tags={"dark": 0.5}, source="--checks.max_abs"),
        ),
        (
            "elementwise={rtol: 1e-3, atol: 0}",
            "",
            "elementwise",
            Limit(name="elementwise", rtol=1e-3, atol=0, source="--checks.elementwise"),
        ),
        (
            "shop.metrics:f1={min: 0.9}",
            "",
            "shop.metrics:f1",
            Limit(name="shop.metrics:f1", value=0.9, bound="min", source="--checks.shop.metrics:f1"),
        ),
    ],
)
def test_every_form_of_a_suite_file_is_read(text, output, check, limit):
    """What stands behind = is what would stand behind the check's name there."""
    found = read_one(text)
    assert (found.output, found.check, found.limit) == (output, check, limit)


def test_all_faults_are_named_at_once_with_what_was_meant():
    """A misspelt name gets the nearest one, a limit says what is expected."""
    faults = find_faults(
        "rel_l3=1e-3",
        "logits.topk_overlp=1",
        "rel_l2=-1",
        "rel_l2",
        "=1",
        "cosine=[",
        "max_abs=1",
        "max_abs=2",
    )
    assert len(faults) == 7
    assert faults[0].startswith("--checks rel_l3=1e-3: checks.rel_l3: expected one of rel_l2,")
    assert faults[0].endswith("got 'rel_l3' (did you mean rel_l2?)")
    assert faults[1].endswith("(did you mean topk_overlap?)")
    assert faults[2] == "--checks rel_l2=-1: checks.rel_l2: expected at least 0, got -1"
    assert faults[3].startswith("--checks rel_l2: expected [OUTPUT.]CHECK=LIMIT")
    assert faults[4].startswith("--checks =1: expected [OUTPUT.]CHECK=LIMIT")
    assert faults[5].startswith("--checks cosine=[: expected YAML, got a syntax error")
    assert faults[6] == "--checks max_abs=2: expected one limit for max_abs, got another one before"


def test_one_check_may_have_a_limit_for_all_and_one_for_an_output():
    """They are two scopes, as in a suite file."""
    assert len(read_overrides(["rel_l2=1", "logits.rel_l2=2"], flag=FLAG)) == 2


def test_narrow_limit_wins_over_the_wide_one_and_both_over_the_suite():
    """Of each output the narrowest; what is not named stays."""
    asked = OutputChecks(
        limits=(Limit(name="rel_l2", value=1e-5, source="s"), Limit(name="max_abs", value=1, source="s"))
    )
    plan = CheckPlan(by_output={"a": asked, "b": asked}, default=asked)
    done = apply_overrides(read_overrides(["rel_l2=1", "b.rel_l2=2"], flag=FLAG), plan, {})
    values = {path: {limit.name: limit.value for limit in done.of(path).limits} for path in "abc"}
    assert values == {
        "a": {"rel_l2": 1, "max_abs": 1},
        "b": {"rel_l2": 2, "max_abs": 1},
        "c": {"rel_l2": 1, "max_abs": 1},
    }


def test_output_that_the_suite_does_not_declare_can_be_named():
    """It keeps what is asked of all other outputs."""
    plan = CheckPlan(default=OutputChecks(limits=(Limit(name="max_abs", value=1, source="s"),)))
    done = apply_overrides(read_overrides(["extra.rel_l2=3"], flag=FLAG), plan, {})
    assert {limit.name for limit in done.of("extra").limits} == {"rel_l2", "max_abs"}
    assert {limit.name for limit in done.of("other").limits} == {"max_abs"}


def test_off_drops_a_check_and_a_limit_brings_it_back():
    """Also one that the suite had switched off."""
    plan = CheckPlan(default=OutputChecks(off=frozenset({"cosine"})))
    done = apply_overrides(read_overrides(["rel_l2=off", "cosine=0.9"], flag=FLAG), plan, {}).default
    assert done.off == {"rel_l2"}
    assert [limit.name for limit in done.limits] == ["cosine"]


def test_limit_for_tags_leaves_the_one_for_all_samples():
    """As between the scopes of a suite file."""
    plan = CheckPlan(default=OutputChecks(limits=(Limit(name="rel_l2", value=1e-5, source="s"),)))
    (limit,) = apply_overrides(
        read_overrides(["rel_l2={tags: {dark: 1}}"], flag=FLAG), plan, {}
    ).default.limits
    assert (limit.value, limit.tags) == (1e-5, {"dark": 1.0})


def test_check_reaches_only_outputs_of_its_kind():
    """top1_agreement for all outputs is for those with classes."""
    overrides = read_overrides(["top1_agreement=0.5"], flag=FLAG)
    plan = CheckPlan(by_output={"logits": OutputChecks(), "box": OutputChecks()})
    done = apply_overrides(overrides, plan, CLASSES)
    assert [limit.name for limit in done.of("logits").limits] == ["top1_agreement"]
    assert done.of("box") == done.default == OutputChecks()
    assert overrides[0].applies_to("logits", "classification")
    assert not overrides[0].applies_to("box", "tensor")


def test_pattern_stands_for_the_outputs_below():
    """As in a suite file."""
    override = read_one("heads.*.rel_l2=1")
    assert override.applies_to("heads.a", "tensor")
    assert not override.applies_to("head", "tensor")
