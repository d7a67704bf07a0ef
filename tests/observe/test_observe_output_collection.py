"""Collecting outputs: batches become files, or nothing is left."""

from __future__ import annotations

import numpy as np
import pytest

from pytest_modelreg.domain.errors import OutputError
from pytest_modelreg.observe.output_collection import OutputCollector
from pytest_modelreg.observe.outputs import Leaf
from pytest_modelreg.store import open_output


def leaf(rows, per: str = "sample", dtype: str = "float32") -> Leaf:
    """Make a leaf."""
    return Leaf(per=per, dtype=dtype, rows=rows)


def test_batches_are_joined_by_path(tmp_path):
    """Per sample and per batch side by side, with their own row counts."""
    with OutputCollector(tmp_path, n_samples=3, n_batches=2) as collector:
        for size in (2, 1):
            collector.write(
                {"y": leaf(np.full((size, 2), size, np.float32)), "n": leaf(np.float32([size]), per="batch")}
            )
        records = collector.close()
    assert list(records) == ["y", "n"]
    assert open_output(tmp_path, records["y"]).rows(0, 3).tolist() == [[2, 2], [2, 2], [1, 1]]
    assert open_output(tmp_path, records["n"]).rows(0, 2).tolist() == [2, 1]


def test_order_of_paths_may_change_between_batches(tmp_path):
    """A mapping is a mapping."""
    rows = np.ones((1, 2), np.float32)
    with OutputCollector(tmp_path, n_samples=2, n_batches=2) as collector:
        collector.write({"a": leaf(rows), "b": leaf(rows * 2)})
        collector.write({"b": leaf(rows * 2), "a": leaf(rows)})
        records = collector.close()
    assert open_output(tmp_path, records["a"]).rows(0, 2).tolist() == [[1, 1], [1, 1]]


def test_rows_may_turn_ragged_between_batches(tmp_path):
    """The second batch has another width: that is raggedness, not an error."""
    with OutputCollector(tmp_path, n_samples=3, n_batches=2) as collector:
        collector.write({"y": leaf(np.ones((2, 2), np.float32))})
        collector.write({"y": leaf((np.ones(3, np.float32),))})
        record = collector.close()["y"]
    assert record.is_ragged
    assert open_output(tmp_path, record).row_shape(2) == (3,)


def test_dtype_that_changes_between_batches_is_refused(tmp_path):
    """Rows of one output have one dtype."""
    with OutputCollector(tmp_path, n_samples=2, n_batches=2) as collector:
        collector.write({"y": leaf(np.ones((1, 2), np.float32))})
        with pytest.raises(OutputError, match="float64"):
            collector.write({"y": leaf(np.ones((1, 2)), dtype="float64")})


def test_other_paths_than_in_the_first_batch_are_refused(tmp_path):
    """Both lists are told."""
    rows = np.ones((1, 2), np.float32)
    with OutputCollector(tmp_path, n_samples=2, n_batches=2) as collector:
        collector.write({"a": leaf(rows)})
        with pytest.raises(OutputError, match=r"first batch \(a\), got b"):
            collector.write({"b": leaf(rows)})


def test_leaving_early_leaves_no_file(tmp_path):
    """What was not closed is no observation."""
    with OutputCollector(tmp_path, n_samples=2, n_batches=2) as collector:
        collector.write({"a": leaf(np.ones((1, 2), np.float32))})
    assert list(tmp_path.iterdir()) == []
