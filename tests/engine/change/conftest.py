"""What tests of changes share: a git repository with a suite, whose first commit is tagged ``base``."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_modelreg.engine.change import select_changed
from pytest_modelreg.engine.suite import Suite
from pytest_modelreg.engine.suite_loading import load_suite
from pytest_modelreg.store import pin

SUITE = """\
modelreg: 1
suite: toy
samples: {folder: samples, loader: json}
reference:
  model: shop.models:build
  preprocess: shop.data:prepare
"""

FILES = {
    "README.md": "A shop.\n",
    "modelreg.yaml": SUITE,
    "samples/cat.json": "[1]",
    "samples/dog.json": "[2]",
    "src/shop/__init__.py": "",
    "src/shop/colour.py": "BLUE = 2\n",
    "src/shop/data.py": "from . import colour\n\n\ndef prepare(sample):\n    return sample\n",
    "src/shop/models.py": "def build():\n    return None\n",
    "src/shop/web.py": "PORT = 80\n",
}


class Checkout:
    """A working tree of a git repository."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def git(self, *arguments: str) -> str:
        """Run git here."""
        answer = subprocess.run(
            ["git", "-c", "protocol.file.allow=always", *arguments],
            cwd=self.path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert answer.returncode == 0, answer.stderr
        return answer.stdout.strip()

    def write(self, name: str, text: str = "x = 1\n") -> Path:
        """Write a file, as text."""
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def commit(self, tag: str | None = None) -> None:
        """Commit everything, and give it a tag."""
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "-m", "change")
        if tag is not None:
            self.git("tag", "--force", tag)

    def write_base(self, files: dict[str, str]) -> None:
        """Write files that are there at the revision compared with."""
        for name, text in files.items():
            self.write(name, text)
        self.commit(tag="base")

    def load(self, name: str = "modelreg.yaml") -> Suite:
        """Return a suite."""
        return load_suite(self.path / name, rootdir=self.path)

    def reasons(self, *names: str, base: str = "base", root: Path | None = None) -> list[str]:
        """Return the reasons for which suites are chosen; by default the one suite."""
        suites = [self.load(name) for name in names or ("modelreg.yaml",)]
        found = select_changed(suites, base=base, root=root or self.path)
        assert [one.suite for one in found] == suites
        return [reason for one in found for reason in one.reasons]


@pytest.fixture(autouse=True)
def git_identity(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Git with a name and nothing of this machine's configuration or of a hook around the tests."""
    for name in list(os.environ):
        if name.startswith("GIT_"):
            monkeypatch.delenv(name)
    for name, value in {
        "GIT_AUTHOR_EMAIL": "somebody@example.org",
        "GIT_AUTHOR_NAME": "Somebody",
        "GIT_CEILING_DIRECTORIES": str(tmp_path.parent),
        "GIT_COMMITTER_EMAIL": "somebody@example.org",
        "GIT_COMMITTER_NAME": "Somebody",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
    }.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def make_shop(tmp_path: Path) -> Callable[..., Checkout]:
    """A function that makes a repository with the shop's suite, in a subfolder if asked to."""

    def make(name: str = "repository", below: str = "") -> Checkout:
        checkout = Checkout(tmp_path / name)
        checkout.path.mkdir()
        checkout.git("init", "--quiet", "--initial-branch=main")
        for file, text in FILES.items():
            checkout.write(os.path.join(below, file), text)
        pin(checkout.path / below / "samples")
        checkout.commit(tag="base")
        return checkout

    return make


@pytest.fixture
def shop(make_shop: Callable[..., Checkout]) -> Checkout:
    """A repository with the shop's suite."""
    return make_shop()
