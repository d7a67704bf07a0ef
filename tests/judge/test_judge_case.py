"""A case as a whole: bit-identical outputs, environments, weights, messages."""

from __future__ import annotations

import shutil
from typing import Any

import numpy as np

from pytest_modelreg.domain.case import OutputSpec
from pytest_modelreg.domain.verdict import Verdict
from pytest_modelreg.judge import judge_case

VALUES = np.random.default_rng(0).standard_normal((4, 10)).astype(np.float32)


def test_bit_identical_outputs_match_without_reading_them(court: Any, side: Any) -> None:
    """Equal digests are recognised first: the arrays need not even be there."""
    values = VALUES.copy()
    values[0, :2] = [np.nan, np.inf]
    both = side(outputs={"y": values})
    request = court.request(both, both, specs={"y": OutputSpec(kind="classification")})
    shutil.rmtree(request.golden_folder)
    shutil.rmtree(request.observation_folder)
    result = judge_case(request)
    assert (result.verdict, result.message) == (Verdict.MATCH, "4 samples, bit-identical")
    measures = result.outputs["y"]
    assert (measures.bit_identical, measures.n_total, measures.rel_l2, measures.cosine_min) == (
        True,
        40,
        0.0,
        1.0,
    )
    assert (measures.nan_expected, measures.inf_actual) == (1, 1)
    assert {check.name: check.value for check in result.checks} == {"rel_l2": 0.0, "top1_agreement": 1.0}


def test_equal_bytes_in_another_order_are_compared(court: Any, side: Any) -> None:
    """A file of the golden's bytes under a reordered sample set holds other samples' answers."""
    expected = side(outputs={"y": VALUES}, ids=list("abcd"))
    result = court.judge(expected, side(outputs={"y": VALUES}, ids=list("bacd")))
    assert result.drifted_samples == ("b", "a")


def test_a_match_says_how_close_it_was(court: Any) -> None:
    """The line of a match has the number of samples and the largest error against its limit."""
    result = court.judge(VALUES, VALUES * np.float32(1 + 4e-7))
    assert result.message.startswith("4 samples, largest rel_l2 ")
    assert result.message.endswith("e-07 of 1e-05")


def test_a_drift_says_what_where_and_how_far(court: Any, side: Any) -> None:
    """Output, check, value, limit, share of samples and the worst one, in one line."""
    actual = VALUES.copy()
    actual[1] *= np.float32(1 + 3e-4)
    actual[2] *= np.float32(1 + 1e-4)
    sides = [
        side(outputs={"logits": values}, ids=["ant", "cat", "dog", "eel"]) for values in (VALUES, actual)
    ]
    assert court.judge(*sides).message == "logits rel_l2 3.0e-04 > 1e-05 in 2 of 4 samples (worst: cat)"


def test_a_value_next_to_its_limit_gets_the_digits_that_show_it(court: Any, ask: Any, limit: Any) -> None:
    """The message never reads `0.01 > 0.01`."""
    expected = np.ones((1, 10))
    result = court.judge(expected, expected * 1.010001, checks=ask(limit("rel_l2", 0.01)))
    assert "rel_l2 0.010001 > 0.01" in result.message


def test_many_failures_stay_one_line(court: Any, side: Any) -> None:
    """Three clauses and a count of the others."""
    expected = {f"y{number}": np.ones((2, 3)) for number in range(5)}
    actual = {name: 2 * values for name, values in expected.items()}
    message = court.judge(side(outputs=expected), side(outputs=actual)).message
    assert message.endswith("; and 2 more")
    assert "\n" not in message


OLD, NEW = {"torch.version": "2.13.0", "os": "x"}, {"torch.version": "2.14.1", "os": "x"}


def test_a_match_in_another_environment_is_one_note(court: Any, side: Any) -> None:
    """Equal behaviour under another torch is worth exactly one line."""
    result = court.judge(side(outputs={"y": VALUES}, facts=OLD), side(outputs={"y": VALUES}, facts=NEW))
    assert result.verdict is Verdict.MATCH
    assert result.notes == ("environment differs from the golden's: torch.version 2.13.0 -> 2.14.1",)


def test_noise_in_another_environment_is_one_note_and_none_in_the_same(court: Any, side: Any) -> None:
    """Other bits within the limit say nothing; another torch adds its one line and no more."""
    noisy = VALUES * np.float32(1 + 1e-7)
    assert not np.array_equal(noisy, VALUES)
    golden = side(outputs={"y": VALUES}, facts=OLD)
    same = court.judge(golden, side(outputs={"y": noisy}, facts=OLD))
    other = court.judge(golden, side(outputs={"y": noisy}, facts=NEW))
    assert (same.verdict, same.notes) == (Verdict.MATCH, ())
    assert (other.verdict, len(other.notes)) == (Verdict.MATCH, 1)
    assert not same.outputs["y"].bit_identical
    assert "environment" not in other.message


def test_a_drift_leads_with_the_environment(court: Any, side: Any) -> None:
    """What else moved comes before the numbers, is on record, and not repeated as a note."""
    result = court.judge(side(outputs={"y": VALUES}, facts=OLD), side(outputs={"y": 2 * VALUES}, facts=NEW))
    assert result.message == (
        "environment differs (torch.version 2.13.0 -> 2.14.1); "
        "y rel_l2 1 > 1e-05 in 4 of 4 samples (worst: s0)"
    )
    assert [change.key for change in result.environment_changes] == ["torch.version"]
    assert not any("environment" in note for note in result.notes)


def test_a_structural_drift_leads_with_the_environment(court: Any, side: Any) -> None:
    """Another shape under another torch is a question to torch first."""
    result = court.judge(
        side(outputs={"y": VALUES}, facts=OLD), side(outputs={"y": VALUES[:, :3]}, facts=NEW)
    )
    assert result.message.startswith("environment differs (torch.version 2.13.0 -> 2.14.1); shape of y: ")


def test_other_weights_are_noted_on_a_drift(court: Any, side: Any) -> None:
    """A drift says that the weights differ; a match keeps quiet about it."""
    golden = side(outputs={"y": VALUES}, weights="0" * 64)
    drift = court.judge(golden, side(outputs={"y": 2 * VALUES}, weights="1" * 64))
    assert "weights differ from the golden's (digest 000000000000 -> 111111111111)" in drift.notes
    assert court.judge(golden, side(outputs={"y": VALUES}, weights="1" * 64)).notes == ()


def test_a_tag_without_a_common_sample_is_noted(court: Any, side: Any, ask: Any, limit: Any) -> None:
    """A tag whose only sample is new cannot be judged, and does not pass unseen."""
    golden = side(outputs={"y": VALUES[:2]}, ids=["a", "b"])
    run = side(outputs={"y": VALUES[:3]}, ids=["a", "b", "c"])
    checks = ask(limit("rel_l2", 1e-5, tags={"new": 1e-6}))
    result = court.judge(golden, run, checks=checks, tags={"c": ("new",)})
    assert result.verdict is Verdict.STALE
    assert any("for tag new: not judged" in note for note in result.notes)
