"""A finding is told with digits that say something."""

from __future__ import annotations

from pytest_modelreg.domain.cause import Cause, CauseFinding


def test_a_confidence_has_no_digits_of_a_product():
    """0.65 weighed from shares is 0.6499999999999999 in binary."""
    finding = CauseFinding(cause=Cause.MODEL_CODE, confidence=0.6499999999999999, summary="")
    assert finding.confidence == 0.65
