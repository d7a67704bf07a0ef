"""Reports are JSON that any reader accepts."""

from __future__ import annotations

import json
import math
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_modelreg.domain.errors import UsageFault
from pytest_modelreg.report.strict_json import dump_json, finite, seal_json
from pytest_modelreg.store.own_digest import OWN_DIGEST_KEY, find_own_digest_fault

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
DOCUMENTS = st.dictionaries(
    st.text(),
    st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20),
)


@given(DOCUMENTS)
def test_any_document_becomes_strict(document):
    """No NaN or infinity survives, wherever it stands."""
    json.dumps(finite(document), allow_nan=False)


@pytest.mark.parametrize(("value", "name"), [(math.nan, "nan"), (math.inf, "inf"), (-math.inf, "-inf")])
def test_non_finite_value_is_null_with_its_reason_beside_it(value, name):
    """A reader can tell an infinite error from one that was not measured."""
    assert finite({"rel_l2": value}) == {"rel_l2": None, "rel_l2_reason": name}


@given(DOCUMENTS)
def test_finite_documents_are_left_alone(document):
    """Applying it twice changes nothing more."""
    once = finite(document)
    assert finite(once) == once


def test_written_file_is_readable_by_others(tmp_path):
    """The temporary file's private mode must not stick to the report."""
    dump_json({"a": 1}, tmp_path / "new" / "report.json")
    assert json.loads((tmp_path / "new" / "report.json").read_text(encoding="utf-8")) == {"a": 1}
    mask = os.umask(0)
    os.umask(mask)
    assert (tmp_path / "new" / "report.json").stat().st_mode & 0o777 == 0o666 & ~mask
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["report.json"]


def test_unwritable_target_is_named(tmp_path):
    """The message says which file, and what to do."""
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(UsageFault, match=r"file/report\.json.*name another file"):
        dump_json({}, tmp_path / "file" / "report.json")


def test_sealed_document_shows_every_changed_byte(tmp_path):
    """Whoever decides by it reads what was written, also where a file name has no UTF-8."""
    path = tmp_path / "report.json"
    document = {"verdict": "drift", "value": math.inf, "name": "\udc80", "nested": {"key": [1, math.nan]}}
    seal_json(document, path)
    data = path.read_bytes()
    assert find_own_digest_fault(data) is None
    for place in range(len(data)):
        assert find_own_digest_fault(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]) is not None
    read = json.loads(data)
    del read[OWN_DIGEST_KEY]
    assert read == finite(document)
