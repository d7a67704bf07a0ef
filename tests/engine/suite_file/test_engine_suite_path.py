"""What a suite names on disk is there before anything runs, and nothing is imported for it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from pydantic import ValidationError

from pytest_modelreg.domain.case import CheckpointRef
from pytest_modelreg.engine.suite_file.model import OutputBlock


def checkpoint_of(suites, text: str) -> CheckpointRef | None:
    """Return the checkpoint of the five-line suite with this one."""
    return suites.extend(f"  checkpoint: {text}\n").cases[0].template.checkpoint


def fault_of(suites, text: str) -> str:
    """Return the only fault of the five-line suite with this checkpoint, without its line."""
    (fault,) = suites.faults_of_extension(f"  checkpoint: {text}\n")
    return fault.removeprefix("modelreg.yaml:6: ")


@pytest.fixture
def package(tmp_path, monkeypatch):
    """An importable package that ships weights and must not be imported."""
    folder = tmp_path / "site" / "shipped_weights"
    (folder / "data").mkdir(parents=True)
    (folder / "__init__.py").write_text("raise RuntimeError('imported')\n")
    (folder / "data" / "lite0.pth").touch()
    (tmp_path / "site" / "single_module.py").touch()
    monkeypatch.syspath_prepend(tmp_path / "site")
    return folder


@pytest.mark.parametrize("suffix", [".safetensors", ".pt", ".pth", ".PTH"])
def test_checkpoint_is_found_beside_the_suite(suites, suffix):
    """A relative path is the suite folder's, in every format that weights come in."""
    (suites.path / f"weights/w{suffix}").touch()
    assert checkpoint_of(suites, f"weights/w{suffix}") == CheckpointRef(
        path=str(suites.path / f"weights/w{suffix}")
    )


def test_checkpoint_with_key_is_a_training_checkpoint(suites):
    """The state dict may sit deeper in the file."""
    (suites.path / "weights/train.pt").touch()
    assert checkpoint_of(suites, "{path: weights/train.pt, key: model.ema}") == CheckpointRef(
        path=str(suites.path / "weights/train.pt"), key="model.ema"
    )


def test_absolute_checkpoint_is_taken_as_it_is(suites, tmp_path_factory):
    """Weights need not live beside the suite."""
    file = tmp_path_factory.mktemp("elsewhere") / "w.pt"
    file.touch()
    assert checkpoint_of(suites, f"'{file.as_posix()}'") == CheckpointRef(path=str(file))


def test_checkpoint_in_a_package_is_found_without_importing_it(suites, package):
    """Collecting suites must not run the code of a model's distribution."""
    found = checkpoint_of(suites, "{package: shipped_weights, path: data/lite0.pth, key: ema}")
    assert found == CheckpointRef(path=str(package / "data" / "lite0.pth"), key="ema")
    assert "shipped_weights" not in sys.modules


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (
            "weights/v9.safetensors",
            "reference.checkpoint: expected an existing file, "
            "got 'weights/v9.safetensors', which is not there",
        ),
        (
            "{path: weights/v9.pt, key: k}",
            "reference.checkpoint.path: expected an existing file, got 'weights/v9.pt', which is not there",
        ),
        (
            "labels.txt",
            "reference.checkpoint: expected a file of .safetensors .pt .pth, got 'labels.txt'",
        ),
        ("[a]", "reference.checkpoint: expected a path or {path: FILE, key: KEY, package: NAME}, got a list"),
        ("''", "reference.checkpoint: expected text, got ''"),
        (
            "{path: weights/v1.safetensors, kye: x}",
            "reference.checkpoint.kye: expected one of path, key, package, got 'kye' (did you mean key?)",
        ),
        (
            "{key: x}",
            "reference.checkpoint.path: expected this key, "
            "for example path: weights/v1.safetensors, got none",
        ),
        (
            "{package: no_such_package_here, path: w.pt}",
            "reference.checkpoint.package: expected an installed package, got 'no_such_package_here', "
            "which is not installed: install the package that provides it",
        ),
        (
            "{package: shipped_weights, path: data/lite1.pth}",
            "reference.checkpoint.path: expected an existing file, got 'data/lite1.pth', which is not there",
        ),
        (
            "{package: shipped_weights, path: ../single_module.py}",
            "reference.checkpoint.path: expected a path inside the package, got '../single_module.py'",
        ),
        (
            "{package: shipped_weights.data, path: lite0.pth}",
            "reference.checkpoint.package: expected the import name of a top-level package, "
            "got 'shipped_weights.data'",
        ),
        (
            "{package: single_module, path: w.pt}",
            "reference.checkpoint.package: expected a package with files, "
            "got 'single_module', a single module",
        ),
    ],
)
def test_unusable_checkpoint_says_why(suites, package, text, fault):
    """Absent, of another kind, or in a package that is not there."""
    assert fault_of(suites, text) == fault


def test_golden_is_recorded_from_one_checkpoint(suites):
    """A pattern is refused there, never taken for one file's name."""
    fault = fault_of(suites, "'weights/*.safetensors'")
    assert fault.startswith("reference.checkpoint: expected one existing file, got the pattern")
    assert "a variant's checkpoint may be a pattern" in fault


@pytest.mark.parametrize("name", ["x" * 5000, "a\\0b", "\\n"])
def test_impossible_path_is_a_fault(suites, name):
    """A name that no file system takes ends in a fault, not in an exception."""
    text = suites.suite.replace("folder: samples", f'folder: "{name}"') + f'python_path: ["{name}"]\n'
    assert len(suites.faults(text)) == 2


def test_labels_are_read_a_line_each(suites):
    """Class names may hold spaces and repeat; a last line break ends the last one."""
    (suites.path / "names.txt").write_bytes("\ufefftench, Tinca\r\ncrane\r\ncrane\n\n".encode())
    suite = suites.extend("outputs: {x: {kind: classification, labels: names.txt, top_k: 3}}\n")
    assert suite.cases[0].outputs["x"].labels == ("tench, Tinca", "crane", "crane")


@pytest.mark.parametrize(
    ("content", "got"),
    [
        (b"cat\n\ndog\n", "an empty line 2 in"),
        (b"", "an empty file in"),
        (b"caf\xe9", "'n.txt' with other bytes"),
    ],
)
def test_unusable_labels_say_why(suites, content, got):
    """A skipped line would shift the name of every class behind it."""
    (suites.path / "n.txt").write_bytes(content)
    (fault,) = suites.faults_of_extension("outputs: {x: {kind: classification, labels: n.txt}}\n")
    assert fault.startswith("modelreg.yaml:6: outputs.x.labels: expected ")
    assert got in fault


def test_unreadable_labels_are_a_fault(suites, monkeypatch):
    """A file without permission is named like an absent one."""

    def refuse(path: Path, mode: str) -> None:
        raise PermissionError(13, "Permission denied")

    context = {"root": suites.path}
    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(ValidationError) as caught:
        OutputBlock.model_validate({"kind": "classification", "labels": "labels.txt"}, context=context)
    (error,) = caught.value.errors()
    assert error["ctx"]["got"] == "'labels.txt': Permission denied"
