"""Checkpoints: what is read, and that nothing in one is ever run."""

from __future__ import annotations

import io
import os
import pickle
import zipfile
from pathlib import Path

import pytest

from pytest_modelreg.domain.case import CheckpointRef
from pytest_modelreg.domain.errors import CheckpointError
from pytest_modelreg.observe.checkpoint import read_checkpoint

torch = pytest.importorskip("torch")

STATE = {"fc.weight": torch.arange(6.0).reshape(2, 3), "fc.bias": torch.zeros(2)}


def read(path: Path, key: str | None = None):
    """Read a checkpoint file."""
    return read_checkpoint(CheckpointRef(path=str(path), key=key))


def refuse(path: Path, key: str | None = None) -> str:
    """Return the message with which a file is refused; it names the file."""
    with pytest.raises(CheckpointError) as caught:
        read(path, key)
    assert str(path) in str(caught.value)
    return str(caught.value)


class RunsCode:
    """A pickle that makes a folder when it is loaded."""

    def __init__(self, target: Path) -> None:
        self.target = target

    def __reduce__(self):
        return (os.mkdir, (str(self.target),))


@pytest.mark.parametrize("suffix", [".pt", ".pth"])
@pytest.mark.parametrize("zipped", [True, False])
def test_torch_files_are_read(tmp_path, suffix, zipped):
    """In both of torch's formats."""
    path = tmp_path / f"v1{suffix}"
    torch.save(STATE, path, _use_new_zipfile_serialization=zipped)
    state = read(path)
    assert sorted(state) == sorted(STATE)
    assert torch.equal(state["fc.weight"], STATE["fc.weight"])


def test_safetensors_are_read(tmp_path):
    """The format that cannot hold code."""
    safetensors = pytest.importorskip("safetensors.torch")
    path = tmp_path / "v1.safetensors"
    safetensors.save_file(STATE, path)
    assert torch.equal(read(path)["fc.weight"], STATE["fc.weight"])


def test_missing_safetensors_says_what_to_install(tmp_path, monkeypatch):
    """The extra is named."""
    path = tmp_path / "v1.safetensors"
    path.write_bytes(b"x")
    monkeypatch.setitem(__import__("sys").modules, "safetensors", None)
    assert "pip install 'pytest-modelreg[torch]'" in refuse(path)


@pytest.mark.parametrize("zipped", [True, False])
def test_a_pickle_with_code_is_refused_without_running_it(tmp_path, zipped):
    """The message names what it would have run, and how to convert."""
    path, target = tmp_path / "v1.pt", tmp_path / "was-run"
    torch.save({"state_dict": STATE, "code": RunsCode(target)}, path, _use_new_zipfile_serialization=zipped)
    message = refuse(path)
    assert "refused without running it" in message
    assert "mkdir" in message
    assert "model.state_dict()" in message
    assert not target.exists()


def test_a_whole_pickled_model_is_refused_with_how_to_convert(tmp_path):
    """torch.save(model) is code: the class would be imported."""
    path = tmp_path / "v1.pt"
    torch.save(torch.nn.Sequential(torch.nn.Linear(2, 2)), path)
    assert "save model.state_dict()" in refuse(path)


@pytest.mark.filterwarnings("ignore:Detected pickle protocol")
def test_a_plain_pickle_with_code_is_refused(tmp_path):
    """A pickle that torch did not write is no checkpoint either."""
    path, target = tmp_path / "v1.pth", tmp_path / "was-run"
    path.write_bytes(pickle.dumps(RunsCode(target)))
    assert "checkpoint" in refuse(path)
    assert not target.exists()


@pytest.mark.parametrize("suffix", [".pt", ".safetensors"])
@pytest.mark.parametrize(
    "content", [b"", b"hello", b"<html>404</html>", b"\x00" * 64, b"PK\x03\x04cut short"]
)
def test_a_foreign_file_is_named(tmp_path, suffix, content):
    """Whatever the reader raises, the message is about this file."""
    path = tmp_path / f"v1{suffix}"
    path.write_bytes(content)
    assert "weights_only" not in refuse(path), "torch's advice to run what is inside must not be passed on"


@pytest.mark.parametrize("part", [0.2, 0.5, 0.9, 0.999])
@pytest.mark.parametrize("zipped", [True, False])
def test_a_truncated_torch_file_is_named(tmp_path, part, zipped):
    """A download that was cut short."""
    path = tmp_path / "v1.pt"
    torch.save({"w": torch.zeros(1000)}, path, _use_new_zipfile_serialization=zipped)
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * part)])
    assert "cut short" in refuse(path)


def test_a_truncated_safetensors_file_is_named(tmp_path):
    """The header says more than the file holds."""
    safetensors = pytest.importorskip("safetensors.torch")
    path = tmp_path / "v1.safetensors"
    path.write_bytes(safetensors.save(STATE)[:-3])
    assert "no whole safetensors file" in refuse(path)


def test_a_torchscript_archive_is_refused(tmp_path):
    """It is a program, not weights."""
    path = tmp_path / "v1.pt"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("m/data.pkl", b"")
        archive.writestr("m/constants.pkl", b"")
    assert "TorchScript" in refuse(path)


def test_another_zip_file_is_refused(tmp_path):
    """An archive that torch.save did not write."""
    path = tmp_path / "v1.pth"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("weights.txt", "1")
    assert "got a zip file that it did not write" in refuse(path)


def test_a_git_lfs_pointer_says_how_to_get_the_file(tmp_path):
    """The most common accident in a fresh clone."""
    path = tmp_path / "v1.safetensors"
    path.write_bytes(b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n")
    assert "git lfs pull" in refuse(path)


def test_a_missing_file_and_an_unknown_suffix_are_named(tmp_path):
    """Both before any framework is asked."""
    assert "No such file" in refuse(tmp_path / "gone.pt")
    assert "got '.h5'" in refuse(tmp_path / "v1.h5")


@pytest.mark.parametrize("key", ["model", "ema.module", "a.b", "ema.deep.er"])
def test_key_finds_a_nested_state_dict(tmp_path, key):
    """Dots separate levels, and may be part of a key."""
    path = tmp_path / "v1.pt"
    content = {"model": STATE, "ema": {"module": STATE, "deep.er": STATE}, "a.b": STATE, "epoch": 3}
    torch.save(content, path)
    assert sorted(read(path, key)) == sorted(STATE)


def test_a_missing_key_lists_the_keys_and_the_nearest(tmp_path):
    """Keys of the level at which it went wrong."""
    path = tmp_path / "v1.pt"
    torch.save({"ema": {"model": STATE}, "epoch": 3}, path)
    assert "(did you mean ema?); there are 'ema', 'epoch'" in refuse(path, "emma")
    assert "no 'modle' at 'ema' (did you mean model?)" in refuse(path, "ema.modle")
    assert "'epoch' is no mapping but int" in refuse(path, "epoch.model")


def test_a_training_checkpoint_without_key_proposes_one(tmp_path):
    """The user copies the line from the message."""
    path = tmp_path / "v1.pt"
    torch.save({"state_dict": STATE, "ema": {"model": STATE}, "epoch": 3}, path)
    message = refuse(path)
    assert f"{{path: {path}, key: state_dict}}" in message
    assert "key: ema.model" in message
    assert "'epoch'" in message


def test_what_is_no_state_dict_is_described(tmp_path):
    """A tensor, an empty mapping and mixed values are each said."""
    path = tmp_path / "v1.pt"
    for content, said in (
        (torch.ones(2), "got Tensor"),
        ({}, "empty mapping"),
        ({"w": torch.ones(2), "epoch": 3}, "other values at 'epoch'"),
        ([1], "got list"),
    ):
        torch.save(content, path)
        assert said in refuse(path)


def test_extra_state_of_modules_is_part_of_a_state_dict(tmp_path):
    """torch's own non-tensor entries do not make it a training checkpoint."""
    path = tmp_path / "v1.pt"
    torch.save({**STATE, "fc._extra_state": {"version": 1}}, path)
    assert "fc._extra_state" in read(path)


def test_tensors_arrive_on_the_cpu(tmp_path):
    """A checkpoint saved on a GPU is read on a machine without one."""
    buffer = io.BytesIO()
    torch.save(STATE, buffer)
    path = tmp_path / "v1.pt"
    path.write_bytes(buffer.getvalue())
    assert {value.device.type for value in read(path).values()} == {"cpu"}


@pytest.mark.parametrize("kind", ["gone.pt", "v1.h5", "empty.pt", "cut.pt", "zip.pth", "list.pt", "none.pt"])
def test_every_refusal_ends_in_what_to_do(tmp_path, kind):
    """What is wrong with the file is half of a message; the other half is the way out."""
    path = tmp_path / kind
    if kind.startswith(("empty", "cut")):
        path.write_bytes(b"PK\x03\x04"[: 0 if kind.startswith("empty") else 4])
    elif kind.startswith("zip"):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("weights.txt", "1")
    elif not kind.startswith(("gone", "v1")):
        torch.save([1] if kind.startswith("list") else {}, path)
    ways = ("model.state_dict()", "mend the path in the suite file")
    assert refuse(path).rpartition("; ")[2].endswith("once more") or any(
        way in refuse(path).rpartition("; ")[2] for way in ways
    )
