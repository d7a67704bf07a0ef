"""Which packages a fingerprint needs loaded, and what becomes of one that cannot be."""

from __future__ import annotations

import sys

from pytest_modelreg.domain.environment import Fingerprint
from pytest_modelreg.fingerprint import is_installed, load_packages, packages_behind


def test_packages_that_counted_or_told_are_found():
    """What was neutral, unknown or never asked of needs no import."""
    fingerprint = Fingerprint(
        facts={
            "torch.num_threads": 2,
            "pillow.libjpeg_turbo": "3.1.4",
            "torchvision.version": "0.29.1",
            "onnx.version": "1.23.2",
            "opencv.version": None,
            "shop.version": "1",
        },
        neutral=("onnx.version",),
    )
    assert packages_behind(fingerprint) == ("PIL.Image", "torch", "torchvision")


def test_numpy_alone_needs_no_framework():
    """A suite without torch is compared without waiting for it."""
    assert packages_behind(Fingerprint(facts={"torch.version": "2.14.1", "torch.num_threads": None})) == ()


def test_what_cannot_be_imported_is_told(tmp_path, monkeypatch):
    """An absent package, and one whose library is broken; the others are loaded."""
    (tmp_path / "broken_package.py").write_text("raise OSError('libgone.so')")
    (tmp_path / "whole_package.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    failed = load_packages(["absent_package", "broken_package", "whole_package"])
    assert sorted(failed) == ["absent_package", "broken_package"]
    assert failed["broken_package"] == "OSError: libgone.so"
    assert "whole_package" in sys.modules


def test_is_installed_imports_nothing():
    """The question is cheap."""
    assert is_installed("torch")
    assert not is_installed("absent_package")
