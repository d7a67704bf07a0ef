"""The digest that a golden.json carries of itself."""

from __future__ import annotations

import hashlib
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_modelreg.store.json_text import render_json
from pytest_modelreg.store.own_digest import BLANK, OWN_DIGEST_KEY, find_own_digest_fault, write_own_digest


def _sealed(**fields: object) -> bytes:
    return write_own_digest(render_json({"modelreg_golden": 2, OWN_DIGEST_KEY: BLANK, **fields}))


@given(text=st.text(), key=st.text(max_size=5))
def test_whatever_the_file_says_the_digest_holds(text: str, key: str) -> None:
    """Also where text looks like the line of the digest, and where a surrogate has no UTF-8."""
    for value in (text, f'\n  "{OWN_DIGEST_KEY}": "{BLANK}"\n{text}'):
        assert find_own_digest_fault(_sealed(**{"x" + key: {OWN_DIGEST_KEY: value}})) is None


def test_digest_can_be_checked_by_hand() -> None:
    """It is the sha256 of the file with 64 zeros in its place, as the module says."""
    data = _sealed(reason="why")
    (line,) = re.findall(rb'"modelreg_sha256": "([0-9a-f]{64})"', data)
    assert hashlib.sha256(data.replace(line, b"0" * 64)).hexdigest().encode() == line


def test_digest_is_a_line_of_its_own_beside_the_version() -> None:
    """In a diff it is one line; two branches that replace a golden always conflict in it."""
    lines = _sealed(reason="why", accepted={}).decode().splitlines()
    (index,) = (index for index, line in enumerate(lines) if OWN_DIGEST_KEY in line)
    assert lines[index - 1] == '  "modelreg_golden": 2,'


def test_merged_by_hand() -> None:
    """Half of one file and half of another: found, also with both digest lines left in."""
    ours, theirs = _sealed(reason="ours", suite="a"), _sealed(reason="theirs", suite="a")
    mixed = ours.replace(b'"ours"', b'"theirs"')
    assert find_own_digest_fault(mixed) is not None
    (line,) = (line for line in theirs.splitlines(keepends=True) if OWN_DIGEST_KEY.encode() in line)
    assert "got 2" in str(find_own_digest_fault(ours.replace(b'  "reason"', line + b'  "reason"')))


@pytest.mark.parametrize(
    "data", [b"", b"{}\n", _sealed().replace(OWN_DIGEST_KEY.encode(), b"modelreg_sha257")]
)
def test_file_without_the_line(data: bytes) -> None:
    """What carries no digest is not said to fit it."""
    assert (
        find_own_digest_fault(data) == "expected one line with the file's own digest (modelreg_sha256), got 0"
    )


def test_converted_line_ends_are_told_from_other_damage() -> None:
    """The one change that a tool makes on purpose has a name of its own."""
    data = _sealed(reason="why")
    assert "got CRLF" in str(find_own_digest_fault(data.replace(b"\n", b"\r\n")))
    damaged = data.replace(b"why", b"who").replace(b"\n", b"\r\n")
    assert "got CRLF" not in str(find_own_digest_fault(damaged))
