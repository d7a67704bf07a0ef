"""Limits of suite and outputs become one plan: the narrowest wins, nothing is left unchecked."""

from __future__ import annotations

import pytest

from pytest_modelreg.domain.check import CheckPlan, Limit, OutputChecks

INTEGERS = " (for integers write exact: true)"


def plan_of(suites, text: str) -> CheckPlan:
    """Return the plan of the five-line suite with lines behind it."""
    return suites.extend(text).cases[0].checks


def test_suite_without_checks_leaves_the_defaults(suites):
    """What is not written is decided by dtype and kind, later."""
    assert plan_of(suites, "") == CheckPlan()


def test_number_is_a_limit_in_the_checks_own_direction(suites):
    """One number is enough; the check knows whether it is most or least."""
    assert plan_of(suites, "checks: {rel_l2: 1e-5, cosine: 0.99}\n").default == OutputChecks(
        limits=(
            Limit(name="rel_l2", value=1e-5, source="checks.rel_l2"),
            Limit(name="cosine", value=0.99, source="checks.cosine"),
        )
    )


@pytest.mark.parametrize("written", ["off", '"off"', "'off'", "false", "False"])
def test_off_has_several_spellings(suites, written):
    """off, "off" and false are equal."""
    plan = plan_of(suites, f"checks: {{max_abs: 1, rel_l2: {written}}}\n")
    assert plan.default == OutputChecks(
        limits=(Limit(name="max_abs", value=1.0, source="checks.max_abs"),), off=frozenset({"rel_l2"})
    )


def test_every_form_of_limit_is_read(suites):
    """Tags, elementwise and exact."""
    text = (
        "checks:\n  mean_abs: {max: 2, tags: {dark: 3, rare: 4.5}}\n  max_abs: {tags: {dark: 1}}\n"
        "  elementwise: {rtol: 0, atol: 1e-3}\n  exact: true\n"
    )
    assert plan_of(suites, text).default.limits == (
        Limit(name="max_abs", tags={"dark": 1.0}, source="checks.max_abs"),
        Limit(name="mean_abs", value=2.0, tags={"dark": 3.0, "rare": 4.5}, source="checks.mean_abs"),
        Limit(name="elementwise", rtol=0.0, atol=1e-3, source="checks.elementwise"),
        Limit(name="exact", source="checks.exact"),
    )


@pytest.mark.parametrize("check", ["rel_l2: 0", "cosine: -1", "cosine: 1", "max_abs: {max: 0}"])
def test_bounds_of_a_limit_are_inside(suites, check):
    """The outermost values that make sense are accepted."""
    assert len(plan_of(suites, f"checks: {{{check}}}\n").default.limits) == 1


@pytest.mark.parametrize("value", ["0", "1", "1.0"])
def test_bounds_of_a_fraction_are_inside(suites, value):
    """Agreement of nothing and of everything can be asked for."""
    text = f"outputs: {{x: {{kind: classification, checks: {{top1_agreement: {value}}}}}}}\n"
    assert plan_of(suites, text).of("x").limits[0].value == float(value)


def test_output_wins_over_suite_by_name(suites):
    """The narrowest scope replaces a limit whole, and leaves the others."""
    text = (
        "outputs:\n  x: {checks: {rel_l2: {max: 1e-3}}}\n  y: {checks: {rel_l2: off}}\n"
        "checks: {rel_l2: {max: 1e-5, tags: {rare: 1}}, cosine: 0.9}\n"
    )
    plan = plan_of(suites, text)
    cosine = Limit(name="cosine", value=0.9, source="checks.cosine")
    assert plan.of("x").limits == (
        Limit(name="rel_l2", value=1e-3, source="outputs.x.checks.rel_l2"),
        cosine,
    )
    assert plan.of("y") == OutputChecks(limits=(cosine,), off=frozenset({"rel_l2"}))
    assert plan.of("undeclared").limits[0].value == 1e-5


def test_output_can_switch_a_check_on_again(suites):
    """off is a value like another: the narrowest wins."""
    text = "outputs: {x: {checks: {rel_l2: 1}}, y: {checks: {exact: true}}}\nchecks: {rel_l2: off}\n"
    assert plan_of(suites, text).of("x") == OutputChecks(
        limits=(Limit(name="rel_l2", value=1.0, source="outputs.x.checks.rel_l2"),)
    )


def test_checks_of_classes_reach_only_outputs_with_classes(suites):
    """An embedding beside the logits has no top class to agree on."""
    text = (
        "outputs: {a: {kind: classification}, b: {}}\n"
        "checks: {top1_agreement: 0.98, topk_overlap: off, max_abs: 1}\n"
    )
    plan = plan_of(suites, text)
    assert [limit.name for limit in plan.of("a").limits] == ["max_abs", "top1_agreement"]
    assert plan.of("a").off == {"topk_overlap"}
    for other in ("b", "undeclared"):
        assert [limit.name for limit in plan.of(other).limits] == ["max_abs"]
        assert plan.of(other).off == frozenset()


@pytest.mark.parametrize(
    "outputs",
    ["", "outputs: {x: {kind: regression}}\n", "outputs: {x: {kind: classification, per: ignore}, y: {}}\n"],
)
def test_check_of_classes_without_classes_is_a_fault(suites, outputs):
    """A check that no output can have would be silently nothing."""
    faults = suites.faults_of_extension(outputs + "checks: {top1_agreement: 0.98}\n")
    assert [fault.split(": ", 1)[1] for fault in faults] == [
        "checks.top1_agreement: expected an output of kind classification for it, got none "
        "(declare one: outputs: {logits: {kind: classification}})"
    ]


@pytest.mark.parametrize("kind", ["tensor", "regression"])
def test_check_that_does_not_fit_its_output_is_a_fault(suites, kind):
    """Class agreement of something that has no classes."""
    assert suites.faults_of_extension(
        f"outputs:\n  x: {{kind: {kind}, checks: {{topk_overlap: 0.9}}}}\n"
    ) == [
        "modelreg.yaml:7: outputs.x.checks.topk_overlap: expected one of rel_l2, max_abs, mean_abs, "
        f"elementwise, cosine, snr_db, exact on kind {kind}, got 'topk_overlap', "
        "which needs kind: classification"
    ]


@pytest.mark.parametrize(
    ("text", "key", "advice"),
    [
        ("outputs: {x: {checks: {rel_l2: off}}}\n", "outputs.x", INTEGERS),
        ("outputs: {x: {}}\nchecks: {rel_l2: off, cosine: off}\n", "outputs.x", INTEGERS),
        ("outputs: {x: {kind: classification, checks: {rel_l2: off, top1_agreement: off}}}\n", "outputs.x",
         ""),
        ("outputs: {x: {checks: {max_abs: off}}}\nchecks: {max_abs: 1, rel_l2: off}\n", "outputs.x",
         INTEGERS),
        ("checks: {rel_l2: off}\n", "checks", INTEGERS),
    ],
)  # fmt: skip
def test_output_with_every_check_off_is_a_fault(suites, text, key, advice):
    """Green with nothing compared must not be possible."""
    assert suites.faults_of_extension(text) == [
        f"modelreg.yaml:6: {key}: expected at least one check, got all of them off{advice}"
    ]


@pytest.mark.parametrize(
    "text",
    [
        "outputs: {x: {kind: classification, checks: {rel_l2: off}}}\n",
        "outputs: {x: {kind: classification, checks: {top1_agreement: off}}}\n",
        "outputs: {x: {checks: {rel_l2: off, exact: true}}}\n",
        "outputs: {x: {checks: {exact: off}}}\n",
        "outputs: {x: {checks: {rel_l2: off, max_abs: {tags: {rare: 1}}}}}\n",
        "outputs: {x: {kind: classification}}\nchecks: {rel_l2: off}\n",
        "outputs: {x: {per: ignore}, y: {}}\nchecks: {exact: true}\n",
    ],
)
def test_one_remaining_check_is_enough(suites, text):
    """A default that is still on counts as much as a written limit."""
    assert suites.extend(text).cases


def test_ignored_output_has_no_checks(suites):
    """A limit on something that is not recorded would promise what nobody does."""
    assert suites.faults_of_extension("outputs: {x: {per: ignore, checks: {rel_l2: 1}}, y: {}}\n") == [
        "modelreg.yaml:6: outputs.x.checks: expected no checks on an output with per: ignore, got some"
    ]


def test_outputs_may_be_left_out_without_naming_those_that_are_compared(suites):
    """What a suite does not name is compared; that something was, is asked when it is judged."""
    suite = suites.extend("outputs:\n  x: {per: ignore}\n  y: {per: ignore}\n")
    assert suite.cases[0].outputs["y"].per == "ignore"


def test_fault_elsewhere_hides_no_fault_of_checks(suites):
    """What can be said of sound outputs is said although another one is not."""
    text = (
        "outputs:\n  x: {knid: tensor, checks: {topk_overlap: 1}}\n"
        "  y: {kind: classification, labels: labels.txt, top_k: 9}\n"
    )
    keys = [fault.split(": ")[1] for fault in suites.faults_of_extension(text)]
    assert keys == ["outputs.x.knid", "outputs.x.checks.topk_overlap", "outputs.y.top_k"]


def test_nothing_is_claimed_of_all_outputs_while_one_is_unsound(suites):
    """The misspelt kind may be the classification that the suite's check asks for."""
    text = "outputs:\n  x: {kind: clasification}\nchecks: {top1_agreement: 1}\n"
    assert [fault.split(": ")[1] for fault in suites.faults_of_extension(text)] == ["outputs.x.kind"]
