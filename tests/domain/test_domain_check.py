"""The vocabulary of checks agrees with itself."""

from __future__ import annotations

from pytest_modelreg.domain.check import CHECK_NAMES, CLASSIFICATION_ONLY, DEFAULT_CHECKS


def test_default_checks_are_checks():
    """A name that no check has would be a default that is never applied."""
    assert {name for names in DEFAULT_CHECKS.values() for name in names} <= set(CHECK_NAMES)


def test_every_kind_has_a_default_check():
    """An output that a suite says nothing of is compared."""
    assert all(DEFAULT_CHECKS.values())


def test_only_classification_has_checks_of_class_scores():
    """Other kinds have no classes to agree on."""
    kinds = {kind for kind, names in DEFAULT_CHECKS.items() if CLASSIFICATION_ONLY & set(names)}
    assert kinds == {"classification"}
