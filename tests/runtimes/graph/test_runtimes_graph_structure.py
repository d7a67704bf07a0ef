"""Structures are taken apart and put together again with their own types."""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_modelreg.runtimes.graph.structure import describe_structure, follow, list_places, replace_leaves

Pair = namedtuple("Pair", "x y")


@dataclass(frozen=True)
class Frozen:
    """Output of a model, as a dataclass."""

    logits: Any
    extra: Any = None
    _hidden: Any = field(default=None, repr=False)


class LibraryOutput(OrderedDict):
    """A library's own output: a mapping whose keys are attributes too."""

    def __setitem__(self, key: str, value: Any) -> None:
        """Keep both in step."""
        super().__setitem__(key, value)
        super().__setattr__(key, value)

    def to_tuple(self) -> tuple[Any, ...]:
        """Return the values."""
        return tuple(self.values())


STRUCTURES = st.recursive(
    st.integers() | st.none() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=3), inner, max_size=3)
        | st.tuples(inner, inner)
        | st.builds(Pair, inner, inner)
        | st.builds(Frozen, inner, inner)
    ),
    max_leaves=8,
)


@given(STRUCTURES)
def test_the_same_leaves_give_the_same_structure(node):
    """A law: taking apart and putting together changes nothing."""
    leaves = [place.value for place in list_places(node)]
    again = replace_leaves(node, iter(leaves))
    assert again == node
    assert describe_structure(again) == describe_structure(node)


@given(STRUCTURES)
def test_every_place_can_be_followed(node):
    """A law: a place's steps lead to its value."""
    for place in list_places(node):
        assert follow(node, place.steps) is place.value


def test_places_are_named_by_keys():
    """Fields of named tuples and dataclasses count as keys."""
    node = {"a": [1, Pair(2, 3)], "b": Frozen(4), "c": None}
    names = [place.name for place in list_places(node)]
    assert names == ["a.0", "a.1.x", "a.1.y", "b.logits", "b.extra", "b._hidden", "c"]
    assert [place.name for place in list_places(5)] == [""]


@pytest.mark.parametrize(
    "node",
    [LibraryOutput(logits=1, loss=2), OrderedDict(logits=1, loss=2), Frozen(1, 2), Pair(1, 2)],
    ids=lambda node: type(node).__name__,
)
def test_types_are_kept(node):
    """What the suite's code does with an output must work on a restored one."""
    n = len(list(list_places(node)))
    again = replace_leaves(node, iter(range(10, 10 + n)))
    assert type(again) is type(node)
    assert [place.value for place in list_places(again)] == list(range(10, 10 + n))
    if isinstance(node, LibraryOutput):
        assert again.logits == 10


def test_a_mapping_that_cannot_be_written_becomes_a_dict():
    """Its keys are what output paths are made of."""
    assert replace_leaves(MappingProxyType({"a": 1}), iter([2])) == {"a": 2}
