"""From measured distances to a floor, from a floor to a limit: the rule in numbers."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_modelreg.domain.case import CaseSpec
from pytest_modelreg.domain.sample import SampleSet
from pytest_modelreg.engine.calibration.floor import (
    UNIT_ROUNDOFF,
    NoiseFloor,
    describe_dependence,
    find_floor,
    round_up,
)
from pytest_modelreg.engine.calibration.limit_rule import (
    PresentLimit,
    Standing,
    advise,
    is_coarser_than_planted,
    round_limit,
)
from pytest_modelreg.engine.calibration.noise import OutputNoise, PerturbationNoise
from pytest_modelreg.engine.calibration.perturbation import Perturbation, Role
from pytest_modelreg.engine.suite import CasePlan

DEFAULT = PresentLimit(value=1e-5, source="dtype default (float32)", default=1e-5)


def _noise(name: str, distance: float, role: Role = Role.BENIGN) -> PerturbationNoise:
    spec = CaseSpec(
        suite="toy",
        variant=name,
        root=str(Path()),
        python_path=(),
        samples=SampleSet(folder="", samples=()),
        loader="json",
        model="m:f",
    )
    measured = OutputNoise(largest=distance, median=distance, worst_sample="", n_flips=None, checks=())
    perturbation = Perturbation(name=name, plan=CasePlan(template=spec), role=role)
    return PerturbationNoise(perturbation=perturbation, outputs={"y": measured})


def _floor(value: float, benign: float | None = None, name: str = "batch 1") -> NoiseFloor:
    benign = value if benign is None else benign
    return NoiseFloor(value=value, benign=benign, benign_name=name, twin=None, source=name)


def _written(value: float | None) -> PresentLimit:
    return PresentLimit(value=value, source="checks.rel_l2", default=1e-5)


def test_the_largest_benign_distance_is_the_floor() -> None:
    """The name goes with it; a declared difference is no noise."""
    noises = [_noise("again", 0.0), _noise("onnx", 2.4e-6), _noise("v2", 0.5, Role.DECLARED)]
    floor = find_floor("y", "float32", noises)
    assert (floor.value, floor.benign_name) == (2.4e-6, "onnx")


def test_twice_the_twins_distance_counts_where_it_is_larger() -> None:
    """Another machine rounds otherwise: both are off by the twin's distance, in directions of their own."""
    floor = find_floor("y", "float32", [_noise("batch 1", 1e-6), _noise("float64 twin", 8e-7, Role.TWIN)])
    assert floor.value == pytest.approx(1.6e-6)
    assert floor.benign == 1e-6


def test_what_equal_runs_differ_by_is_not_rounding() -> None:
    """The twin of a noisy model is as far off as its next run: that is counted once."""
    noises = [_noise("again", 1e-3), _noise("float64 twin", 1e-3, Role.TWIN)]
    assert find_floor("y", "float32", noises).value == 1e-3


def test_the_floor_is_never_below_the_unit_roundoff() -> None:
    """A model that repeats bit by bit here may round its last bit otherwise elsewhere."""
    assert find_floor("y", "float32", [_noise("again", 0.0)]).value == UNIT_ROUNDOFF["float32"]


def test_integers_have_no_rounding() -> None:
    """Their floor is what benign changes did, and a twin that decides otherwise is no noise."""
    noises = [_noise("again", 0.0), _noise("float64 twin", 0.3, Role.TWIN)]
    assert find_floor("y", "int64", noises).value == 0.0


@pytest.mark.parametrize(
    ("noises", "expected"),
    [
        ([("again", 1e-4)], "not deterministic"),
        ([("again", 0.0), ("1 thread", 2e-6), ("batch 1", 1e-3)], "share a batch: batch 1"),
        ([("again", 0.0), ("1 thread", 2e-6), ("batch 1", 9e-6)], None),
        ([("again", 0.0), ("1 thread", 2e-6), ("batch 1", 1.9e-5)], None),
    ],
)
def test_what_an_output_depends_on_is_named(noises: list[tuple[str, float]], expected: str | None) -> None:
    """Far beyond rounding it is the batch; kernels that round otherwise are not accused."""
    measured = [_noise(name, distance) for name, distance in noises]
    found = describe_dependence("y", find_floor("y", "float32", measured), measured)
    assert expected in found if expected is not None and found is not None else found is expected


@pytest.mark.parametrize(
    ("value", "expected"), [(2.4e-5, 5e-5), (5e-5, 5e-5), (5.1e-5, 1e-4), (1e-6, 1e-6), (9.9e-3, 1e-2)]
)
def test_limits_are_rounded_up_to_one_two_five(value: float, expected: float) -> None:
    """Numbers that people can remember, and never below what was asked for."""
    assert round_limit(value) == expected


@given(st.floats(1e-30, 1e30))
def test_rounding_up_is_never_below(value: float) -> None:
    """Law: what is kept as noise covers what was measured, and not by much."""
    assert value * (1 - 1e-8) <= round_up(value) <= value * 1.11
    assert value * (1 - 1e-8) <= round_limit(value) <= value * 2.51


def test_a_comfortable_default_is_kept() -> None:
    """Four times the floor, as measured on photos, is room enough."""
    advice = advise("y", DEFAULT, _floor(2.4e-6), distance=None, misses_planted=False)
    assert (advice.standing, advice.proposed, advice.asks) == (Standing.KEPT, None, False)
    assert advice.text == "default 1e-05 is 4.2x the floor 2.4e-06"


@pytest.mark.parametrize(
    ("floor", "standing", "proposed"),
    [
        (3.3e-6, Standing.KEPT, None),
        (3.4e-6, Standing.THIN, 5e-5),
        (1.0e-5, Standing.THIN, 1e-4),
        (1.1e-5, Standing.BELOW, 2e-4),
        (math.inf, Standing.UNBOUNDED, None),
    ],
)
def test_a_floor_near_or_above_the_limit_is_named(
    floor: float, standing: Standing, proposed: float | None
) -> None:
    """Ten times the floor is proposed from a third of the limit on, and said to be wider."""
    advice = advise("y", DEFAULT, _floor(floor), distance=None, misses_planted=False)
    assert (advice.standing, advice.proposed) == (standing, proposed)
    assert advice.is_wider == (proposed is not None)
    assert advice.asks == (standing is not Standing.KEPT)


@pytest.mark.parametrize(
    ("bound", "standing", "proposed"),
    [(9.9e-6, Standing.KEPT, None), (1.1e-5, Standing.BELOW, 5e-5)],
)
def test_no_room_is_asked_above_what_bounds_rounding(
    bound: float, standing: Standing, proposed: float | None
) -> None:
    """Twice the twin's distance is as far as another machine's rounding gets: the limit may be that."""
    advice = advise("y", DEFAULT, _floor(bound, benign=1e-6), distance=None, misses_planted=False)
    assert (advice.standing, advice.proposed) == (standing, proposed)
    assert ("may flake elsewhere" in advice.text) == (proposed is not None)


@pytest.mark.parametrize(
    ("limit", "misses", "standing", "proposed"),
    [
        (1e-2, True, Standing.WIDE, 1e-5),
        (1e-4, False, Standing.KEPT, None),
        (2e-7, False, Standing.THIN, 1e-6),
    ],
)
def test_a_limit_that_sees_nothing_mild_is_narrowed_to_the_default(
    limit: float, misses: bool, standing: Standing, proposed: float | None
) -> None:
    """Never below the dtype's default where it is narrowed, because that holds on other machines too."""
    advice = advise("y", _written(limit), _floor(1e-7), distance=None, misses_planted=misses)
    assert (advice.standing, advice.proposed) == (standing, proposed)


@pytest.mark.parametrize(
    ("distance", "standing", "proposed"),
    [
        (0.081, Standing.KEPT, None),
        (0.097, Standing.THIN, 0.2),
        (0.13, Standing.DRIFTS, 0.5),
        (1e-5, Standing.WIDE, 2e-5),
    ],
)
def test_a_declared_difference_gets_room_of_its_own(
    distance: float, standing: Standing, proposed: float | None
) -> None:
    """A quarter more than it is keeps the limit, twice is proposed; what repeats needs no tenfold."""
    advice = advise("y", _written(0.12), _floor(1e-6), distance=distance, misses_planted=True)
    assert (advice.standing, advice.proposed) == (standing, proposed)


def test_no_limit_over_a_large_declared_difference_is_blamed() -> None:
    """It cannot see a mild change, which is said and asks nobody for anything."""
    advice = advise("y", _written(0.12), _floor(1e-6), distance=0.081, misses_planted=True)
    assert "no limit above the declared difference of 8.1e-02 can see it" in advice.note
    assert not advice.asks


def test_decisions_alone_let_a_mild_change_pass() -> None:
    """Without a limit on distances it is seen only when a decision flips, and the fitting limit is named."""
    advice = advise("y", _written(None), _floor(1e-6), distance=None, misses_planted=True)
    assert advice.standing is Standing.OFF
    assert advice.asks
    assert "unless a decision flips" in advice.note
    assert advice.text == "rel_l2 is off; 1e-05 would fit"


def test_a_proposal_that_lets_the_planted_change_pass_says_so() -> None:
    """Noise of a thousandth hides a change of a thousandth, whatever the limit."""
    advice = advise("y", DEFAULT, _floor(4e-4), distance=None, misses_planted=False)
    assert advice.proposed == 5e-3
    assert "passes under the proposed limit; no limit above noise of 4.0e-04 can see it" in advice.note


def test_integers_that_move_have_no_limit_to_propose() -> None:
    """Nothing but equal is right for them."""
    present = PresentLimit(value=None, source="dtype default (int64)", default=0.0, is_exact=True)
    moved = advise("y", present, _floor(0.2), distance=None, misses_planted=False)
    assert (moved.standing, moved.proposed) == (Standing.UNBOUNDED, None)
    assert "batch 1 changes it" in moved.text
    assert advise("y", present, _floor(0.0), distance=None, misses_planted=False).standing is Standing.KEPT


@pytest.mark.parametrize(
    ("dtype", "is_coarse"), [("float32", False), ("float64", False), ("float16", True), ("int64", True)]
)
def test_a_change_is_planted_where_the_dtype_can_hold_it(dtype: str, is_coarse: bool) -> None:
    """Half precision rounds by half a thousandth: a planted thousandth would be its own noise."""
    assert is_coarser_than_planted(dtype) is is_coarse
