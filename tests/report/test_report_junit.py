"""JUnit properties are text that XML can hold."""

from __future__ import annotations

from pytest_modelreg.domain.result import CaseResult
from pytest_modelreg.domain.verdict import Verdict
from pytest_modelreg.report import junit_properties


def test_control_characters_are_escaped() -> None:
    """A name of a test's check with a control character would make the whole file unreadable."""
    result = CaseResult(suite="py", variant="t", verdict=Verdict.MATCH, message="")
    found = dict(junit_properties(result, environment="a\x00b", check="one\x1b[31m\ufffe\ud800"))
    assert "modelreg.one\\x1b[31m\\ufffe\\ud800.verdict" in found
    assert "a\\x00b" in found.values()
    assert all(text.isprintable() for pair in found.items() for text in map(str, pair))
