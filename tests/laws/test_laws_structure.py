"""Laws of containers: what the order of keys and of items in returned structures means."""

from __future__ import annotations

from collections import OrderedDict, UserDict
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from pytest_modelreg.domain.verdict import Verdict

pytestmark = pytest.mark.filterwarnings("error")

N_SAMPLES = 3
IDS = ("cat", "dog", "owl")
KEYS = st.text("abcxyz", min_size=1, max_size=3)


@st.composite
def _leaf(draw: st.DrawFn) -> Any:
    """Rows whose values occur in no other leaf, as far as chance allows."""
    rows = np.random.default_rng(draw(st.integers(0, 2**32))).integers(-(2**62), 2**62, (N_SAMPLES, 2))
    return torch.from_numpy(rows) if draw(st.booleans()) else rows


def _structures(min_keys: int) -> st.SearchStrategy[Any]:
    inner = st.recursive(
        _leaf(),
        lambda child: st.dictionaries(KEYS, child, min_size=1, max_size=3) | st.tuples(child, child),
        max_leaves=6,
    )
    return st.dictionaries(KEYS, inner, min_size=min_keys, max_size=4)


def _reorder(node: Any, draw: Any) -> Any:
    """Return a structure with the keys of every mapping in another order, in another kind of mapping."""
    if isinstance(node, dict):
        keys = draw(st.permutations(list(node)))
        kind = draw(st.sampled_from([dict, OrderedDict, UserDict]))
        return kind((key, _reorder(node[key], draw)) for key in keys)
    return tuple(_reorder(child, draw) for child in node) if isinstance(node, tuple) else node


@given(values=_structures(2), data=st.data())
@settings(max_examples=80, deadline=None)
def test_order_of_keys_changes_nothing(bench: Any, values: dict[str, Any], data: st.DataObject) -> None:
    """Law: mappings with other orders of keys give the same outputs, the same files, and a match."""
    golden = bench.hold(bench.record(values, ids=IDS))
    recorded = bench.record(_reorder(values, data.draw), ids=IDS)
    assert recorded.observation.outputs == golden.observation.outputs
    result = bench.judge(golden, recorded)
    assert result.verdict is Verdict.MATCH
    assert not result.structure


@given(
    values=_structures(1),
    items=st.lists(_leaf(), min_size=2, max_size=5),
    kind=st.sampled_from([list, tuple]),
    data=st.data(),
)
@settings(max_examples=80, deadline=None)
def test_order_of_items_is_seen(
    bench: Any, values: dict[str, Any], items: list[Any], kind: type, data: st.DataObject
) -> None:
    """Law: items of a list or tuple that change places are drift; a list as long as the batch holds
    one result a sample, so that samples got each other's.
    """
    order = data.draw(st.permutations(range(len(items))))
    moved = [at for at, source in enumerate(order) if at != source]
    assume(moved and "items" not in values)
    assume(len({np.asarray(item).tobytes() for item in items}) == len(items))
    shuffled = kind(items[at] for at in order)
    result = bench.compare({**values, "items": kind(items)}, {**values, "items": shuffled}, ids=IDS)
    assert result.verdict is Verdict.DRIFT
    failing = {check.output for check in result.checks if not check.ok}
    if kind is list and len(items) == N_SAMPLES:
        assert failing == {"items"}
        assert result.drifted_samples == tuple(IDS[at] for at in moved)
    else:
        assert failing == {f"items.{at}" for at in moved}
