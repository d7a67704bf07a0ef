"""The vocabulary of checks agrees with itself."""

from __future__ import annotations

import pytest

from pytest_modelreg.domain.check import (
    CHECK_NAMES,
    CLASSIFICATION_ONLY,
    DEFAULT_CHECKS,
    DETECTION_ONLY,
    EMBEDDING_ONLY,
    KINDS,
    KINDS_OF_CHECK,
    MULTILABEL_ONLY,
    SEGMENTATION_ONLY,
    fits_kind,
    is_function,
)


def test_default_checks_are_checks():
    """A name that no check has would be a default that is never applied."""
    assert {name for names in DEFAULT_CHECKS.values() for name in names} <= set(CHECK_NAMES)


def test_every_kind_has_a_default_check():
    """An output that a suite says nothing of is compared."""
    assert all(DEFAULT_CHECKS.values())


@pytest.mark.parametrize(
    ("only", "kind"),
    [
        (CLASSIFICATION_ONLY, "classification"),
        (EMBEDDING_ONLY, "embedding"),
        (DETECTION_ONLY, "detection"),
        (MULTILABEL_ONLY, "multilabel"),
        (SEGMENTATION_ONLY, "segmentation"),
    ],
)
def test_only_one_kind_has_the_checks_that_need_it(only, kind):
    """Other kinds have no classes to agree on, no neighbours that mean something, and no boxes."""
    assert {each for each, names in DEFAULT_CHECKS.items() if only & set(names)} == {kind}
    assert {each for each in KINDS for check in only if fits_kind(check, each)} == {kind}


def test_every_default_check_fits_its_kind():
    """A default that needs another kind could never be applied."""
    assert all(fits_kind(check, kind) for kind, checks in DEFAULT_CHECKS.items() for check in checks)


def test_checks_that_need_a_kind_are_checks_and_need_a_kind():
    """A misspelt name would let the check through everywhere."""
    only = CLASSIFICATION_ONLY | EMBEDDING_ONLY | DETECTION_ONLY | MULTILABEL_ONLY | SEGMENTATION_ONLY
    assert set(KINDS_OF_CHECK) == only <= set(CHECK_NAMES)
    assert {kind for kinds in KINDS_OF_CHECK.values() for kind in kinds} <= set(KINDS)


def test_checks_of_values_and_of_the_suite_s_own_fit_every_kind():
    """A colon tells a function from a name."""
    assert all(fits_kind(check, kind) for check in ("rel_l2", "snr_db", "shop.metrics:f1") for kind in KINDS)
    assert is_function("shop.metrics:f1")
    assert not any(is_function(name) for name in CHECK_NAMES)
