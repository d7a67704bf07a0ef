"""What tests of suite files share: a folder in which every file a suite names exists."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_modelreg.domain.errors import SuiteFileError
from pytest_modelreg.engine.suite import Suite
from pytest_modelreg.engine.suite_loading import load_suite

SUITE = """\
modelreg: 1
suite: toy
samples: {folder: samples, loader: json}
reference:
  model: toymodel:build
"""


class SuiteFolder:
    """A folder with a suite file, samples, weights and labels; the suite has five lines."""

    suite = SUITE

    def __init__(self, path: Path) -> None:
        self.path = path
        for folder in ("samples", "code", "weights"):
            (path / folder).mkdir()
        (path / "weights" / "v1.safetensors").touch()
        (path / "labels.txt").write_text("cat\ndog\n", encoding="utf-8")

    def write(self, text: str, name: str = "modelreg.yaml") -> Path:
        """Write a suite file."""
        file = self.path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def load(self, text: str) -> Suite:
        """Return the suite of this text."""
        return load_suite(self.write(text), rootdir=self.path)

    def extend(self, text: str) -> Suite:
        """Return the five-line suite with lines behind it."""
        return self.load(SUITE + text)

    def faults(self, text: str) -> list[str]:
        """Return the faults of this text, a line each."""
        with pytest.raises(SuiteFileError) as caught:
            self.load(text)
        lines = str(caught.value).split("\n")
        assert len(lines) == len(caught.value.faults), "a fault is one line"
        return lines

    def faults_of_extension(self, text: str) -> list[str]:
        """Return the faults of the five-line suite with lines behind it."""
        return self.faults(SUITE + text)


@pytest.fixture
def suites(tmp_path: Path) -> SuiteFolder:
    """A folder to write suite files into."""
    return SuiteFolder(tmp_path)
