"""Batches: all samples that cannot be loaded are told at once."""

from __future__ import annotations

import pytest

from pytest_modelreg.domain.errors import SampleLoadError


def refuse(case_folder, **changes) -> str:
    """Return the message with which a case is refused."""
    with pytest.raises(SampleLoadError) as caught:
        case_folder.observe(**changes)
    return str(caught.value)


def add_broken(case_folder, *names: str) -> None:
    """Add array samples that hold no array."""
    for name in names:
        case_folder.add_sample(f"{name}.npy", b"no array")


def test_undecodable_samples_of_all_batches_are_named_at_once(toy_case):
    """Two are in the third batch, one in the fourth: the user replaces all three."""
    add_broken(toy_case, "x", "y", "z")
    message = refuse(toy_case)
    assert message.splitlines()[0] == "3 samples cannot be loaded: 'x', 'y', 'z'"
    for name in "xyz":
        assert (
            f"  sample '{name}': loader 'array': {toy_case.samples_folder / name}.npy: cannot be" in message
        )


def test_one_undecodable_sample_is_told_alone(toy_case):
    """Just inside: one fault has no list around it."""
    add_broken(toy_case, "x")
    assert refuse(toy_case).startswith("sample 'x': loader 'array'")


def test_the_list_is_capped_with_its_total(toy_case):
    """A set in which every file is broken is told on a screen."""
    add_broken(toy_case, *(f"x{index:02d}" for index in range(25)))
    lines = refuse(toy_case).splitlines()
    assert lines[0].startswith("25 samples cannot be loaded: 'x00', ")
    assert lines[0].endswith("'x19' and 5 more")
    assert len(lines) == 21


def test_later_samples_are_loaded_and_not_preprocessed(toy_case):
    """Naming faults runs no more user code than it needs."""
    toy_case.write(
        "prep.py",
        """
        loaded, prepared = [], []

        def load(path):
            loaded.append(path.stem)
            if path.stem in "bd":
                raise ValueError(path.stem)
            return path.stem

        def prepare(sample):
            prepared.append(sample)
            with open(__file__ + ".log", "w") as log:
                log.write("".join(prepared))
            return 1.0
        """,
    )
    message = refuse(toy_case, loader="prep:load", preprocess="prep:prepare")
    assert message.startswith("2 samples cannot be loaded: 'b', 'd'")
    assert (toy_case.root / "prep.py.log").read_text() == "a"


def test_a_missing_package_is_one_fault(toy_case, monkeypatch):
    """What no sample is to blame for is not told once a sample."""
    import sys

    monkeypatch.setitem(sys.modules, "PIL", None)
    message = refuse(toy_case, loader="image")
    assert message.count("needs Pillow") == 1
    assert "cannot be loaded" not in message
