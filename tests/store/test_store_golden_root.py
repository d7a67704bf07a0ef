"""What lies below a golden root, told without opening a golden."""

from __future__ import annotations

import os
import time
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_modelreg.domain.errors import GoldenError
from pytest_modelreg.store.golden_root import (
    fold_name,
    list_golden_folders,
    require_inside,
    require_own_name,
    survey_goldens,
    walk_goldens,
)


def _touch(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "golden.json").touch()
    return folder


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A golden root."""
    (tmp_path / "golden").mkdir()
    return tmp_path / "golden"


def test_lists_every_depth(root: Path) -> None:
    """Goldens of suites, of Python tests, per environment, and one above another; sorted."""
    places = ["s/reference", "s/v2/cpu", "s/v2/cuda", "py/m/T/t[a]/n", "py/m/T/n", "py/m/T/n/k"]
    for place in places:
        _touch(root / place)
    (root / "s" / "empty").mkdir()
    (root / ".hidden").mkdir()
    _touch(root / ".hidden" / "x")
    assert list_golden_folders(root) == [root / place for place in sorted(places)]


def test_no_root_has_no_goldens(root: Path) -> None:
    """A project before its first recording."""
    assert list_golden_folders(root) == list_golden_folders(root / "absent") == []


def test_ten_thousand_goldens_take_well_under_a_second(root: Path) -> None:
    """Looking for orphans must not be felt: processor time, best of three, where others work too."""
    for module in range(100):
        for test in range(100):
            _touch(root / f"py/m{module}/t{test}/output")
    durations_s = []
    for _ in range(3):
        started = time.process_time()
        assert len(list_golden_folders(root)) == 10_000
        durations_s.append(time.process_time() - started)
    assert min(durations_s) < 0.9


def test_links_are_not_entered(root: Path, tmp_path: Path) -> None:
    """No golden is listed twice, no loop is walked, and only what leads out is a fault."""
    folder = _touch(root / "s" / "reference")
    (root / "s" / "again").symlink_to(folder)
    (root / "s" / "loop").symlink_to(root)
    (root / "s" / "gone").symlink_to(tmp_path / "nowhere")
    assert survey_goldens(root).faults == ()
    (root / "s" / "out").symlink_to(tmp_path)
    found = survey_goldens(root)
    assert found.folders == (folder,)
    (fault,) = found.faults
    assert "golden/s/out: expected a place inside" in fault
    assert "copy what it leads to here, or link the golden folder as a whole" in fault


def test_file_in_the_way_is_named(root: Path) -> None:
    """A golden root that is a file holds no golden and says why."""
    (root / "file").touch()
    (fault,) = survey_goldens(root / "file" / "s").faults
    assert f"expected a folder at {root / 'file'}, got a file; move it away" in fault


def test_sibling_with_a_longer_name_is_outside(root: Path, tmp_path: Path) -> None:
    """``golden2`` begins like ``golden`` and is another folder."""
    (tmp_path / "golden2").mkdir()
    (root / "s").symlink_to(tmp_path / "golden2")
    assert len(survey_goldens(root).faults) == 1


def test_linked_root_is_followed(root: Path, tmp_path: Path) -> None:
    """Everything below a linked root is inside."""
    _touch(root / "s" / "reference")
    (tmp_path / "link").symlink_to(root)
    assert list_golden_folders(tmp_path / "link") == [tmp_path / "link" / "s" / "reference"]
    require_inside(tmp_path / "link" / "s" / "reference", tmp_path / "link")


@pytest.mark.parametrize("link", ["s", "s/t", "s/t/reference"])
def test_link_at_any_depth_is_refused(root: Path, tmp_path: Path, link: str) -> None:
    """Wherever between root and golden it is."""
    target = tmp_path / "elsewhere"
    target.mkdir()
    (root / link).parent.mkdir(parents=True, exist_ok=True)
    (root / link).symlink_to(target)
    with pytest.raises(GoldenError, match=f"golden/{link}: expected a place inside"):
        require_inside(root / "s" / "t" / "reference", root)
    require_inside(root / "s" / "t" / "reference", root / "s" / "t" / "reference")


def test_names_clash_only_between_goldens(root: Path) -> None:
    """Folders without a golden below them may be called anything."""
    (root / "Docs").mkdir()
    (root / "docs").mkdir()
    _touch(root / "s" / "a")
    assert survey_goldens(root).faults == ()
    _touch(root / "s" / "A")
    _touch(root / "S" / "a")
    faults = survey_goldens(root).faults
    assert len(faults) == 2
    for pair in ("'S' and 's'", "'A' and 'a'"):
        assert any(f"got {pair}, which differ only" in fault for fault in faults)


def test_own_name_on_a_system_that_ignores_case(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that is listed in another Unicode form than it was asked for is no other folder."""
    composed, decomposed = "\u00e9", "e\u0301"
    _touch(root / "s" / composed)
    real = os.listdir
    monkeypatch.setattr(
        os, "listdir", lambda path: [unicodedata.normalize("NFD", name) for name in real(path)]
    )
    require_own_name(root / "s" / composed, root)
    monkeypatch.undo()
    with pytest.raises(GoldenError, match="rename one of the two"):
        require_own_name(root / "s" / decomposed, root)


@given(name=st.text(max_size=20))
def test_folding_is_stable(name: str) -> None:
    """A name and any of its forms fold to one, however often."""
    folded = fold_name(name)
    assert fold_name(folded) == folded
    for form in ("NFC", "NFD"):
        assert fold_name(unicodedata.normalize(form, name)) == folded
    assert fold_name(name.upper()) == fold_name(name.upper().lower().upper())


def test_arrays_without_a_record_are_remains(tmp_path: Path) -> None:
    """Beside a golden, an observation or what DVC keeps of a golden they are not."""
    for name, record in (
        ("a", ""),
        ("b", "golden.json"),
        ("c", "observation.json"),
        ("d", "golden.json.dvc"),
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / "outputs.y.0123456789ab.npy").touch()
        if record:
            (tmp_path / name / record).touch()
    (tmp_path / "e").mkdir()
    (tmp_path / "e/outputs.npy").touch()
    assert survey_goldens(tmp_path).remains == (tmp_path / "a",)


def test_walk_finds_what_the_survey_finds(tmp_path: Path) -> None:
    """Hidden folders are passed over, and so is the one that is named."""
    for name in ("a/b", ".hidden/c", "d"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "golden.json").touch()
    assert sorted(walk_goldens(tmp_path)) == list(map(str, survey_goldens(tmp_path).folders))
    assert list(walk_goldens(tmp_path, passed_over=str(tmp_path / "d"))) == [str(tmp_path / "a/b")]
