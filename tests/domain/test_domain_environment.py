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


def record(version: str, *, is_loaded: bool) -> Fingerprint:
    """Return a record of torch, as one was made of a process that had it loaded, or not."""
    reasons = {} if is_loaded else {"torch.build": "torch was not loaded in this run"}
    facts = {"torch.version": version, "torch.build": "BLAS mkl" if is_loaded else None}
    return Fingerprint(facts=facts, reasons=reasons)


def test_build_that_an_older_record_could_not_know_is_no_change():
    """A golden of a process without torch has the version of the distribution, which may lack the build."""
    loaded = record("2.14.1+cu130", is_loaded=True)
    bare = record("2.14.1", is_loaded=False)
    assert environment_changes(bare, loaded) == environment_changes(loaded, bare) == ()


def test_other_build_and_other_release_are_changes():
    """Where both sides had it loaded, or the release itself differs."""
    loaded = record("2.14.1+cu130", is_loaded=True)
    for other in (
        record("2.14.1", is_loaded=True),
        record("2.14.0", is_loaded=False),
        record("2.14.1+cpu", is_loaded=False),
    ):
        assert [change.key for change in environment_changes(other, loaded)] == ["torch.version"]
