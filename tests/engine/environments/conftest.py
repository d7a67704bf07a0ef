"""What tests of environments share: no configuration of the user's, and all that an environment is made of.

Wheels made here, a stand-in for uv, scripts, a repository, and a session that uses a worktree of it.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pytest_modelreg.domain.errors import EnvironmentUnavailable
from pytest_modelreg.engine.environments.worktree import Worktrees

from ..change.conftest import Checkout, git_identity  # noqa: F401

INSTALLER_PREFIXES = ("PIP_", "UV_", "MODELREG_", "XDG_")

# Makes a virtual environment without pip, and installs what it is told by writing a module of that name.
UV = """\
#!{python}
import os, pathlib, re, subprocess, sys, time
words = [word for word in sys.argv[1:] if word not in ("--no-progress", "--color", "never")]
with open(os.environ["UV_LOG"], "a") as log:
    log.write(" ".join(words) + chr(10))
pathlib.Path(os.environ["UV_LOG"] + ".pid").write_text(str(os.getpid()))
python = words[words.index("--python") + 1]
if words[0] == "venv":
    sys.exit(subprocess.call([python, "-m", "venv", "--without-pip", words[-1]]))
time.sleep(float(os.environ.get("UV_SLOW", "0")))
site = next(pathlib.Path(python).parents[1].glob("lib/*/site-packages"))
for requirement in words[words.index("--") + 1 :]:
    name, _, version = requirement.partition("==")
    if name == "unknown" or version.endswith("404"):
        sys.exit("no such package: " + requirement)
    (site / (name + ".py")).write_text("__version__ = %r" % (version or "1"))
"""


@pytest.fixture(autouse=True)
def no_configuration(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nothing of this machine's installers, and a home of its own, where a cache would go by default."""
    for name in list(os.environ):
        if name.startswith(INSTALLER_PREFIXES):
            monkeypatch.delenv(name)
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)


@pytest.fixture
def make_script(tmp_path: Path) -> Callable[..., str]:
    """A function that writes a program and returns its path."""

    def make(text: str, name: str = "python9", mode: int = 0o755) -> str:
        path = tmp_path / "scripts" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text.format(python=sys.executable), encoding="utf-8")
        path.chmod(mode)
        return str(path)

    return make


@pytest.fixture
def uv_log(make_script: Callable[..., str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A stand-in for uv on PATH; returns the file in which it logs how it was called."""
    folder = os.path.dirname(make_script(UV, name="uv"))
    log = tmp_path / "uv.log"
    log.touch()
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("UV_LOG", str(log))
    return log


@pytest.fixture
def wheels(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder with wheels of two packages, a numpy of 9.9 among them, where alone pip looks."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    write_wheel(folder, "numpy", "9.9", "__version__ = '9.9'\n")
    write_wheel(folder, "toylib", "1.0", "VALUE = 1\n")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    return folder


def write_wheel(folder: Path, name: str, version: str, source: str) -> None:
    """Write a wheel with one module."""
    about = f"{name}-{version}.dist-info"
    files = {
        f"{name}.py": source,
        f"{about}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    files[f"{about}/RECORD"] = "".join(f"{file},,\n" for file in [*files, f"{about}/RECORD"])
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as archive:
        for file, text in files.items():
            archive.writestr(file, text)


def has_ended(pid: int) -> bool:
    """Wait a little for the end of a process that is not ours to wait for."""
    for _ in range(100):
        answer = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True)
        # In a container nobody may collect it: it has ended, and its number stays.
        if not answer.stdout.strip() or answer.stdout.startswith("Z"):
            return True
        time.sleep(0.05)
    return False


HOLD = """
import sys
from pathlib import Path
from pytest_modelreg.engine.environments.worktree import Worktrees
print(Worktrees(say=print).check_out(Path(sys.argv[1]), "base").top, flush=True)
sys.stdin.read()
"""


class Repository(Checkout):
    """A checkout whose worktrees go to a folder of its own."""

    def __init__(self, path: Path, temporary: Path) -> None:
        super().__init__(path)
        self.temporary = temporary
        self.said: list[str] = []
        self.worktrees = Worktrees(say=self.said.append)

    def lead(self, *folders: str, revision: str = "base") -> tuple[str, ...]:
        """Return where folders of the checkout lead to."""
        found = self.worktrees.check_out(self.path, revision)
        return found.lead(tuple(os.path.join(self.path, folder) for folder in folders))

    def refuse(self, revision: str, root: Path | None = None) -> str:
        """Return what is said of a revision that cannot be had."""
        with pytest.raises(EnvironmentUnavailable) as caught:
            self.worktrees.check_out(root or self.path, revision)
        return str(caught.value)

    def left(self) -> list[str]:
        """Return what git and the disk know of worktrees beside the checkout."""
        return self.git("worktree", "list").splitlines()[1:] + os.listdir(self.temporary)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Repository]:
    """A repository whose second commit, the one checked out, differs from ``base`` in src/model.py."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr(tempfile, "tempdir", None)
    made = Repository(tmp_path / "repository", temporary)
    made.path.mkdir()
    made.git("init", "--quiet", "--initial-branch=main")
    made.write("src/model.py", "VALUE = 1\n")
    made.write("tools/tool.py")
    made.commit(tag="base")
    made.write("src/model.py", "VALUE = 2\n")
    made.write("later/new.py")
    made.commit()
    yield made
    made.worktrees.close()


def hold(repository: Repository) -> tuple[subprocess.Popen[str], Path]:
    """Start a session that uses a worktree, and return it with the worktree."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(repository.path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def kill(process: subprocess.Popen[str]) -> None:
    """End a session so that it cannot clean up."""
    process.send_signal(signal.SIGKILL)
    process.communicate()
