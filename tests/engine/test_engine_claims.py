"""What a whole run knows of goldens of Python tests, on disk."""

from __future__ import annotations

import json

import pytest

from pytest_modelreg.domain.errors import GoldenError, GoldenFormatError
from pytest_modelreg.engine.claims import CLAIMS_FILE, Claims, read_last_claims, write_claims

RUN = "2026010{}T000000-000000Z"

FULL = Claims(
    checked=frozenset({"b"}),
    kept=frozenset({"c/d"}),
    collected={"test_a.py": "1" * 64},
    doctested={"a.py": "2" * 64},
    conftests={"conftest.py": "3" * 64},
    commit="4" * 40,
    changed={"cases.csv": ""},
    suites=frozenset({".x/modelreg.yaml"}),
    as_of=5.5,
)


def keep(root, name, claims):
    """Write claims into a run's folder."""
    folder = root / ".modelreg/runs" / name
    folder.mkdir(parents=True)
    write_claims(folder, claims)
    return folder / CLAIMS_FILE


def test_foreign_folder_is_never_the_last_run(tmp_path):
    """A downloaded run, a backup: only names that are ids of runs count."""
    for name, place in ((RUN.format(1), "ours"), ("from-ci", "theirs"), (RUN.format(2) + "-copy", "old")):
        keep(tmp_path, name, Claims(checked=frozenset({place})))
    found = read_last_claims(tmp_path)
    assert found is not None
    assert found[1].checked == {"ours"}


def test_claims_are_read_back_from_the_last_whole_run(tmp_path):
    """Of two runs the later one counts; one that was not whole has none."""
    keep(tmp_path, RUN.format(1), Claims(checked=frozenset({"a"})))
    keep(tmp_path, RUN.format(2), FULL)
    (tmp_path / ".modelreg/runs" / RUN.format(3)).mkdir()
    assert read_last_claims(tmp_path) == (RUN.format(2), FULL)


def test_record_of_an_older_release_speaks_for_no_file_that_is_there(tmp_path):
    """It knows names alone, which are no proof."""
    path = keep(tmp_path, RUN.format(1), FULL)
    old = {"modelreg_goldens": 1, "checked": ["b"], "kept": [], "collected": ["test_a.py"], "as_of": 5.5}
    path.write_text(json.dumps(old), encoding="utf-8")
    found = read_last_claims(tmp_path)
    assert found is not None
    assert (found[1].checked, found[1].collected) == ({"b"}, {"test_a.py": ""})


def test_any_flipped_bit_is_refused(tmp_path):
    """A claim that is lost would make a golden an orphan; a new run makes a new record."""
    path = keep(tmp_path, RUN.format(1), FULL)
    data = path.read_bytes()
    for position in range(len(data)):
        flipped = bytearray(data)
        flipped[position] ^= 1 << position % 8
        path.write_bytes(flipped)
        with pytest.raises(GoldenError) as caught:
            read_last_claims(tmp_path)
        is_newer = isinstance(caught.value, GoldenFormatError)
        assert "make a new one with: pytest --modelreg" in str(caught.value) or is_newer
        assert "version control" not in str(caught.value)
