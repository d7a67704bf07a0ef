"""Two environments against each other: what counts as a difference."""

from __future__ import annotations

from pytest_modelreg.domain.environment import Fingerprint, environment_changes


def test_what_one_side_did_not_use_is_no_change():
    """Whether a test before loaded the decoder says nothing about this one's numbers."""
    used = Fingerprint(facts={"pillow.libjpeg_turbo": "3.2.0"})
    unused = Fingerprint(
        facts={"pillow.libjpeg_turbo": None},
        reasons={"pillow.libjpeg_turbo": "Pillow was not loaded in this run"},
    )
    assert environment_changes(used, unused) == environment_changes(unused, used) == ()
