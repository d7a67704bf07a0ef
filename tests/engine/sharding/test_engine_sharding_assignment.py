"""Which shard a case is in: every case in one, the same on every machine, and about equally long."""

from __future__ import annotations

from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_modelreg.domain.errors import UsageFault
from pytest_modelreg.engine.sharding.assignment import ShardedCase, assign_shards, hash_case
from pytest_modelreg.engine.sharding.shard import Shard, parse_shard

IDS = st.lists(st.text(min_size=1, max_size=12), unique=True, max_size=40)
LENGTHS = st.floats(0.01, 500.0)


def make_cases(names: list[str], n_groups: int = 10_000) -> list[ShardedCase]:
    """Return cases that share work in groups."""
    return [ShardedCase(id=name, group=str(hash_case(name) % n_groups)) for name in names]


@given(names=IDS, n_shards=st.integers(1, 9), lengths=st.lists(LENGTHS, min_size=40, max_size=40))
@pytest.mark.parametrize("knows", ["nothing", "half", "all"])
def test_shards_part_all_cases_whatever_their_order(knows, names, n_shards, lengths):
    """Each case is in exactly one shard, and in the same one when cases are collected otherwise."""
    n_known = {"nothing": 0, "half": len(names) // 2, "all": len(names)}[knows]
    durations = dict(zip(names[:n_known], lengths, strict=False))
    cases = make_cases(names, 3)
    found = assign_shards(cases, n_shards, durations)
    assert set(found) == set(names)
    assert set(found.values()) <= set(range(1, n_shards + 1))
    assert assign_shards(cases[::-1], n_shards, dict(reversed(durations.items()))) == found


@given(
    names=IDS.filter(bool), n_shards=st.integers(1, 9), lengths=st.lists(LENGTHS, min_size=40, max_size=40)
)
def test_with_durations_no_shard_is_a_case_longer_than_its_share(names, n_shards, lengths):
    """Graham's bound for cases that share nothing: the fair share and one longest case."""
    durations = dict(zip(names, lengths, strict=False))
    found = assign_shards(
        [ShardedCase(id=name, group=str(index)) for index, name in enumerate(names)], n_shards, durations
    )
    loads: dict[int, float] = defaultdict(float)
    for name, number in found.items():
        loads[number] += durations[name]
    longest, rounding = max(durations.values()), 0.001 * len(names)
    assert max(loads.values()) <= sum(durations.values()) / n_shards + longest + rounding


def test_without_durations_no_case_moves_another():
    """A new case changes nothing for those that are there: their shards may keep what they cache."""
    names = [f"suite[v{index}]" for index in range(40)]
    before = assign_shards(make_cases(names), 5)
    after = assign_shards(make_cases([*names, "suite[new]"]), 5)
    assert {name: after[name] for name in names} == before


def test_the_hash_is_the_same_in_every_release():
    """Shards of one run may come from different machines: the numbers are part of the format."""
    assert [hash_case(name) % 7 + 1 for name in ("a[reference]", "a[onnx]", "ü[x]")] == EXPECTED
    assert assign_shards(make_cases(["a[reference]"]), 7) == {"a[reference]": EXPECTED[0]}


EXPECTED = [6, 7, 6]


def test_cases_that_share_work_stay_together_as_long_as_they_fit():
    """What a run prepares once is not prepared in two shards without need."""
    cases = [ShardedCase(id=f"{group}{index}", group=group) for group in "ab" for index in range(4)]
    found = assign_shards(cases, 2, {case.id: 1.0 for case in cases})
    assert len({found[case.id] for case in cases if case.group == "a"}) == 1


def test_a_case_without_duration_counts_as_the_median():
    """One that is new is neither nothing nor the longest."""
    cases = [ShardedCase(id=name, group=name) for name in ("long", "short", "new")]
    found = assign_shards(cases, 2, {"long": 10.0, "short": 2.0})
    assert found["new"] == found["short"] != found["long"]


@pytest.mark.parametrize("text", ["0/2", "3/2", "a/b", "1", "", "1/2/3", "-1/2", "1/99999", "१/२"])
def test_a_shard_that_cannot_be_is_refused(text):
    """With what is expected, what came and nothing run."""
    with pytest.raises(UsageFault, match="expected I/N"):
        parse_shard(text)


def test_a_shard_is_read_as_it_is_written():
    """Blanks around it come from CI files."""
    assert parse_shard(" 2/3 ") == Shard(number=2, of=3)
    assert str(parse_shard("2/3")) == "2/3"
