"""Rows of features and of token ids: columns, cuts, padding and special tokens, planted and named."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from pytest_modelreg.diagnose.inputs import InputPair, explain_inputs

TABLE = np.random.default_rng(0).standard_normal((12, 9))
CLS, SEP, UNKNOWN = 101, 102, 100


def explain(expected: Sequence[np.ndarray], actual: Sequence[np.ndarray], path: str = ""):
    """Return the findings for one row a sample."""
    return explain_inputs(
        [
            InputPair(sample=f"s{i}", path=path, expected=e, actual=a, file=None, loader="text")
            for i, (e, a) in enumerate(zip(expected, actual, strict=True))
        ],
        has_time=lambda: True,
    )


def change(column: int, scale: float, offset: float = 0.0) -> np.ndarray:
    """Return the table with one column on a line."""
    table = TABLE.copy()
    table[:, column] = scale * table[:, column] + offset
    return table


@pytest.mark.parametrize(
    "order", [[1, 0, 2, 3, 4, 5, 6, 7, 8], [8, 0, 1, 2, 3, 4, 5, 6, 7], list(range(8, -1, -1))]
)
def test_columns_in_other_places_are_put_back(order):
    """Sorted by name instead of as they came, for example."""
    (finding,) = explain(TABLE, TABLE[:, order])
    assert finding.cause.value == "preprocess.layout"
    assert np.array_equal(np.arange(9)[order][finding.evidence["actual"]], np.arange(9))


@pytest.mark.parametrize("scale", [100.0, 0.001, -1.0])
def test_scaled_column_is_named_with_its_factor(scale):
    """Metres for centimetres in a column, the others as before."""
    (finding,) = explain(TABLE, change(3, scale))
    assert finding.cause.value == "preprocess.value_range"
    assert finding.evidence["constants"]["columns"] == [3]
    assert f"column 3 is the golden's times {scale:g}" in finding.summary


def test_shifted_column_is_a_normalisation():
    """Another mean in a column."""
    (finding,) = explain(TABLE, change(5, 2.0, 1.0))
    assert finding.cause.value == "preprocess.normalization"
    assert "column 5 is the golden's times 2, +1" in finding.summary


def test_standardising_every_column_is_a_normalisation():
    """All columns differ, each on a line of its own."""
    (finding,) = explain(TABLE, (TABLE - TABLE.mean(axis=0)) / (3 * TABLE.std(axis=0)))
    assert finding.cause.value == "preprocess.normalization"
    assert finding.evidence["residual_after"] < 1e-5


def test_column_that_is_gone_or_new_is_numbered():
    """The others stay in order."""
    (gone,) = explain(TABLE, np.delete(TABLE, 4, 1))
    (new,) = explain(TABLE, np.insert(TABLE, 2, 7.0, 1))
    assert gone.evidence["constants"]["columns"] == [4]
    assert new.evidence["constants"]["columns"] == [2]


@pytest.mark.parametrize(("filler", "words"), [(0.0, "come as 0"), (-999.0, "come as -999")])
def test_missing_values_that_are_filled_are_counted(filler, words):
    """NaN on the golden's side, a number on this one."""
    holes = TABLE.copy()
    holes[2, 3] = holes[5, 1] = np.nan
    (finding,) = explain(holes, np.nan_to_num(holes, nan=filler))
    assert words in finding.summary
    assert finding.evidence["samples"] == ["s2", "s5"]


def test_new_missing_values_are_counted():
    """A number on the golden's side, NaN on this one."""
    holes = TABLE.copy()
    holes[2, 3] = np.nan
    (finding,) = explain(TABLE, holes)
    assert finding.cause.value == "preprocess.other"
    assert finding.evidence["constants"] == {"n_filled": 0, "n_new": 1}


def test_random_rows_are_named_nothing():
    """Lines fit nothing here."""
    (finding,) = explain(TABLE, np.random.default_rng(1).standard_normal(TABLE.shape))
    assert finding.cause.value == "preprocess.other"
    assert finding.confidence < 0.5


def draw_ids() -> list[np.ndarray]:
    """Return four sentences as ids with special tokens."""
    rng = np.random.default_rng(0)
    return [np.array([CLS, *rng.integers(1000, 20000, n), SEP]) for n in (20, 40, 60, 30)]


IDS = draw_ids()


def pad(ids: np.ndarray, n: int = 64, filler: int = 0, *, is_left: bool = False) -> np.ndarray:
    """Return ids with padding."""
    padding = np.full(n - ids.size, filler)
    return np.concatenate([padding, ids] if is_left else [ids, padding])


TOKENS = {
    "cut, end mark kept": (IDS, [np.append(ids[:15], SEP) for ids in IDS], "are cut at 16"),
    "cut": (IDS, [ids[:10] for ids in IDS], "are cut at 10"),
    "no longer cut": ([ids[:10] for ids in IDS], IDS, "are not cut at 10"),
    "cut, then padded": (
        [pad(ids) for ids in IDS[1:3]],
        [pad(np.append(ids[:31], SEP)) for ids in IDS[1:3]],
        "are cut at 32",
    ),
    "no special tokens": (IDS, [ids[1:-1] for ids in IDS], "lack the special tokens 101, 102"),
    "special tokens": ([ids[1:-1] for ids in IDS], IDS, "have special tokens more: 101, 102"),
    "padded left": (
        [pad(ids) for ids in IDS],
        [pad(ids, is_left=True) for ids in IDS],
        "are padded on the left instead of the right",
    ),
    "padded left, one short row": (
        [pad(ids, ids.size + 1) for ids in IDS],
        [pad(ids, ids.size + 1, is_left=True) for ids in IDS],
        "are padded on the left instead of the right",
    ),
    "cut at the other end": (
        [ids[:16] for ids in IDS],
        [ids[-16:] for ids in IDS[:1]] + [ids[3:19] for ids in IDS[1:]],
        "are cut at their beginning instead of their end",
    ),
    "padding id": (
        [pad(ids) for ids in IDS],
        [pad(ids, filler=1) for ids in IDS],
        "padded with 1 instead of 0",
    ),
    "padded further": (
        [pad(ids) for ids in IDS],
        [pad(ids, 128) for ids in IDS],
        "padded to 128 instead of ",
    ),
    "off by one": (IDS, [ids + 1 for ids in IDS], "are all +1 off"),
    "unknown words": (IDS, [np.where(ids % 5 == 1, UNKNOWN, ids) for ids in IDS], "hold 100 where"),
}


@pytest.mark.parametrize("case", TOKENS)
def test_change_of_ids_is_named(case):
    """What happened to all rows alike."""
    expected, actual, words = TOKENS[case]
    (finding,) = explain(expected, actual)
    assert finding.cause.value == "preprocess.other"
    assert words in finding.summary
    assert finding.confidence > 0.8


MASKS = {
    "ones": (lambda mask: np.ones_like(mask), "nothing but ones"),
    "inverted": (lambda mask: 1 - mask, "inverted"),
}


@pytest.mark.parametrize("case", MASKS)
def test_change_of_a_mask_is_named_with_its_path(case):
    """Rows of zeros and ones are no ids."""
    today, words = MASKS[case]
    masks = [(pad(ids) > 0).astype(np.int64) for ids in IDS]
    (finding,) = explain(masks, [today(mask) for mask in masks], path="attention_mask")
    assert finding.summary.startswith("input attention_mask: ")
    assert words in finding.summary


def test_other_ids_of_the_same_length_are_another_tokenization():
    """Lower-cased, or of another vocabulary: which, the ids do not say."""
    rng = np.random.default_rng(5)
    (finding,) = explain(
        IDS, [np.where(rng.random(ids.size) < 0.4, ids + rng.integers(1, 9), ids) for ids in IDS]
    )
    assert finding.evidence["hypothesis"] == "tokenization"
    assert finding.confidence <= 0.5


def test_equal_ids_have_no_cause():
    """Nothing changed."""
    assert explain(IDS, [ids.copy() for ids in IDS]) == ()


def test_mask_of_floats_is_told_as_a_mask():
    """Ones and zeros in one run each are where padding is, whatever their dtype."""
    masks = [(pad(ids) > 0).astype(np.float32) for ids in IDS]
    (finding,) = explain(masks, [mask[::-1] for mask in masks], path="mask")
    assert "a mask for padding on the other side" in finding.summary


def test_ones_and_zeros_that_change_often_are_columns():
    """Features that are there or not are no mask."""
    rows = (np.random.default_rng(0).random((12, 9)) > 0.5).astype(np.float64)
    (finding,) = explain(rows, rows[:, ::-1])
    assert finding.cause.value == "preprocess.layout"


def test_rounding_of_columns_is_no_line_for_each():
    """A line through rounding errors explains a little of them, and means nothing."""
    (finding,) = explain(TABLE, TABLE.astype(np.float16).astype(np.float64))
    assert finding.evidence["actual"] == "rounded to float16"
