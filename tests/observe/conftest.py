"""What tests of observing share: a folder with modules, samples and a case made of them."""

from __future__ import annotations

import hashlib
import itertools
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_modelreg.domain.case import CaseSpec
from pytest_modelreg.domain.observation import Observation
from pytest_modelreg.domain.sample import Sample, SampleSet
from pytest_modelreg.observe import observe_case
from pytest_modelreg.store import open_output


class CaseFolder:
    """A suite's folder: modules to write, samples to add, a case to observe."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.samples_folder = root / "samples"
        self.samples_folder.mkdir(parents=True)
        self._samples: list[Sample] = []
        self._runs = itertools.count()

    def write(self, name: str, text: str) -> Path:
        """Write a file of the suite."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        return path

    def add_sample(self, name: str, content: bytes) -> Path:
        """Add a pinned file; its id is its stem."""
        path = self.samples_folder / name
        path.write_bytes(content)
        digest = hashlib.sha256(content).hexdigest()
        self._samples.append(Sample(id=path.stem, file=name, sha256=digest))
        return path

    def add_arrays(self, *arrays: Any) -> None:
        """Add ``.npy`` samples a, b, c, ..."""
        for letter, array in zip("abcdefgh", arrays, strict=False):
            path = self.samples_folder / f"{letter}.npy"
            np.save(path, np.asarray(array))
            self.add_sample(path.name, path.read_bytes())

    def spec(self, **changes: Any) -> CaseSpec:
        """Return the case, with fields replaced."""
        fields: dict[str, Any] = {
            "suite": "toy",
            "root": str(self.root),
            "python_path": (str(self.root),),
            "samples": SampleSet(folder=str(self.samples_folder), samples=tuple(self._samples)),
            "loader": "array",
            "model": "model:build",
            "batch_size": 2,
        }
        return CaseSpec(**{**fields, **changes})

    def observe(self, progress: Any = None, **changes: Any) -> Observation:
        """Observe the case into a fresh folder, :attr:`folder`."""
        self.folder = self.root / f"observation-{next(self._runs)}"
        return observe_case(self.spec(**changes), self.folder, progress=progress)

    def rows(self, observation: Observation, path: str) -> list[Any]:
        """Read back every row of an output of the last observation."""
        stored = open_output(self.folder, observation.outputs[path])
        return [np.array(stored.row(index)) for index in range(stored.n_rows)]


@pytest.fixture
def case_folder(tmp_path: Path) -> CaseFolder:
    """An empty suite folder."""
    return CaseFolder(tmp_path / "suite")


@pytest.fixture
def toy_case(case_folder: CaseFolder) -> CaseFolder:
    """A numpy model on five samples of three numbers: batches of 2, 2 and 1."""
    case_folder.write("model.py", "def build():\n    return lambda x: x * 2\n")
    case_folder.add_arrays(*np.arange(15, dtype=np.float32).reshape(5, 3))
    return case_folder


@pytest.fixture
def torch_case(case_folder: CaseFolder) -> CaseFolder:
    """A linear torch model on five samples of three numbers."""
    pytest.importorskip("torch")
    case_folder.write(
        "model.py",
        """
        import torch

        def build():
            return torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4))
        """,
    )
    case_folder.add_arrays(*np.arange(15, dtype=np.float32).reshape(5, 3))
    return case_folder
