"""Pinning: writes once, verifies afterwards, accepts only when asked."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_modelreg.domain.errors import SampleSetError, UsageFault
from pytest_modelreg.store import PinReport, pin, read_samples
from pytest_modelreg.store.sample_files import natural_key


def _make(folder: Path, *files: str) -> Path:
    for file in files:
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(file)
    return folder


def _ids(folder: Path) -> dict[str, str]:
    return {sample.file: sample.id for sample in read_samples(folder).samples}


def _faults(folder: Path, **options: bool) -> str:
    with pytest.raises(SampleSetError) as caught:
        pin(folder, **options)
    return str(caught.value)


def test_first_pin_lists_all_files_in_natural_order(tmp_path: Path) -> None:
    """img2 comes before img10; label and tags wait to be filled in."""
    _make(tmp_path, "img10.png", "img2.png", "sub/a.png", "README.md", ".hidden")
    assert pin(tmp_path) == PinReport(added=("img2", "img10", "a"), n_samples=3)
    lines = (tmp_path / "samples.csv").read_text().splitlines()
    assert lines[0] == "id,file,sha256,label,tags"
    assert lines[1] == f"img2,img2.png,{hashlib.sha256(b'img2.png').hexdigest()},,"
    assert list(_ids(tmp_path)) == ["img2.png", "img10.png", "sub/a.png"]


def test_ids_are_the_shortest_unique_names(tmp_path: Path) -> None:
    """A stem that two files share is told apart by folder, then by suffix."""
    _make(tmp_path, "cat.jpg", "cat.png", "day/owl.jpg", "night/owl.jpg", "dog.jpg")
    pin(tmp_path)
    assert _ids(tmp_path) == {
        "cat.jpg": "cat.jpg",
        "cat.png": "cat.png",
        "day/owl.jpg": "day/owl",
        "night/owl.jpg": "night/owl",
        "dog.jpg": "dog",
    }


def test_second_pin_verifies_and_writes_nothing(tmp_path: Path) -> None:
    """Pinning twice leaves every byte and the file itself."""
    _make(tmp_path, "a.txt", "b.txt")
    pin(tmp_path)
    table = tmp_path / "samples.csv"
    before, time = table.read_bytes(), table.stat().st_mtime_ns
    for options in ({}, {"check": True}, {"update": True}):
        assert pin(tmp_path, **options) == PinReport(n_samples=2)
    assert (table.read_bytes(), table.stat().st_mtime_ns) == (before, time)


def test_difference_is_not_accepted_silently(tmp_path: Path) -> None:
    """A changed, missing or extra file fails a second pin, with the flag that accepts."""
    _make(tmp_path, "a.txt", "b.txt")
    pin(tmp_path)
    before = (tmp_path / "samples.csv").read_bytes()
    (tmp_path / "a.txt").write_text("other")
    (tmp_path / "b.txt").unlink()
    _make(tmp_path, "c.txt")
    for options in ({}, {"check": True}):
        message = _faults(tmp_path, **options)
        assert len(message.splitlines()) == 3
        assert message.count("--update`") == 3
    assert (tmp_path / "samples.csv").read_bytes() == before


def test_update_accepts_and_keeps_what_people_wrote(tmp_path: Path) -> None:
    """Ids, labels, tags, columns and order of kept rows stay; new rows come last."""
    _make(tmp_path, "a.txt", "b.txt", "c.txt")
    digest = {name: hashlib.sha256(name.encode()).hexdigest() for name in ("a.txt", "b.txt", "c.txt")}
    table = tmp_path / "samples.csv"
    table.write_text(
        "tags,file,id,sha256,label\n"
        f'night day,c.txt,my owl,{digest["c.txt"]},"owl, brown"\n'
        f",b.txt,b,{digest['b.txt']},\n"
        f"x,a.txt,first,{digest['a.txt']},cat\n"
    )
    (tmp_path / "c.txt").write_text("new")
    (tmp_path / "b.txt").unlink()
    _make(tmp_path, "0.txt")
    assert pin(tmp_path, update=True) == PinReport(
        added=("0",), removed=("b",), changed=("my owl",), n_samples=3
    )
    new = hashlib.sha256(b"new").hexdigest()
    assert table.read_text().splitlines() == [
        "tags,file,id,sha256,label",
        f'night day,c.txt,my owl,{new},"owl, brown"',
        f"x,a.txt,first,{digest['a.txt']},cat",
        f",0.txt,0,{hashlib.sha256(b'0.txt').hexdigest()},",
    ]
    assert len(read_samples(tmp_path)) == 3


def test_update_without_optional_columns(tmp_path: Path) -> None:
    """A table without label and tags stays without."""
    _make(tmp_path, "a.txt", "b.txt")
    (tmp_path / "samples.csv").write_text(f"id,file,sha256\na,a.txt,{hashlib.sha256(b'a.txt').hexdigest()}\n")
    pin(tmp_path, update=True)
    assert (tmp_path / "samples.csv").read_text().startswith("id,file,sha256\na,a.txt,")
    assert len(read_samples(tmp_path)) == 2


def test_new_file_does_not_take_an_id(tmp_path: Path) -> None:
    """Ids given by hand keep their owner, also when they look like another file."""
    _make(tmp_path, "a.txt", "sub/b.txt")
    rows = [f"b,a.txt,{hashlib.sha256(b'a.txt').hexdigest()}"]
    (tmp_path / "samples.csv").write_text("\n".join(["id,file,sha256", *rows]) + "\n")
    pin(tmp_path, update=True)
    assert _ids(tmp_path) == {"a.txt": "b", "sub/b.txt": "sub/b"}


def test_new_file_whose_every_name_is_taken(tmp_path: Path) -> None:
    """When people used all names that a file could get, it is numbered."""
    _make(tmp_path, "a.txt", "b.txt", "x.txt")
    digest = {name: hashlib.sha256(name.encode()).hexdigest() for name in ("a.txt", "b.txt")}
    rows = [f"x,a.txt,{digest['a.txt']}", f"x.txt,b.txt,{digest['b.txt']}"]
    (tmp_path / "samples.csv").write_text("\n".join(["id,file,sha256", *rows]) + "\n")
    assert pin(tmp_path, update=True).added == ("x.txt-2",)


def test_update_does_not_mend_a_broken_table(tmp_path: Path) -> None:
    """A row that cannot be read is named, never dropped with its label."""
    _make(tmp_path, "a.txt", "b.txt")
    table = tmp_path / "samples.csv"
    table.write_text("id,file,sha256,label\na,a.txt,broken,cat\n")
    assert "samples.csv:2: sha256: expected 64 hex digits" in _faults(tmp_path, update=True)
    assert "broken" in table.read_text()


def test_update_fills_a_table_without_rows(tmp_path: Path) -> None:
    """A header alone is mended by listing the files."""
    _make(tmp_path, "a.txt")
    (tmp_path / "samples.csv").write_text("id,file,sha256\n")
    assert "expected at least one sample" in _faults(tmp_path)
    assert pin(tmp_path, update=True).n_samples == 1


@pytest.mark.parametrize("update", [False, True])
def test_nothing_to_pin(tmp_path: Path, update: bool) -> None:
    """A folder without samples, and one whose samples are all gone, pin nothing."""
    assert "expected files to pin, got none" in _faults(tmp_path, update=update)
    _make(tmp_path, "a.txt")
    pin(tmp_path)
    (tmp_path / "a.txt").unlink()
    assert "expected" in _faults(tmp_path, update=update)


def test_check_needs_a_table(tmp_path: Path) -> None:
    """CI does not pin what nobody pinned, and writes nothing."""
    _make(tmp_path, "a.txt")
    assert "got no file; `modelreg pin" in _faults(tmp_path, check=True)
    assert os.listdir(tmp_path) == ["a.txt"]


def test_check_and_update_exclude_each_other(tmp_path: Path) -> None:
    """One writes nothing, the other accepts: both is a usage fault."""
    with pytest.raises(UsageFault, match="got both"):
        pin(tmp_path, check=True, update=True)


def test_absent_folder(tmp_path: Path) -> None:
    """A misspelt folder is a fault that names it."""
    assert "absent: No such file" in _faults(tmp_path / "absent")


@pytest.mark.parametrize("name", [b"a\nb.txt", b"a\\b.txt", b"\xff.txt"])
def test_names_that_cannot_be_written_down(tmp_path: Path, name: bytes) -> None:
    """A name that no table or other system can hold is refused before anything is written."""
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name)).write_bytes(b"")
    assert "file: expected" in _faults(tmp_path)
    assert not (tmp_path / "samples.csv").exists()


def test_link_that_leaves_the_folder_is_not_pinned(tmp_path: Path) -> None:
    """Bytes outside the folder would not travel with it."""
    (tmp_path / "secret").write_text("x")
    _make(tmp_path / "photos", "a.txt")
    (tmp_path / "photos" / "b.txt").symlink_to(tmp_path / "secret")
    assert "b.txt: expected a file inside the sample folder" in _faults(tmp_path / "photos")


def test_failed_write_keeps_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk is a fault of the sample set, and the old table stays."""
    _make(tmp_path, "a.txt")
    pin(tmp_path)
    before = (tmp_path / "samples.csv").read_bytes()
    _make(tmp_path, "b.txt")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    assert "No space left on device" in _faults(tmp_path, update=True)
    assert (tmp_path / "samples.csv").read_bytes() == before
    assert sorted(os.listdir(tmp_path)) == ["a.txt", "b.txt", "samples.csv"]


@given(st.lists(st.from_regex(r"[a-c]{0,2}[0-9]{0,4}\.?[0-9]{0,2}", fullmatch=True), max_size=6))
def test_any_mixture_can_be_sorted(names: list[str]) -> None:
    """Letters and digits in the same place are ordered, never compared as text with number."""
    assert sorted(sorted(names, key=natural_key)) == sorted(names)


def test_natural_order_by_number() -> None:
    """Numbers count by value, leading zeros do not confuse them."""
    assert sorted(["b1", "a10", "a9", "a009b", "10", "9"], key=natural_key) == [
        "9",
        "10",
        "a009b",
        "a9",
        "a10",
        "b1",
    ]
