"""Files that git-lfs or DVC did not fetch."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_modelreg.domain.errors import SampleSetError
from pytest_modelreg.store import pin, read_samples
from pytest_modelreg.store.substitute import describe_pointer, describe_unfetched

POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12345\n"


def test_pointer_names_its_command() -> None:
    """What was cloned without git-lfs says what to run; anything else is not taken for it."""
    assert "git lfs pull" in str(describe_pointer(POINTER))
    assert describe_pointer(b"version 2") is None
    assert describe_pointer(b"") is None


@pytest.mark.parametrize("tracked", ["a.npy", "reference", "golden"])
def test_dvc_file_beside_or_above(tmp_path: Path, tracked: str) -> None:
    """DVC tracks files and whole folders; both are found."""
    path = tmp_path / "golden" / "reference" / "a.npy"
    assert describe_unfetched(path) is None
    (place,) = (place for place in (path, *path.parents) if place.name == tracked)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.with_name(tracked + ".dvc").touch()
    assert describe_unfetched(path) == f"nothing but {tracked}.dvc; run `dvc pull`"


def test_samples_that_were_not_fetched(tmp_path: Path) -> None:
    """A sample set says so too, and an update does not pin the pointer."""
    for name in ("a.jpg", "b.jpg"):
        (tmp_path / name).write_bytes(name.encode())
    pin(tmp_path)
    (tmp_path / "a.jpg").write_bytes(POINTER)
    with pytest.raises(
        SampleSetError, match=r"a\.jpg: expected the sample, got a git-lfs pointer; run `git lfs pull`"
    ):
        read_samples(tmp_path)
    with pytest.raises(SampleSetError, match="git lfs pull"):
        pin(tmp_path, update=True)
