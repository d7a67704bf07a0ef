"""What was seen in another environment, told with what was shown here."""

from __future__ import annotations

from dataclasses import replace

from pytest_modelreg.diagnose.elsewhere import join_environment
from pytest_modelreg.domain.case import EnvironmentSpec
from pytest_modelreg.domain.cause import Cause, CauseFinding
from tests.diagnose.conftest import Bench, Side

DIVERGENCE = {
    "first_module": "gate",
    "rel_l2_before": 0.0,
    "rel_l2_after": 0.25,
    "n_modules_before": 2,
    "n_modules": 5,
}
SHOWN = CauseFinding(
    cause=Cause.ENVIRONMENT,
    confidence=0.985,
    summary="the environment",
    evidence={"shown": True, "replays": [{"agrees": True}]},
)
SOMEWHERE = CauseFinding(
    cause=Cause.MODEL_CODE, confidence=0.4, summary="at gate", evidence={"divergence": DIVERGENCE}
)
EDITED = CauseFinding(
    cause=Cause.MODEL_CODE, confidence=0.75, summary="edited", evidence={"files": ["net.py"]}
)
VARIABLE = EnvironmentSpec(variables={"FAST": "1"})
REVISION = EnvironmentSpec(revision="main")


def test_where_an_environment_shows_is_no_second_cause(bench: Bench):
    """The module goes into the sentence on the environment."""
    drift = bench.drift(Side(), Side(), environment=VARIABLE)
    (finding,) = join_environment(drift, [SOMEWHERE], [SHOWN])
    assert finding.cause is Cause.ENVIRONMENT
    assert "first module that answers otherwise is gate (0.25 there, 0 before it)" in finding.summary
    assert finding.evidence["divergence"] == DIVERGENCE


def test_another_finding_stays_beside_the_environment(bench: Bench):
    """Train mode there is a cause of its own."""
    mode = CauseFinding(cause=Cause.MODEL_MODE, confidence=0.97, summary="train", evidence={})
    drift = bench.drift(Side(), Side(), environment=VARIABLE)
    assert join_environment(drift, [mode], [SHOWN]) == [mode, SHOWN]


def test_an_environment_that_was_not_shown_takes_nothing_over(bench: Bench):
    """It only could: where the model parts stays a finding of its own."""
    could = replace(SHOWN, evidence={"shown": False, "replays": []})
    drift = bench.drift(Side(), Side(), environment=VARIABLE)
    assert join_environment(drift, [SOMEWHERE], [could]) == [SOMEWHERE, could]


def test_the_code_of_a_revision_comes_before_the_revision(bench: Bench):
    """The replay with this checkout's code shows that it is the code."""
    drift = bench.drift(Side(), Side(), environment=REVISION)
    code, environment = join_environment(drift, [EDITED], [SHOWN])
    assert code.confidence > environment.confidence
    assert code.evidence["replays"] == [{"agrees": True}]


def test_a_revision_of_which_nothing_was_found_is_named(bench: Bench):
    """Code that no trace can see: the revision is all that is known."""
    drift = bench.drift(Side(), Side(), environment=REVISION)
    assert join_environment(drift, [], [SHOWN]) == [SHOWN]


def test_a_revision_with_other_packages_is_no_matter_of_code_alone(bench: Bench):
    """What agrees here differs in both."""
    both = EnvironmentSpec(revision="main", requirements=("torch==2.13.0",))
    drift = bench.drift(Side(), Side(), environment=both)
    assert SHOWN in join_environment(drift, [EDITED], [SHOWN])


def test_a_case_of_this_environment_is_told_as_before(bench: Bench):
    """Nothing to join."""
    assert join_environment(bench.drift(Side(), Side()), [SOMEWHERE], [SHOWN]) == [SOMEWHERE, SHOWN]
