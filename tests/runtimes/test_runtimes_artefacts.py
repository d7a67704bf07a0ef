"""What is made of a model is made once a session."""

from __future__ import annotations

import pytest

from pytest_modelreg.runtimes import Artefacts


def test_an_artefact_is_made_once_a_key(tmp_path):
    """And found by another that has the same folder."""
    made = []

    def build(path):
        made.append(path)
        path.write_text("graph")
        path.with_name("beside").write_text("weights")

    first = Artefacts(tmp_path / "a").make("key", "model.onnx", build)
    again = Artefacts(tmp_path / "a").make("key", "model.onnx", build)
    other = Artefacts(tmp_path / "a").make("other", "model.onnx", build)
    assert first == again != other
    assert len(made) == 2
    assert first.read_text() == "graph"
    assert first.with_name("beside").read_text() == "weights"


def test_a_failed_artefact_leaves_nothing(tmp_path):
    """The next case tries again."""

    def build(path):
        path.write_text("half")
        raise ValueError("no")

    artefacts = Artefacts(tmp_path / "a")
    for _ in range(2):
        with pytest.raises(ValueError, match="no"):
            artefacts.make("key", "model.onnx", build)
    assert list((tmp_path / "a").iterdir()) == []
