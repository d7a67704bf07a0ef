"""Sample sets: every fault of a table and its files, all at once, by line."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from pytest_modelreg.domain.errors import SampleSetError
from pytest_modelreg.store import count_samples, read_samples

HEADER = "id,file,sha256,label,tags"


def _sha(content: str) -> str:
    return hashlib.sha256(content.encode()).hexdigest()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with ``cat.txt``, ``dog.txt`` and ``sub/owl.txt``, each holding its own name."""
    folder = tmp_path / "photos"
    (folder / "sub").mkdir(parents=True)
    for file in ("cat.txt", "dog.txt", "sub/owl.txt"):
        (folder / file).write_text(file)
    return folder


ROWS = tuple(f"{Path(file).stem},{file},{_sha(file)},," for file in ("cat.txt", "dog.txt", "sub/owl.txt"))


def _write(folder: Path, rows: Sequence[str] = ROWS, header: str = HEADER) -> None:
    (folder / "samples.csv").write_text("\n".join([header, *rows]) + "\n", encoding="utf-8", newline="")


def _faults(folder: Path) -> list[str]:
    with pytest.raises(SampleSetError) as caught:
        read_samples(folder)
    return [
        str(fault).replace(f"{folder}{os.sep}", "").replace(str(folder), "FOLDER")
        for fault in caught.value.faults
    ]


def _only_fault(folder: Path) -> str:
    (fault,) = _faults(folder)
    return fault


def test_read(folder: Path) -> None:
    """Rows come in the table's order with label and tags."""
    _write(folder, [ROWS[1], f"cat,cat.txt,{_sha('cat.txt')},tabby,critical  night", ROWS[2]])
    samples = read_samples(folder)
    assert samples.folder == str(folder)
    assert [sample.id for sample in samples.samples] == ["dog", "cat", "owl"]
    cat = samples.samples[1]
    assert (cat.file, cat.sha256, cat.label, cat.tags) == (
        "cat.txt",
        _sha("cat.txt"),
        "tabby",
        ("critical", "night"),
    )
    assert samples.samples[0].label is None
    assert count_samples(folder) == 3


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_columns_in_any_order_with_any_line_end(folder: Path, mark: str, newline: str) -> None:
    """Label and tags are optional, the order is free, a byte order mark and CRLF do no harm."""
    rows = [
        "sha256,id,file",
        *(f"{_sha(file)},{file},{file}" for file in ("cat.txt", "dog.txt", "sub/owl.txt")),
    ]
    (folder / "samples.csv").write_bytes((mark + newline.join(rows)).encode())
    assert [sample.id for sample in read_samples(folder).samples] == ["cat.txt", "dog.txt", "sub/owl.txt"]
    assert count_samples(folder) == 3


def test_upper_case_digest(folder: Path) -> None:
    """Other tools print sha256 in capitals."""
    _write(folder, [ROWS[0].replace(_sha("cat.txt"), _sha("cat.txt").upper()), *ROWS[1:]])
    assert read_samples(folder).samples[0].sha256 == _sha("cat.txt")


def test_files_that_are_no_samples(folder: Path) -> None:
    """Just inside: notes, licences, hidden files and attributes need no row."""
    _write(folder)
    for name in (
        "README.md",
        "README",
        "LICENSE.txt",
        "notes.md",
        ".gitattributes",
        ".DS_Store",
        "sub/README.rst",
    ):
        (folder / name).write_text("x")
    (folder / ".cache").mkdir()
    (folder / ".cache" / "x.txt").write_text("x")
    assert len(read_samples(folder)) == 3


def test_listed_file_may_have_any_name(folder: Path) -> None:
    """A markdown file that is a sample is one because its row says so."""
    (folder / "notes.md").write_text("notes.md")
    _write(folder, [*ROWS, f"notes,notes.md,{_sha('notes.md')},,"])
    assert len(read_samples(folder)) == 4


def test_no_table(folder: Path) -> None:
    """The command that writes it is in the message."""
    fault = _only_fault(folder)
    assert fault.startswith("samples.csv: expected the sample set's table, got no file; `modelreg pin ")
    assert count_samples(folder) is None


@pytest.mark.parametrize(("rows", "count"), [("", None), ("\n\n", None), (HEADER + "\n", 0)])
def test_no_rows(folder: Path, rows: str, count: int | None) -> None:
    """An empty table pins nothing and cannot be green; none is not a table of no samples."""
    (folder / "samples.csv").write_text(rows)
    assert any("expected" in fault and "samples.csv: " in fault for fault in _faults(folder))
    assert count_samples(folder) == count


def test_bytes_changed(folder: Path) -> None:
    """Both digests and the command that accepts."""
    _write(folder)
    (folder / "dog.txt").write_text("wolf")
    fault = _only_fault(folder)
    assert fault.startswith("samples.csv:3: dog.txt: bytes changed: ")
    assert f"expected sha256 {_sha('dog.txt')[:12]}, got {_sha('wolf')[:12]}" in fault
    assert "`modelreg pin FOLDER --update`" in fault


def test_missing_file(folder: Path) -> None:
    """A row whose file is gone is named by its line."""
    _write(folder)
    (folder / "dog.txt").unlink()
    assert _only_fault(folder).startswith("samples.csv:3: dog.txt: expected the file, got none")


def test_extra_file(folder: Path) -> None:
    """A file that nobody listed, also in a sub-folder, is named."""
    _write(folder)
    (folder / "sub" / "new.txt").write_text("x")
    assert _only_fault(folder).startswith("samples.csv: sub/new.txt: expected only listed files")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (
            f"cat,sub/owl.txt,{_sha('sub/owl.txt')},,",
            "id: expected each id once, got 'cat' again (first on line 2)",
        ),
        (
            f"tom,cat.txt,{_sha('cat.txt')},,",
            "file: expected each file once, got 'cat.txt' again (first on line 2)",
        ),
        (f",sub/owl.txt,{_sha('sub/owl.txt')},,", "id: expected a name, got ''"),
        (f"  ,sub/owl.txt,{_sha('sub/owl.txt')},,", "id: expected a name, got '  '"),
        (f"a\tb,sub/owl.txt,{_sha('sub/owl.txt')},,", "id: expected printable characters, got 'a\\tb'"),
        (f"owl,/etc/passwd,{'0' * 64},,", "got the absolute path '/etc/passwd'"),
        (f"owl,C:/x.txt,{'0' * 64},,", "got the absolute path 'C:/x.txt'"),
        (f"owl,../x.txt,{'0' * 64},,", "got '../x.txt', which leaves it"),
        (f"owl,sub/../../x.txt,{'0' * 64},,", "which leaves it"),
        (f"owl,sub\\owl.txt,{'0' * 64},,", "expected a path with forward slashes"),
        (f"owl,./sub/owl.txt,{_sha('sub/owl.txt')},,", "expected the plain form 'sub/owl.txt'"),
        (f"owl,,{'0' * 64},,", "file: expected a path inside the sample folder, got nothing"),
        ("owl,sub/owl.txt,abc,,", "sha256: expected 64 hex digits, got 'abc'"),
        ("owl,sub/owl.txt", "expected 5 cells like the header, got 2"),
        (f"owl,sub,{'0' * 64},,", "sub: expected the file, got none"),
    ],
)
def test_fault_of_a_row(folder: Path, row: str, message: str) -> None:
    """Every fault of a row's text is named with its line."""
    _write(folder, [*ROWS[:2], row])
    faults = _faults(folder)
    assert any(fault.startswith("samples.csv:4: ") and message in fault for fault in faults), faults


def test_link_that_leaves_the_folder(folder: Path, tmp_path: Path) -> None:
    """A sample is in the folder, not behind a link to anywhere."""
    (tmp_path / "secret.txt").write_text("secret")
    (folder / "link.txt").symlink_to(tmp_path / "secret.txt")
    _write(folder, [*ROWS, f"secret,link.txt,{_sha('secret')},,"])
    assert any(
        fault.startswith(
            "samples.csv:5: link.txt: expected a file inside the sample folder, got a link that leaves it"
        )
        for fault in _faults(folder)
    )


def test_link_inside_the_folder(folder: Path) -> None:
    """Just inside: a link to another file of the set is a file."""
    (folder / "copy.txt").symlink_to("cat.txt")
    _write(folder, [*ROWS, f"copy,copy.txt,{_sha('cat.txt')},,"])
    assert len(read_samples(folder)) == 4


def test_linked_folder_is_not_silently_left_out(folder: Path, tmp_path: Path) -> None:
    """Files behind a linked folder would be unpinned: it is named instead."""
    _write(folder)
    (folder / "more").symlink_to(tmp_path)
    assert "got a linked folder" in _only_fault(folder)


def test_link_that_leads_to_itself(folder: Path) -> None:
    """A loop is a fault like another, not an exception."""
    _write(folder)
    (folder / "loop.txt").symlink_to("loop.txt")
    assert "loop.txt: expected a regular file" in _only_fault(folder)


def test_pipe_is_not_waited_for(folder: Path) -> None:
    """A file that never ends cannot be a sample."""
    os.mkfifo(folder / "pipe.txt")
    _write(folder, [*ROWS, f"pipe,pipe.txt,{'0' * 64},,"])
    assert any("pipe.txt: expected a regular file" in fault for fault in _faults(folder))


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("id,file,sha256,lable,tags", "got 'lable' (did you mean label?)"),
        ("id,file,sha,label,tags", "expected a column 'sha256'"),
        ("id,file,sha256,id,tags", "expected each column once, got 'id' 2 times"),
        ("id,file,sha256,weather,tags", "out of id, file, sha256, label, tags, got 'weather'"),
    ],
)
def test_fault_of_the_header(folder: Path, header: str, message: str) -> None:
    """An unknown, missing or doubled column is named, with the nearest name."""
    _write(folder, header=header)
    faults = _faults(folder)
    assert any(fault.startswith("samples.csv:1: ") and message in fault for fault in faults), faults


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"id,file,sha256\n\xff,cat.txt,0\n", "samples.csv: expected UTF-8, got byte 0xff at offset 15"),
        (b'id,file,sha256\ncat,"cat.txt,0\n', "samples.csv:2: expected CSV"),
    ],
)
def test_text_that_is_no_table(folder: Path, data: bytes, message: str) -> None:
    """Another encoding and an open quote are faults, not exceptions."""
    (folder / "samples.csv").write_bytes(data)
    assert message in _only_fault(folder)
    assert count_samples(folder) is None


def test_line_numbers_count_lines_not_records(folder: Path) -> None:
    """A label with a line break does not shift the lines of later faults."""
    rows = [
        f'cat,cat.txt,{_sha("cat.txt")},"two\nlines",',
        "",
        f"dog,dog.txt,{_sha('dog.txt')},,",
        "owl,sub/owl.txt,x,,",
    ]
    _write(folder, rows)
    assert _only_fault(folder).startswith("samples.csv:6: sha256")


def test_all_faults_at_once(folder: Path) -> None:
    """One look is enough to mend a table: text, files and extras together."""
    (folder / "extra.txt").write_text("x")
    (folder / "dog.txt").write_text("wolf")
    _write(
        folder,
        [f",cat.txt,{_sha('cat.txt')},,", ROWS[1], f"owl,../x,{'0' * 64},,", f"fox,fox.txt,{'0' * 64},,"],
    )
    faults = _faults(folder)
    for start in (
        "samples.csv:2: id",
        "samples.csv:3: dog.txt: bytes changed",
        "samples.csv:4: file",
        "samples.csv:5: fox.txt: expected the file",
        "samples.csv: extra.txt",
        "samples.csv: sub/owl.txt",
    ):
        assert sum(fault.startswith(start) for fault in faults) == 1, faults
    assert len(faults) == 6
