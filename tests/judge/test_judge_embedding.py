"""Kind ``embedding`` with its defaults, and ``rank_overlap``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pytest_modelreg.domain.case import OutputSpec
from pytest_modelreg.domain.errors import JudgeError
from pytest_modelreg.domain.verdict import Verdict
from pytest_modelreg.judge.kinds import KINDS

pytestmark = pytest.mark.filterwarnings("error")

VECTORS = {"y": OutputSpec(kind="embedding", top_k=2)}
OFF = ["rel_l2", "cosine"]


def _at_angles(*degrees: float) -> np.ndarray:
    radians = np.deg2rad(degrees)
    return np.stack([np.cos(radians), np.sin(radians)], axis=1)


BEFORE = _at_angles(0, 10, 20, 90, 100, 115)
AFTER = _at_angles(0, 10, 60, 90, 100, 115)
"""Row 2 moves from rows 0 and 1 to rows 3 and 4; all others keep their two nearest."""


def test_an_embedding_has_three_checks(court: Any) -> None:
    """Values, direction and neighbours, each with the source of its limit."""
    result = court.judge(BEFORE, BEFORE * (1 + 1e-12), specs=VECTORS)
    assert result.verdict is Verdict.MATCH
    assert [(check.name, check.limit, check.source) for check in result.checks] == [
        ("rel_l2", 1e-10, "dtype default (float64)"),
        ("cosine", 0.999, "kind default (embedding)"),
        ("rank_overlap", 1.0, "kind default (embedding)"),
    ]


@pytest.mark.parametrize(("angle", "is_ok"), [(2.5, True), (2.6, False)])
def test_the_default_cosine_is_a_turn_of_two_and_a_half_degrees(
    court: Any, ask: Any, angle: float, is_ok: bool
) -> None:
    """0.999 is the cosine of 2.56 degrees, just inside and just outside."""
    checks = ask(off=["rel_l2", "rank_overlap"])
    result = court.judge(_at_angles(0, 90), _at_angles(angle, 90), specs=VECTORS, checks=checks)
    assert result.checks[0].ok is is_ok
    assert result.drifted_samples == (() if is_ok else ("s0",))


@pytest.mark.parametrize(("value", "verdict"), [(0.83, Verdict.MATCH), (0.84, Verdict.DRIFT)])
def test_rank_overlap_draws_the_line_at_its_limit(
    court: Any, ask: Any, limit: Any, value: float, verdict: Verdict
) -> None:
    """One of six samples lost both neighbours: 5 / 6 of them stayed, and the sample is named."""
    result = court.judge(BEFORE, AFTER, specs=VECTORS, checks=ask(off=OFF, y=[limit("rank_overlap", value)]))
    assert result.verdict is verdict
    assert result.checks[0].value == pytest.approx(5 / 6)
    assert result.drifted_samples == (() if verdict is Verdict.MATCH else ("s2",))


def test_rank_overlap_by_tag_looks_for_neighbours_in_the_whole_set(court: Any, ask: Any, limit: Any) -> None:
    """A tag with one sample has a mean over that sample, whose neighbours carry no tag."""
    checks = ask(off=OFF, y=[limit("rank_overlap", 0.5, tags={"critical": 1.0})])
    result = court.judge(BEFORE, AFTER, specs=VECTORS, checks=checks, tags={"s2": ("critical",)})
    assert [(check.tag, check.ok) for check in result.checks] == [(None, True), ("critical", False)]
    assert result.drifted_samples == ("s2",)


def test_noise_at_the_edge_is_a_near_tie_and_reported(court: Any, ask: Any) -> None:
    """Two candidates for the last place that noise puts in another order are no drift."""
    before, after = _at_angles(0, 30, -30.0001, 100), _at_angles(0, 30.0001, -30, 100)
    before, after = before.astype(np.float32), after.astype(np.float32)
    specs = {"y": OutputSpec(kind="embedding", top_k=1)}
    result = court.judge(before, after, specs=specs)
    assert result.verdict is Verdict.MATCH
    assert result.notes == ("1 near tie, counted as agreement: s0",)
    assert [sample.id for sample in result.samples if sample.near_tie] == ["s0"]


def test_scaled_vectors_drift_by_value_only(court: Any) -> None:
    """x1.2 keeps every direction and every neighbour, and is a drift all the same."""
    result = court.judge(BEFORE, BEFORE * 1.2, specs=VECTORS)
    assert {check.name: check.ok for check in result.checks} == {
        "rel_l2": False,
        "cosine": True,
        "rank_overlap": True,
    }


def test_more_neighbours_than_a_small_set_has_are_fewer(court: Any, ask: Any) -> None:
    """With all others for neighbours nothing could change: of four samples, two neighbours are asked for."""
    specs = {"y": OutputSpec(kind="embedding")}
    before, after = _at_angles(0, 10, 20, 90), _at_angles(0, 10, 85, 90)
    result = court.judge(before, after, specs=specs, checks=ask(off=OFF))
    assert (result.checks[0].value, result.drifted_samples) == (0.875, ("s2",))


@pytest.mark.parametrize("bits_differ", [True, False])
def test_two_samples_have_no_neighbours_to_change(
    court: Any, ask: Any, limit: Any, bits_differ: bool
) -> None:
    """By default it is left out with a note; written, it is a fault: it would pass whatever happened."""
    sides = BEFORE[:2], BEFORE[:2] * (1 + 1e-12 * bits_differ)
    result = court.judge(*sides, specs=VECTORS)
    assert [check.name for check in result.checks] == ["rel_l2", "cosine"]
    assert result.notes == ("y: rank_overlap: not judged, it takes at least 3 samples in common",)
    with pytest.raises(JudgeError, match="rank_overlap: expected at least 3 samples, got 2"):
        court.judge(*sides, specs=VECTORS, checks=ask(y=[limit("rank_overlap", 1.0)]))


def test_a_sample_set_that_shrank_is_stale_and_no_error(court: Any, side: Any, ask: Any, limit: Any) -> None:
    """Two samples in common with a golden of six leave the check out, written or not."""
    golden = side(outputs={"y": BEFORE}, ids=list("abcdef"))
    run = side(outputs={"y": BEFORE[:2]}, ids=["a", "b"])
    result = court.judge(golden, run, specs=VECTORS, checks=ask(y=[limit("rank_overlap", 1.0)]))
    assert result.verdict is Verdict.STALE


def test_no_check_left_is_an_error(court: Any, ask: Any) -> None:
    """With everything else off and too few samples, nothing would be compared."""
    with pytest.raises(JudgeError, match="expected a check that can be applied, got none"):
        court.judge(BEFORE[:2], BEFORE[:2], specs=VECTORS, checks=ask(off=OFF))


@pytest.mark.parametrize(
    "values", [np.ones((4, 3), bool), np.ones((4, 3), complex), [np.ones(2), np.ones(3), np.ones(2)]]
)
def test_neighbours_need_real_vectors_of_one_length(court: Any, ask: Any, values: Any) -> None:
    """What has no cosine is refused with what to write."""
    with pytest.raises(JudgeError, match=r"rank_overlap: expected a vector.*`rank_overlap: off`"):
        court.judge(values, values, specs=VECTORS, checks=ask(off=["cosine"]))


@pytest.mark.parametrize("bits_differ", [True, False])
def test_vectors_of_nan_only_have_no_neighbours(court: Any, ask: Any, bits_differ: bool) -> None:
    """One NaN a row leaves numbers to compare and no direction: an error, bit-identical or not."""
    values = BEFORE.copy()
    values[:, 0] = np.nan
    with pytest.raises(JudgeError, match="rank_overlap: expected vectors with neighbours, got NaN"):
        court.judge(values, values * (1 + 1e-12 * bits_differ), specs=VECTORS, checks=ask(off=["cosine"]))


def test_an_embedding_reads_like_a_tensor() -> None:
    """Norm and first values, in the same columns."""
    row, spec = np.arange(12.0), OutputSpec(kind="embedding")
    for kind in (KINDS["embedding"], KINDS["tensor"]):
        assert kind.render(row, spec, 3) == "norm 22.5, first 0.0, 1.0, 2.0"
        assert (kind.columns, kind.summarise(row, spec)) == (("norm", "first"), ("22.4944", "[0.0 1.0 2.0]"))
