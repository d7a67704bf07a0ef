"""The committed file of durations: small, rounded, and refused where it is none."""

from __future__ import annotations

import json

import pytest

from pytest_modelreg.domain.errors import UsageFault
from pytest_modelreg.engine.sharding.durations import read_durations, write_durations


def test_what_is_written_is_read(tmp_path):
    """Rounded to two digits, so that a commit shows what changed and not every run's noise."""
    path = tmp_path / "modelreg-durations.json"
    write_durations({"b[x]": 12.345, "a[y]": 0.0012}, path)
    assert read_durations(path) == {"a[y]": 0.01, "b[x]": 12.0}
    assert list(json.loads(path.read_text())["cases"]) == ["a[y]", "b[x]"]


def test_without_a_file_nothing_is_known(tmp_path):
    """Shards go by the hash then."""
    assert read_durations(tmp_path / "none.json") is None


FAULTY = {
    "no JSON": "{",
    "another format": '{"modelreg_durations": 2, "cases": {}}',
    "a list": '{"modelreg_durations": 1, "cases": []}',
    "a text": '{"modelreg_durations": 1, "cases": {"a": "1"}}',
    "below zero": '{"modelreg_durations": 1, "cases": {"a": -1}}',
}


@pytest.mark.parametrize("fault", FAULTY)
def test_a_faulty_file_is_named(fault, tmp_path):
    """Shards that read it differently would run a case twice, or never."""
    path = tmp_path / "modelreg-durations.json"
    path.write_text(FAULTY[fault])
    with pytest.raises(UsageFault, match=r"modelreg-durations\.json"):
        read_durations(path)
