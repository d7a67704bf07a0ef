"""What tests of runtimes share: opening a model as a case does."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_modelreg.runtimes import Artefacts, RunRequest, find_runtime


class Opener:
    """Opens models in runtimes and closes them after the test.

    Attributes
    ----------
    artefacts : Artefacts
        Shared by all that it opens.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.artefacts = Artefacts(folder / "artefacts")
        self._runners: list[Any] = []

    def __call__(self, kind: str, model: Any = None, *, options: Any = None, **fields: Any) -> Any:
        """Open a model; fields of the request may be given."""
        request = RunRequest(
            case="toy[variant]",
            options=options or {},
            **{"artefacts": self.artefacts, "root": self.folder, **fields},
        )
        runner = find_runtime(kind).open(model, request)
        self._runners.append(runner)
        return runner

    def list_files(self) -> list[str]:
        """Return the names of the exported files."""
        found = (self.folder / "artefacts").glob("*/model.*")
        return sorted(path.name for path in found if path.suffix in (".onnx", ".pt2"))

    def close(self) -> None:
        """Close every runner."""
        for runner in self._runners:
            runner.close()


@pytest.fixture
def open_runner(tmp_path: Path) -> Iterator[Opener]:
    """Open models; warnings of exporters are recorded, as observing does."""
    opener = Opener(tmp_path)
    with warnings.catch_warnings(record=True):
        yield opener
        opener.close()
