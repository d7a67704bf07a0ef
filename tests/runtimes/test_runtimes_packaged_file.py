"""A file that an installed package ships is found without importing the package."""

from __future__ import annotations

import sys

import pytest

from pytest_modelreg.runtimes import list_builtin_faults
from pytest_modelreg.runtimes.packaged_file import list_package_folders, place_file


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package that cannot be imported, with a file below it."""
    folder = tmp_path / "site/shipped_weights"
    (folder / "files").mkdir(parents=True)
    (folder / "__init__.py").write_text("raise RuntimeError('imported')")
    (folder / "files/model.onnx").write_bytes(b"")
    (tmp_path / "site/lonely.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    return folder


def fault_of(path, root):
    """Return what is wrong with a file's path, as the suite reader is told."""
    return dict(list_builtin_faults("onnx-file", {"path": path}, root)).get("path")


def test_file_of_a_package_is_found(package, tmp_path):
    """By package and path, and nothing of the package runs."""
    value = {"package": "shipped_weights", "path": "files/model.onnx"}
    assert fault_of(value, tmp_path) is None
    assert place_file(value, tmp_path) == package / "files/model.onnx"
    assert "shipped_weights" not in sys.modules


def test_plain_path_stays_relative_to_the_suite(tmp_path):
    """Just inside: as it always was."""
    assert place_file("dist/model.onnx", tmp_path) == tmp_path / "dist/model.onnx"


def test_single_module_has_no_folder_and_a_missing_package_none(package):
    """Two things to say, two messages."""
    assert list_package_folders("lonely") == ()
    assert list_package_folders("not_there_at_all") is None


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        ({"package": "not_there_at_all", "path": "x"}, "got 'not_there_at_all', which is not installed"),
        ({"package": "lonely", "path": "x"}, "got 'lonely', a single module"),
        ({"package": "a.b", "path": "x"}, "expected the import name of a top-level package, got 'a.b'"),
        ({"package": "shipped_weights", "path": "../x"}, "expected a path inside the package, got '../x'"),
        ({"package": "shipped_weights", "path": "/x"}, "expected a path inside the package, got '/x'"),
        ({"package": "shipped_weights"}, "expected a path or {package: NAME, path: FILE}"),
        ({"package": 3, "path": "x"}, "expected a path or {package: NAME, path: FILE}"),
        ({"package": "shipped_weights", "path": "files/modle.onnx"}, "(did you mean model.onnx?)"),
    ],
)
def test_what_cannot_be_found_says_why(package, tmp_path, value, fault):
    """Before anything is opened."""
    assert fault in fault_of(value, tmp_path)
