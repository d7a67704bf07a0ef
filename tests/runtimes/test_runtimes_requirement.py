"""What is missing is named with the version or the extra that brings it."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from pytest_modelreg.domain.errors import RuntimeUnavailable
from pytest_modelreg.runtimes import RunRequest, find_runtime
from pytest_modelreg.runtimes.requirement import read_version, require_package, require_torch


def module(version):
    """Return a module of a version."""
    made = ModuleType("torch")
    made.__version__ = version
    return made


@pytest.mark.parametrize(
    ("version", "read"),
    [("2.14.1+cpu", (2, 14)), ("1.13.0a0", (1, 13)), ("3", (0, 0))],
)
def test_versions_are_read_with_their_suffixes(version, read):
    """Builds of torch carry a local version, Debian's an alpha's."""
    assert read_version(module(version)) == read


@pytest.mark.parametrize(
    ("kind", "options", "needed"),
    [
        ("compile", {}, "2.0"),
        ("export", {}, "2.6"),
        ("onnx", {}, "2.6"),
    ],
)
def test_an_old_torch_is_told_what_is_needed(monkeypatch, kind, options, needed):
    """torch 1.13 has neither compile nor export."""
    old = module("1.13.0a0")
    old.get_num_threads = lambda: 1
    old.are_deterministic_algorithms_enabled = lambda: False
    if kind == "onnx":
        pytest.importorskip("onnxruntime")
    monkeypatch.setitem(sys.modules, "torch", old)
    with pytest.raises(RuntimeUnavailable, match=f"expected torch {needed} or later, got 1.13.0a0") as caught:
        find_runtime(kind).open(None, RunRequest(case="c", options=options))
    assert ("exporter: torchscript" in str(caught.value)) == (kind == "onnx")


def test_the_version_that_is_needed_is_enough(monkeypatch):
    """Just inside."""
    monkeypatch.setitem(sys.modules, "torch", module("2.6.0"))
    assert require_torch((2, 6), case="c", runtime="export").__version__ == "2.6.0"


@pytest.mark.parametrize("kind", ["onnx", "onnx-file"])
def test_a_missing_onnxruntime_names_the_extra(monkeypatch, tmp_path, kind):
    """As pip takes it."""
    (tmp_path / "m.onnx").write_bytes(b"")
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    options = {"path": "m.onnx"} if kind == "onnx-file" else {}
    with pytest.raises(RuntimeUnavailable, match=r"onnxruntime.*pip install 'pytest-modelreg\[onnx\]'"):
        find_runtime(kind).open(None, RunRequest(case="c", options=options, root=tmp_path))


@pytest.mark.parametrize("name", ["onnx", "onnxscript"])
def test_a_missing_exporter_package_names_the_extra(monkeypatch, name):
    """torch's exporter needs both."""
    pytest.importorskip("onnxruntime")
    torch = pytest.importorskip("torch")
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(RuntimeUnavailable, match=rf"expected {name} .*pytest-modelreg\[onnx\]"):
        find_runtime("onnx").open(torch.nn.Linear(1, 1), RunRequest(case="c"))


def test_a_package_that_misses_another_says_which(monkeypatch, tmp_path):
    """Installing the package itself anew would not help."""
    (tmp_path / "mr_broken.py").write_text("import mr_not_there")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(RuntimeUnavailable, match="importing mr_broken found no mr_not_there"):
        require_package("mr_broken", case="c", runtime="r", extra="onnx")
    (tmp_path / "mr_failing.py").write_text("raise ImportError('libx.so')")
    with pytest.raises(RuntimeUnavailable, match=r"mr_failing raised libx\.so"):
        require_package("mr_failing", case="c", runtime="r", extra="onnx")
