"""Law of the report: it reads back as what was judged, whatever the numbers and names are."""

from __future__ import annotations

import json
import math
import unicodedata
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_modelreg.domain.environment import Fingerprint
from pytest_modelreg.domain.verdict import Verdict
from pytest_modelreg.report import (
    RunFacts,
    case_record,
    dump_json,
    fingerprint_record,
    read_fingerprint_record,
    report_document,
)

pytestmark = pytest.mark.filterwarnings("error")

RUN = RunFacts(
    id="20260101-000000",
    started="2026-01-01T00:00:00Z",
    duration_s=1.0,
    git_commit=None,
    git_dirty=None,
    partial=False,
)


# Surrogates as file names that are no UTF-8 bring them.
def can_be_read(text: str) -> bool:
    """Whether a sample may be called so: something is seen, and a terminal obeys nothing of it."""
    return bool(text.strip()) and not any(unicodedata.category(char) == "Cc" for char in text)


TEXT = st.text(
    st.characters(codec="utf-8") | st.characters(min_codepoint=0xDC80, max_codepoint=0xDCFF), min_size=1
)
VALUES = st.floats(width=32) | st.sampled_from([0.0, math.nan, math.inf, -math.inf])


def _refuse(constant: str) -> None:
    raise AssertionError(f"{constant} is no JSON")


def _assert_same(read: Any, meant: Any) -> None:
    """Hold a document read from a report against what it was written from."""
    if isinstance(meant, Mapping):
        for key, value in meant.items():
            if isinstance(value, float) and not math.isfinite(value):
                assert read[key] is None
                assert math.isnan(float(read[f"{key}_reason"])) == math.isnan(value)
                assert math.isnan(value) or float(read[f"{key}_reason"]) == value
            else:
                _assert_same(read[key], value)
        assert {key.removesuffix("_reason") for key in read} == {key.removesuffix("_reason") for key in meant}
    elif isinstance(meant, (list, tuple)):
        assert len(read) == len(meant)
        for item, value in zip(read, meant, strict=True):
            _assert_same(item, value)
    else:
        assert type(read) is type(meant)
        assert read == meant


@given(
    rows=st.lists(st.tuples(VALUES, VALUES, VALUES, VALUES), min_size=1, max_size=4),
    ids=st.lists(TEXT.filter(can_be_read), min_size=4, max_size=4, unique=True),
    facts=st.dictionaries(
        st.text("ab.", min_size=1),
        st.none() | st.text(max_size=3) | st.floats(allow_nan=False, allow_infinity=False) | st.booleans(),
    ),
    path=TEXT.filter(lambda text: text != "anchor"),
)
@settings(max_examples=200, deadline=None)
def test_a_report_reads_back_as_what_was_judged(
    bench: Any, tmp_path_factory: pytest.TempPathFactory, rows: Any, ids: list[str], facts: Any, path: str
) -> None:
    """Law: whatever the numbers, ids, output paths and facts are, the report is strict JSON, reads back
    as the record that it was written from, and says for every number that is not finite which it was.
    """
    expected, actual = (np.array([row[at : at + 2] for row in rows], np.float32) for at in (0, 2))
    ids = ids[: len(rows)]
    values = [{path: side, "anchor": np.arange(len(ids))} for side in (expected, actual)]
    result = bench.compare(*values, ids=ids)
    reasons = {key: "not asked" for key, value in facts.items() if value is None}
    fingerprint = Fingerprint(facts=facts, reasons=reasons, neutral=tuple(facts)[:1])
    environment = fingerprint_record(fingerprint)
    record = case_record(result)
    document = report_document(RUN, environment, [record])
    file = tmp_path_factory.getbasetemp() / "report.json"
    dump_json(document, file)
    read = json.loads(file.read_text(encoding="utf-8"), parse_constant=_refuse)
    _assert_same(read, document)
    assert read_fingerprint_record(read["environment"]) == fingerprint
    (case,) = read["cases"]
    assert Verdict(case["verdict"]) is result.verdict
    assert tuple(case["drifted_samples"]) == result.drifted_samples
    for name, measures in result.outputs.items():
        found = case["outputs"][name]
        for key in ("rel_l2", "max_abs", "mean_abs", "rms_abs"):
            value = getattr(measures, key)
            assert (found[key] if math.isfinite(value) else float(found[f"{key}_reason"])) == value
    for check, found in zip(result.checks, case["checks"], strict=True):
        assert found["name"] == check.name
        assert found["ok"] is check.ok
        assert found["value"] == check.value or found["value_reason"] == str(check.value)
