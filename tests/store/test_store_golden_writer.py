"""Writing goldens: in one step, without touching what is not ours, whatever fails."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_modelreg.domain.array_file import ArrayFile
from pytest_modelreg.domain.errors import GoldenError
from pytest_modelreg.domain.golden import Golden
from pytest_modelreg.store import golden_folder, open_output, read_golden, verify_files, write_golden

Contents = dict[str, bytes]


@pytest.fixture
def prepare(
    tmp_path: Path, make_golden: Callable[..., Golden], summary: list[list[str]]
) -> Callable[..., Any]:
    """Observe outputs of one value; return the golden and how to write it, with a summary that says so."""

    def prepare_value(folder: Path, value: float, **changes: Any) -> tuple[Golden, Callable[[], Path]]:
        source = tmp_path / f"run-{value}"
        golden = make_golden(source, value, **changes)
        return golden, lambda: write_golden(folder, golden, source, [*summary, ["value", str(value)]])

    return prepare_value


@pytest.fixture
def write(prepare: Callable[..., Any]) -> Callable[..., Golden]:
    """Write a golden whose outputs all hold one value."""

    def write_value(folder: Path, value: float, **changes: Any) -> Golden:
        golden, write_it = prepare(folder, value, **changes)
        write_it()
        return golden

    return write_value


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the golden goes."""
    return tmp_path / "golden" / "photos" / "reference"


def _contents(folder: Path) -> Contents:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def _value(folder: Path) -> float | None:
    """Return the one value that a whole golden holds everywhere."""
    golden = read_golden(folder)
    if golden is None:
        return None
    verify_files(folder, golden)
    records = golden.observation.outputs
    (value,) = {float(item) for item in np.unique(open_output(folder, records["logits"]).rows(0, 2))}
    assert np.unique(open_output(folder, records["boxes"]).row(0)) == [value]
    assert golden.accepted.reason == f"value {value}"
    return value


def test_first_golden(folder: Path, write: Callable[..., Golden]) -> None:
    """The folder holds the record, the arrays, the table and the attributes; nothing else."""
    golden = write(folder, 1.0)
    files = {record.values.file for record in golden.observation.outputs.values()}
    counts = golden.observation.outputs["boxes"].counts
    assert counts is not None
    assert set(os.listdir(folder)) == {*files, counts.file, "golden.json", "summary.csv", ".gitattributes"}
    table = hashlib.sha256((folder / "summary.csv").read_bytes()).hexdigest()
    assert read_golden(folder) == replace(golden, summary=ArrayFile(file="summary.csv", sha256=table))
    assert (folder / "summary.csv").read_bytes().endswith(b"value,1.0\n")
    assert _value(folder) == 1.0


def test_attributes_stop_line_end_conversion(folder: Path, write: Callable[..., Golden]) -> None:
    """git leaves the bytes alone, wherever the folder is checked out."""
    write(folder, 1.0)
    lines = (folder / ".gitattributes").read_text().splitlines()
    assert lines == ["*.npy binary", "*.json -text", "*.csv -text"]


def test_replacing_sweeps_what_is_not_named(folder: Path, write: Callable[..., Golden]) -> None:
    """The old golden's arrays go, together with what an earlier crash left."""
    write(folder, 1.0)
    left = ["golden.json.tmp", "outputs.x.0123456789ab.npy", "outputs.x.0123456789ab.npy.tmp"]
    left += ["summary.0123456789ab.csv", "trace.probe.0123456789ab.npy", ".gitattributes.tmp"]
    for name in left:
        (folder / name).write_bytes(b"left over")
    golden = write(folder, 2.0)
    counts = golden.observation.outputs["boxes"].counts
    assert counts is not None
    files = {record.values.file for record in golden.observation.outputs.values()}
    assert set(os.listdir(folder)) == {*files, counts.file, "golden.json", "summary.csv", ".gitattributes"}
    assert _value(folder) == 2.0


def test_foreign_files_are_never_swept(folder: Path, write: Callable[..., Golden]) -> None:
    """A user's file in the folder stays, however much it looks like ours."""
    folder.mkdir(parents=True)
    foreign = [
        "NOTES.md",
        "outputs.mine.npy",
        "golden.json.bak",
        "summary.old.csv",
        "x.tmp",
        "outputs.a.XYZ.npy",
    ]
    for name in foreign:
        (folder / name).write_bytes(b"mine")
    (folder / "outputs.dir.0123456789ab.npy").mkdir()
    write(folder, 1.0)
    write(folder, 2.0)
    assert {*foreign, "outputs.dir.0123456789ab.npy"} <= set(os.listdir(folder))


def test_same_content_changes_nothing_but_acceptance(
    folder: Path, tmp_path: Path, write: Callable[..., Golden], summary: list[list[str]]
) -> None:
    """Regenerating twice leaves every byte but the lines of ``accepted``, and no file rewritten."""
    golden = write(folder, 1.0)
    before = _contents(folder)
    times = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    again = replace(
        golden,
        accepted=replace(golden.accepted, date="2027-01-01T00:00:00Z"),
        observation=replace(golden.observation, duration_s=77.0),
    )
    write_golden(folder, again, tmp_path / "run-1.0", [*summary, ["value", "1.0"]])
    after = _contents(folder)
    lines = zip(before.pop("golden.json").splitlines(), after.pop("golden.json").splitlines(), strict=True)
    date, digest = (new for old, new in lines if old != new)
    assert date == b'    "date": "2027-01-01T00:00:00Z",'
    assert digest.startswith(b'  "modelreg_sha256": "')
    assert after == before
    rewritten = {path.name for path in folder.iterdir() if path.stat().st_mtime_ns != times[path.name]}
    assert rewritten == {"golden.json"}


def test_equal_golden_is_byte_identical(folder: Path, write: Callable[..., Golden]) -> None:
    """The same golden twice gives a clean git diff."""
    write(folder, 1.0)
    before = _contents(folder)
    write(folder, 1.0)
    assert _contents(folder) == before


def test_damaged_files_are_healed(folder: Path, write: Callable[..., Golden]) -> None:
    """Writing again repairs arrays, table, attributes and an unreadable record."""
    write(folder, 1.0)
    before = _contents(folder)
    for name in before:
        (folder / name).write_bytes(b"damaged")
    write(folder, 1.0)
    assert _contents(folder) == before


def test_arrays_already_there_need_no_source(
    folder: Path, tmp_path: Path, write: Callable[..., Golden], summary: list[list[str]]
) -> None:
    """A noise floor can be added to a golden without observing again."""
    golden = write(folder, 1.0)
    write_golden(folder, replace(golden, noise_floor={"logits": 1e-7}), tmp_path / "nowhere", summary)
    read = read_golden(folder)
    assert read is not None
    assert read.noise_floor == {"logits": 1e-7}
    assert _value(folder) == 1.0


def test_array_that_changed_after_recording(
    folder: Path,
    tmp_path: Path,
    make_golden: Callable[..., Golden],
    write: Callable[..., Golden],
    summary: list[list[str]],
) -> None:
    """Bytes that do not fit the observation's digest are never accepted."""
    write(folder, 1.0)
    before = _contents(folder)
    golden = make_golden(tmp_path / "run", 2.0)
    path = tmp_path / "run" / golden.observation.outputs["logits"].values.file
    path.write_bytes(path.read_bytes()[:-1] + b"\x01")
    with pytest.raises(GoldenError, match=r"bytes changed since they were recorded.*observe the case again"):
        write_golden(folder, golden, tmp_path / "run", summary)
    assert _contents(folder) == before


@pytest.mark.parametrize(
    "name", ["golden.json", "summary.csv", ".gitattributes", "x.npy", "outputs.a.000000000000.npy"]
)
def test_array_under_a_name_that_is_not_an_arrays(
    folder: Path, tmp_path: Path, make_golden: Callable[..., Golden], summary: list[list[str]], name: str
) -> None:
    """A record cannot make an array overwrite the record itself."""
    golden = make_golden(tmp_path / "run")
    record = golden.observation.outputs["logits"]
    bad = replace(record, values=ArrayFile(file=name, sha256=record.values.sha256))
    observation = replace(golden.observation, outputs={"logits": bad})
    with pytest.raises(GoldenError, match="expected a name like outputs"):
        write_golden(folder, replace(golden, observation=observation), tmp_path / "run", summary)


def test_names_that_differ_only_in_case(folder: Path, write: Callable[..., Golden]) -> None:
    """On a file system that ignores case the second case does not take the first one's golden."""
    write(folder, 1.0, variant="V2")
    before = _contents(folder)
    with pytest.raises(
        GoldenError, match=r"expected the golden of photos\[v2\], got the one of photos\[V2\]"
    ):
        write(folder, 2.0, variant="v2")
    assert _contents(folder) == before


@pytest.mark.parametrize(
    ("first", "second", "named"),
    [
        ("photos/V2", "photos/v2", "'V2' and 'v2'"),
        ("Photos/v2", "photos/v2", "'Photos' and 'photos'"),
        ("photos/stra\u00dfe", "photos/STRASSE", "'stra\u00dfe' and 'STRASSE'"),
        ("photos/\u00e9", "photos/e\u0301", r"'\\xe9' and 'e\\u0301'"),
        ("e\u0301/v2", "\u00e9/v2", r"'e\\u0301' and '\\xe9'"),
    ],
)
def test_clashing_folders_are_refused(
    tmp_path: Path, write: Callable[..., Golden], first: str, second: str, named: str
) -> None:
    """Where the file system tells the two apart, another one will not: refused with both names."""
    write(tmp_path / "golden" / first, 1.0)
    if (tmp_path / "golden" / second).exists():
        pytest.skip("this file system takes them for one")
    with pytest.raises(
        GoldenError, match=f"got {named}, which differ only.*rename one of the two, or remove"
    ):
        write(tmp_path / "golden" / second, 2.0)
    assert _value(tmp_path / "golden" / first) == 1.0
    assert not (tmp_path / "golden" / second / "golden.json").exists()


def test_unlike_names_do_not_clash(tmp_path: Path, write: Callable[..., Golden]) -> None:
    """Just inside: other names, and a name whose folder holds no golden."""
    (tmp_path / "golden" / "photos" / "V2").mkdir(parents=True)
    for name in ("v2", "v3", "\u00e9", "e"):
        write(tmp_path / "golden" / "photos" / name, 1.0)


def test_spellings_of_one_letter_get_folders_of_their_own(
    tmp_path: Path, prepare: Callable[..., Any]
) -> None:
    """Composed and decomposed names of cases are told apart by what is made of them, everywhere."""
    folders = [golden_folder(tmp_path, "photos", name) for name in ("\u00e9", "e\u0301")]
    for value, place in enumerate(folders, 1):
        prepare(place, float(value))[1]()
    assert [_value(place) for place in folders] == [1.0, 2.0]


def test_golden_root_may_be_a_link(folder: Path, tmp_path: Path, write: Callable[..., Golden]) -> None:
    """Goldens on another disk: the linked root is written through, and stays a link."""
    (tmp_path / "elsewhere").mkdir()
    root = folder.parent.parent
    root.symlink_to(tmp_path / "elsewhere")
    write(folder, 1.0)
    assert root.is_symlink()
    assert _value(folder) == 1.0
    assert (tmp_path / "elsewhere" / "photos" / "reference" / "golden.json").is_file()


@pytest.mark.parametrize("place", ["photos/reference", "photos"])
def test_link_that_leaves_the_golden_root_is_refused(
    folder: Path, tmp_path: Path, write: Callable[..., Golden], place: str
) -> None:
    """A regeneration never replaces files outside its golden root, and a run never reads any."""
    outside = tmp_path / "elsewhere" / "reference"
    write(outside, 1.0)
    before = _contents(outside)
    link = folder.parent.parent / place
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(outside if place == "photos/reference" else outside.parent)
    for attempt in (lambda: write(folder, 2.0), lambda: read_golden(folder)):
        with pytest.raises(
            GoldenError, match=rf"{place}: expected a place inside .*golden, got a link that leaves"
        ):
            attempt()
    assert _contents(outside) == before


def test_link_inside_the_golden_root_is_followed(folder: Path, write: Callable[..., Golden]) -> None:
    """Just inside: two variants may share a golden by a link that stays in the root."""
    write(folder, 1.0)
    (folder.parent / "v2").symlink_to("reference")
    assert _value(folder.parent / "v2") == 1.0


def test_damaged_record_sweeps_no_array(
    folder: Path, tmp_path: Path, prepare: Callable[..., Any], write: Callable[..., Golden]
) -> None:
    """What a damaged golden.json seems not to name may be the old golden's only copy: it stays."""
    write(folder, 1.0)
    before = _contents(folder)
    record = before["golden.json"].replace(b"outputs.logits.", b"outputs.logitz.")
    (folder / "golden.json").write_bytes(record)
    shutil.rmtree(tmp_path / "run-1.0")
    golden, write_it = prepare(folder, 2.0)
    (tmp_path / "run-2.0" / golden.observation.outputs["logits"].values.file).unlink()
    with pytest.raises(GoldenError):
        write_it()
    assert before.keys() <= _contents(folder).keys()


def test_folder_that_cannot_be_made(tmp_path: Path, write: Callable[..., Golden]) -> None:
    """A file in the way is a clean error that names the place."""
    (tmp_path / "golden").write_bytes(b"")
    with pytest.raises(GoldenError, match=r"golden/photos: the golden cannot be written.*regenerate again"):
        write(tmp_path / "golden" / "photos", 1.0)


def test_stale_summary_is_detected_and_finished(folder: Path, write: Callable[..., Golden]) -> None:
    """After a kill between commit and last rename the golden is whole, and tidied next time."""
    write(folder, 2.0)
    new = (folder / "summary.csv").read_bytes()
    golden = read_golden(folder)
    assert golden is not None
    digest = hashlib.sha256(new).hexdigest()[:12]
    (folder / "summary.csv").rename(folder / f"summary.{digest}.csv")
    (folder / "summary.csv").write_bytes(b"the old table\n")
    verify_files(folder, golden)
    write(folder, 2.0)
    assert (folder / "summary.csv").read_bytes() == new
    assert not list(folder.glob("summary.*.csv"))
