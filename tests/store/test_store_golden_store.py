"""Reading goldens: where they are, what is missing, what was damaged."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_modelreg.domain.errors import GoldenError
from pytest_modelreg.domain.golden import Golden
from pytest_modelreg.domain.observation import InputProbes
from pytest_modelreg.store import (
    golden_folder,
    golden_sha256,
    read_golden,
    read_trace,
    summary_file,
    verify_files,
    write_golden,
    write_trace,
)
from pytest_modelreg.store.codec import decode_golden, encode_golden


@pytest.fixture
def folder(tmp_path: Path, make_golden: Callable[..., Golden], summary: list[list[str]]) -> Path:
    """A golden folder as written."""
    folder = tmp_path / "golden" / "photos" / "reference"
    write_golden(folder, make_golden(tmp_path / "run"), tmp_path / "run", summary)
    return folder


@pytest.fixture
def probed(tmp_path: Path, make_golden: Callable[..., Golden], summary: list[list[str]]) -> Path:
    """A golden folder with a trace of its inputs, and the digest of a variant's."""
    source = tmp_path / "probed-run"
    golden = make_golden(source)
    probes = InputProbes(
        file=write_trace(source, "inputs", np.arange(20.0).reshape(2, 10)), n_columns=10, forms=("float32 3",)
    )
    observation = replace(golden.observation, input_probes=probes)
    folder = tmp_path / "probed-golden" / "photos" / "reference"
    golden = replace(golden, observation=observation, variant_inputs={"grey": "a" * 64})
    write_golden(folder, golden, source, summary)
    return folder


def _verify(folder: Path) -> None:
    golden = read_golden(folder)
    assert golden is not None
    verify_files(folder, golden)


def test_folder_of_ordinary_names(tmp_path: Path) -> None:
    """A golden lies where its suite and variant say."""
    expected = tmp_path / "photo-classifier" / "torch-1.13"
    assert golden_folder(tmp_path, "photo-classifier", "torch-1.13") == expected


@pytest.mark.parametrize("name", ["..", "../..", "/etc", "a/b"])
def test_folder_stays_below_the_root(tmp_path: Path, name: str) -> None:
    """No name leads out of the golden root."""
    folder = golden_folder(tmp_path, name, name)
    assert folder.parent.parent == tmp_path
    assert tmp_path in folder.resolve().parents


def test_no_golden(tmp_path: Path) -> None:
    """A folder without golden.json, or no folder, holds no golden."""
    assert read_golden(tmp_path) is None
    assert read_golden(tmp_path / "absent") is None
    assert golden_sha256(tmp_path) is None


def test_written_golden_is_read_and_whole(folder: Path) -> None:
    """What was written is verified without a fault, and has a digest to be superseded by."""
    _verify(folder)
    assert golden_sha256(folder) == hashlib.sha256((folder / "golden.json").read_bytes()).hexdigest()


def test_unreadable_golden_names_the_path(tmp_path: Path) -> None:
    """golden.json that is a folder is an error, not a missing golden."""
    (tmp_path / "golden.json").mkdir()
    with pytest.raises(GoldenError, match=r"golden\.json: cannot be read: .*; give read access, or restore"):
        read_golden(tmp_path)


@pytest.mark.parametrize("place", ["golden", "golden/s", "golden/s/reference"])
def test_file_where_a_golden_folder_should_be(
    tmp_path: Path, make_golden: Callable[..., Golden], place: str
) -> None:
    """Reading and writing name the file in the way and say what to do about it."""
    folder = golden_folder(tmp_path / "golden", "s", "reference")
    (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / place).write_bytes(b"")
    said = rf"expected a folder at {re.escape(str(tmp_path / place))}, got a file; move it away"
    for read in (read_golden, golden_sha256):
        with pytest.raises(GoldenError, match=rf"golden\.json: cannot be read: {said} or name another"):
            read(folder)
    with pytest.raises(GoldenError, match=rf"cannot be written: {said}, then regenerate again"):
        write_golden(folder, make_golden(tmp_path / "run"), tmp_path / "run", [["sample"]])


def _find_damage(folder: Path, path: Path, damaged: bytes) -> None:
    """Verify with other bytes in one file; the error must name it."""
    content = path.read_bytes()
    path.write_bytes(damaged)
    try:
        with pytest.raises(GoldenError) as caught:
            _verify(folder)
        assert path.name in str(caught.value)
    finally:
        path.write_bytes(content)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)
@given(data=st.data())
def test_any_flipped_bit_is_found(folder: Path, data: st.DataObject) -> None:
    """No bit of a golden can change unnoticed: not in an array, a table, free text or white space."""
    paths = sorted(path for path in folder.iterdir() if path.name != ".gitattributes")
    path = data.draw(st.sampled_from(paths))
    damaged = bytearray(path.read_bytes())
    damaged[data.draw(st.integers(0, len(damaged) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    _find_damage(folder, path, damaged)


def test_trace_is_part_of_the_golden(probed: Path) -> None:
    """It is taken over with the outputs, named in the record and verified with them."""
    golden = read_golden(probed)
    assert golden is not None
    assert golden.observation.input_probes is not None
    assert golden.variant_inputs == {"grey": "a" * 64}
    table = read_trace(probed, golden.observation.input_probes.file, (2, 10))
    np.testing.assert_array_equal(table, np.arange(20.0).reshape(2, 10))
    _verify(probed)


def test_every_flipped_bit_of_a_trace_is_found(probed: Path) -> None:
    """A changed trace would make other distances of the same inputs: the error names the file."""
    (path,) = probed.glob("trace.*.npy")
    content = path.read_bytes()
    for position in range(0, 8 * len(content), 5):
        damaged = bytearray(content)
        damaged[position // 8] ^= 1 << position % 8
        _find_damage(probed, path, damaged)
    path.unlink()
    with pytest.raises(GoldenError, match=re.escape(path.name)):
        _verify(probed)


@pytest.mark.parametrize("key", ["input_probes", "variant_inputs"])
def test_flipped_bit_in_the_record_of_inputs_is_found(probed: Path, key: str) -> None:
    """A wrong digest of a variant's inputs would send it past the model."""
    path = probed / "golden.json"
    content = path.read_bytes()
    start = content.index(f'"{key}"'.encode())
    for position in range(8 * start, 8 * (start + 200)):
        damaged = bytearray(content)
        damaged[position // 8] ^= 1 << position % 8
        with pytest.raises(GoldenError, match=r"golden\.json"):
            decode_golden(bytes(damaged), path)


def test_replaced_golden_sweeps_the_old_trace(
    probed: Path, tmp_path: Path, make_golden: Callable[..., Golden], summary: list[list[str]]
) -> None:
    """A golden recorded without probes leaves no file that nothing names."""
    write_golden(probed, make_golden(tmp_path / "again", 2.0), tmp_path / "again", summary)
    assert not list(probed.glob("trace.*"))
    _verify(probed)


def test_every_flipped_bit_of_the_record_is_found(folder: Path) -> None:
    """golden.json has the most ways to go wrong, its digest and format version among them: all are tried."""
    path = folder / "golden.json"
    content = path.read_bytes()
    for position in range(8 * len(content)):
        damaged = bytearray(content)
        damaged[position // 8] ^= 1 << position % 8
        with pytest.raises(GoldenError, match=r"golden\.json"):
            decode_golden(bytes(damaged), path)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(data=st.data())
def test_lost_and_added_bytes_are_found(folder: Path, data: st.DataObject) -> None:
    """Truncated, emptied and extended files are damage like any other."""
    path = data.draw(st.sampled_from(sorted(path for path in folder.iterdir() if path.name[0] != ".")))
    content = path.read_bytes()
    cut = data.draw(st.integers(0, len(content)))
    extra = data.draw(st.binary(min_size=cut == len(content), max_size=9))
    if content[:cut] + extra != content:
        _find_damage(folder, path, content[:cut] + extra)


def test_converted_line_ends_say_so(folder: Path) -> None:
    """A checkout that converted line ends is recognised, and what prevents it is named."""
    path = folder / "golden.json"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    with pytest.raises(GoldenError, match=r"golden\.json: bytes changed: .*got CRLF.*gitattributes"):
        _verify(folder)


def test_missing_attributes_are_no_fault(folder: Path) -> None:
    """Just inside: the file only protects what is there."""
    (folder / ".gitattributes").unlink()
    _verify(folder)


def test_golden_json_is_read_once(folder: Path) -> None:
    """Verifying uses what was read: a large record is not parsed twice a case."""
    golden = read_golden(folder)
    assert golden is not None
    (folder / "golden.json").unlink()
    verify_files(folder, golden)
    (folder / "summary.csv").write_text("changed")
    with pytest.raises(GoldenError, match=r"summary\.csv: bytes changed"):
        verify_files(folder, golden)


def test_damage_names_a_command_that_replaces_a_damaged_golden(folder: Path) -> None:
    """Without ``--mode all`` a golden that cannot be read ends the case again."""
    (folder / "summary.csv").unlink()
    with pytest.raises(GoldenError, match=r'`modelreg regen --mode all --reason "\.\.\."`$'):
        _verify(folder)


def test_all_damaged_files_are_named_at_once(folder: Path) -> None:
    """One look says everything that is missing."""
    names = [path.name for path in folder.iterdir() if path.name.startswith(("outputs", "summary"))]
    for name in names:
        (folder / name).unlink()
    with pytest.raises(GoldenError) as caught:
        _verify(folder)
    assert len(str(caught.value).splitlines()) == len(names) == 4
    assert all(name in str(caught.value) for name in names)


def test_lfs_pointer_is_recognised(folder: Path) -> None:
    """A clone without git-lfs says what to run."""
    for name in ("outputs.logits.*", "summary.csv", "golden.json"):
        path = next(folder.glob(name))
        path.write_bytes(b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 12\n")
        with pytest.raises(
            GoldenError, match=rf"{path.name}: expected .* got a git-lfs pointer; run `git lfs pull`"
        ):
            _verify(folder)


def test_unfetched_dvc_file_is_recognised(folder: Path) -> None:
    """A clone without `dvc pull` says what to run, for a file and for the folder above."""
    path = next(folder.glob("outputs.logits.*"))
    path.rename(path.with_name(path.name + ".dvc"))
    with pytest.raises(GoldenError, match=rf"{path.name}: expected .*{path.name}\.dvc; run `dvc pull`"):
        _verify(folder)
    (folder / "golden.json").unlink()
    folder.parent.with_name("photos.dvc").touch()
    with pytest.raises(
        GoldenError, match=r"golden\.json: expected the golden, got .*photos\.dvc; run `dvc pull`"
    ):
        read_golden(folder)


def test_golden_without_summary_is_verified(folder: Path) -> None:
    """Just inside: a golden that names no summary does not need one."""
    golden = read_golden(folder)
    assert golden is not None
    (folder / "golden.json").write_bytes(encode_golden(replace(golden, summary=None)))
    (folder / "summary.csv").unlink()
    _verify(folder)


def test_link_out_of_the_folder_is_refused(folder: Path, tmp_path: Path) -> None:
    """A named file that is a link elsewhere is not followed, even with equal bytes."""
    path = next(folder.glob("outputs.logits.*"))
    path.rename(tmp_path / "elsewhere.npy")
    path.symlink_to(tmp_path / "elsewhere.npy")
    with pytest.raises(GoldenError, match="a link that leaves it"):
        _verify(folder)


def test_recorded_summary_is_foretold(folder: Path, summary: list[list[str]]) -> None:
    """What writing records of the table is known before: a regeneration can tell whether it changes it."""
    golden = read_golden(folder)
    assert golden is not None
    assert golden.summary == summary_file(summary)
    assert golden.summary != summary_file([*summary, ["eel", "3.0"]])


def test_unfit_record_is_refused_when_read(folder: Path) -> None:
    """A hand-merged golden.json with a sample too many is found at reading, with its path."""
    path = folder / "golden.json"
    fields = json.loads(path.read_text())
    fields["samples"].append(fields["samples"][0])
    fields["modelreg_golden"] = 1  # of a release that wrote no digest
    del fields["modelreg_sha256"]
    path.write_text(json.dumps(fields))
    with pytest.raises(GoldenError) as caught:
        read_golden(folder)
    lines = str(caught.value).splitlines()
    assert len(lines) == 3
    assert all("golden.json: " in line and "restore it" in line for line in lines)
