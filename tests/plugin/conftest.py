"""A test module whose values change between runs of one process."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

HEAD = """
import pathlib
import pytest
import numpy as np

HERE = pathlib.Path(__file__).parent


def embed(n=4):
    scale = np.float32((HERE / "scale.txt").read_text())
    return scale * np.arange(3 * n, dtype=np.float32).reshape(n, 3)


"""


@pytest.fixture(autouse=True, scope="session")
def loaded_framework() -> None:
    """Load torch before any test: one that pytester forgets after a test crashes when loaded again."""
    with suppress(ImportError):
        import torch  # noqa: F401


class Module:
    """A test module ``test_m.py`` whose ``embed()`` returns what ``scale.txt`` says."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self.pytester = pytester
        self.path = pytester.path
        self.scale(1.0)

    def scale(self, factor: float) -> None:
        """Change what ``embed()`` returns."""
        (self.path / "scale.txt").write_text(str(factor), encoding="utf-8")

    def write(self, body: str, name: str = "test_m.py") -> Path:
        """Write a test module."""
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(HEAD + body, encoding="utf-8")
        if not (path.parent / "scale.txt").exists():
            (path.parent / "scale.txt").write_text("1.0", encoding="utf-8")
        return path

    def run(self, *arguments: str) -> pytest.RunResult:
        """Run in this process; with workers, in processes of their own."""
        if "-n" in arguments:
            return self.pytester.runpytest_subprocess("--modelreg", *arguments)
        return self.pytester.runpytest_inprocess("--modelreg", *arguments)

    def record(self, *arguments: str) -> pytest.RunResult:
        """Record what is missing."""
        result = self.run("--modelreg-regen=missing", *arguments)
        assert result.ret == 0, result.stdout.str()
        return result

    def accept(self, *arguments: str) -> pytest.RunResult:
        """Record what changed."""
        return self.run("--modelreg-regen=changed", "--modelreg-reason=meant", *arguments)

    def verdicts(self, *arguments: str) -> dict[str, str]:
        """Run and return verdicts by what stands inside ``py[...]``."""
        target = self.path / "report.json"
        target.unlink(missing_ok=True)
        self.run(f"--modelreg-json={target}", *arguments)
        cases: list[dict[str, Any]] = json.loads(target.read_text(encoding="utf-8"))["cases"]
        return {case["variant"]: case["verdict"] for case in cases}

    def goldens(self) -> dict[str, bytes]:
        """Return every golden file with its bytes."""
        root = self.path / "golden"
        return {
            path.relative_to(root).as_posix(): path.read_bytes()
            for path in sorted(root.rglob("*"))
            if path.is_file()
        }

    def folders(self) -> list[str]:
        """Return the folders of all goldens, below ``golden/py``."""
        names = (Path(name) for name in self.goldens())
        return sorted(
            name.parent.relative_to("py").as_posix() for name in names if name.name == "golden.json"
        )


@pytest.fixture
def module(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Module:
    """An empty test module's surroundings."""
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p no:hypothesispytest")
    return Module(pytester)
