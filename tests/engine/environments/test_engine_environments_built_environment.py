"""Environments that are built: once, whole, and found again."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_modelreg.domain.errors import EnvironmentUnavailable
from pytest_modelreg.engine.environments import built_environment
from pytest_modelreg.engine.environments.built_environment import (
    BuiltEnvironment,
    digest_environment,
    provide_environment,
)
from pytest_modelreg.engine.environments.interpreter import Interpreter, ask_interpreter
from pytest_modelreg.store import locked

from .conftest import has_ended

WANTED = ("numpy==9.9", "toylib==1.0")

BUILD = """
import sys
from pathlib import Path
from pytest_modelreg.engine.environments.built_environment import provide_environment
from pytest_modelreg.engine.environments.interpreter import ask_interpreter
provide_environment({wanted!r}, ask_interpreter(sys.executable), cache=Path({cache!r}), say=print)
"""


class Cache:
    """A cache folder, with what was said while something was built in it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.base = ask_interpreter(sys.executable)
        self.said: list[str] = []

    def provide(self, wanted: tuple[str, ...] = WANTED, base: Interpreter | None = None) -> BuiltEnvironment:
        """Return an environment."""
        return provide_environment(wanted, base or self.base, cache=self.path, say=self.said.append)

    def refuse(self, wanted: tuple[str, ...] = WANTED, base: Interpreter | None = None) -> str:
        """Return what is said of one that cannot be had."""
        with pytest.raises(EnvironmentUnavailable) as caught:
            self.provide(wanted, base)
        return str(caught.value)

    @property
    def folder(self) -> Path:
        """The folder of the environment that most of these tests want."""
        return self.path / "environments" / digest_environment(WANTED, self.base)

    @property
    def builds(self) -> list[Path]:
        """What is on disk, complete or not."""
        return sorted(path for path in self.folder.iterdir() if path.is_dir())

    def record(self) -> dict[str, Any]:
        """Return the record."""
        found: dict[str, Any] = json.loads((self.folder / "complete.json").read_text())
        return found


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    """An empty cache."""
    return Cache(tmp_path / "cache")


def count_builds(uv_log: Path) -> int:
    """Return how often the stand-in for uv made a virtual environment."""
    return sum(line.startswith("venv") for line in uv_log.read_text().splitlines())


def test_pip_installs_what_is_wanted_from_where_it_is_told(cache, wheels) -> None:
    """A real environment, without a network; the record says what is in it and when it was built."""
    built = cache.provide()
    answer = subprocess.run(
        [built.python, "-c", "import numpy, toylib; print(numpy.__version__, toylib.VALUE)"],
        capture_output=True,
        text=True,
    )
    assert answer.stdout == "9.9 1\n"
    assert built.numpy == "9.9"
    record = cache.record()
    assert record["requirements"] == list(WANTED)
    assert record["installer"] == "pip"
    assert record["python"]["version"] == cache.base.version
    assert record["built"].endswith("+00:00")
    assert {"numpy==9.9", "toylib==1.0"} < set(record["packages"])
    started, ended = cache.said
    version = cache.base.short_version
    assert started.startswith(
        f"building an environment with numpy==9.9, toylib==1.0 for Python {version} by pip"
    )
    assert started.endswith(f", once; it is kept in {cache.folder}")
    assert ended.startswith("built the environment with numpy==9.9, toylib==1.0 in ")


def test_a_package_that_pip_does_not_find_is_named_with_what_pip_says(cache, wheels) -> None:
    """And nothing stays of the attempt."""
    message = cache.refuse((*WANTED, "unknown-package"))
    assert message.startswith(
        "requirements: expected pip to install numpy==9.9, toylib==1.0, unknown-package for Python "
    )
    assert "check the names and versions" in message
    assert message.endswith("ERROR: No matching distribution found for unknown-package")
    (folder,) = (cache.path / "environments").iterdir()
    assert list(folder.iterdir()) == []


def test_uv_builds_where_it_is(cache, uv_log) -> None:
    """Of the interpreter that is asked for, into the folder of this environment."""
    built = cache.provide()
    make, install = uv_log.read_text().splitlines()
    build = str(Path(built.python).parents[1])
    assert make == f"venv --no-project --no-python-downloads --python {cache.base.path} {build}"
    assert install == f"pip install --python {built.python} -- numpy==9.9 toylib==1.0"
    assert Path(build).parent == cache.folder
    assert cache.record()["installer"] == "uv"
    assert "by uv, once" in cache.said[0]


def test_an_environment_is_found_again_without_starting_anything(cache, uv_log, monkeypatch) -> None:
    """Each session would pay for it."""
    built = cache.provide()
    cache.said.clear()
    monkeypatch.setattr(built_environment, "run_to_end", None)
    monkeypatch.setattr(built_environment, "ask_interpreter", None)
    assert cache.provide() == built
    assert cache.said == []


def test_other_requirements_or_another_python_are_another_environment(cache) -> None:
    """And the place of the interpreter is no matter."""
    names = {
        digest_environment(WANTED, cache.base),
        digest_environment(WANTED[:1], cache.base),
        digest_environment(WANTED, replace(cache.base, version="3.10.1")),
        digest_environment(WANTED, replace(cache.base, abi="pypy310-pp73 linux-x86_64")),
    }
    assert len(names) == 4
    assert digest_environment(WANTED, replace(cache.base, path="/elsewhere")) in names


def test_an_environment_without_numpy_says_so_each_time(cache, uv_log) -> None:
    """It is complete as it was asked for: building it again would bring none."""
    for _ in range(2):
        built = cache.provide(("toylib==1.0",))
        assert (built.numpy, built.numpy_fault) == (None, "No module named 'numpy'")
    assert count_builds(uv_log) == 1


def test_a_failed_build_leaves_nothing_and_is_tried_again(cache, uv_log) -> None:
    """What was missing may be there the next time."""
    wanted = ("unknown",)
    for n_builds in (1, 2):
        assert "it ended with exit code 1; it printed last:\n  no such package: unknown" in cache.refuse(
            wanted
        )
        assert count_builds(uv_log) == n_builds
    (folder,) = (cache.path / "environments").iterdir()
    assert list(folder.iterdir()) == []


def test_an_interrupted_build_leaves_nothing(cache, uv_log, monkeypatch) -> None:
    """Ctrl-C while packages are installed."""

    def interrupt(*args: object, **kwargs: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(built_environment, "ask_interpreter", interrupt)
    with pytest.raises(KeyboardInterrupt):
        cache.provide()
    assert list(cache.folder.iterdir()) == []


def test_a_killed_build_counts_for_nothing(cache, uv_log, monkeypatch) -> None:
    """Its installer ends with it; the next session sweeps what it left, and builds."""
    monkeypatch.setenv("UV_SLOW", "60")
    text = BUILD.format(wanted=WANTED, cache=str(cache.path))
    process = subprocess.Popen(
        [sys.executable, "-c", text], start_new_session=True, stdout=subprocess.DEVNULL
    )
    while "pip install" not in uv_log.read_text():
        assert process.poll() is None
        time.sleep(0.02)
    process.kill()
    process.wait()
    assert has_ended(int(uv_log.with_name("uv.log.pid").read_text()))
    left = cache.builds
    monkeypatch.setenv("UV_SLOW", "0")
    built = cache.provide()
    assert not {*left} & {*cache.builds}
    assert [Path(built.python).parents[1]] == cache.builds
    assert built.numpy == "9.9"


def test_two_processes_build_once(cache, uv_log, monkeypatch) -> None:
    """The second one waits for the first, and says so."""
    monkeypatch.setenv("UV_SLOW", "1")
    text = BUILD.format(wanted=WANTED, cache=str(cache.path))
    processes = [
        subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE, text=True) for _ in range(2)
    ]
    outputs = [process.communicate(timeout=120)[0] for process in processes]
    assert [process.returncode for process in processes] == [0, 0]
    assert count_builds(uv_log) == 1
    waited = [output for output in outputs if "building an environment" not in output]
    assert waited == [f"waiting for another process that builds the environment {cache.folder}\n"]


def test_an_installer_that_never_ends_is_ended(cache, uv_log, monkeypatch) -> None:
    """It may wait for a server; nothing stays of the attempt."""
    monkeypatch.setenv("UV_SLOW", "60")
    monkeypatch.setattr(built_environment, "BUILD_LIMIT_S", 5)
    assert cache.refuse().endswith("it did not end in time; it printed nothing")
    assert list(cache.folder.iterdir()) == []


def test_a_build_that_never_ends_is_not_waited_for_for_ever(cache, uv_log, monkeypatch) -> None:
    """It says what to end."""
    cache.folder.mkdir(parents=True)
    monkeypatch.setattr(built_environment, "WAIT_LIMIT_S", 0.2)
    with locked(cache.folder):
        assert cache.refuse().startswith(
            f"requirements: another process has been building {cache.folder} for 0 s; wait until it ends"
        )
    assert cache.provide().numpy == "9.9"


def test_it_is_built_again_when_its_interpreter_is_gone(cache, uv_log) -> None:
    """A system update took away what it was made of."""
    python = Path(cache.provide().python)
    python.unlink()
    python.symlink_to("/nowhere/python")
    assert cache.provide().numpy == "9.9"
    assert count_builds(uv_log) == 2
    assert len(cache.builds) == 1


def test_it_is_built_again_when_its_interpreter_is_another_one(cache, uv_log, tmp_path) -> None:
    """The link that it starts by leads to another version now, for which nothing is installed."""
    python = Path(cache.provide().python)
    other = tmp_path / "python3.99"
    other.write_bytes(b"")
    python.unlink()
    python.symlink_to(other)
    cache.provide()
    assert count_builds(uv_log) == 2


@pytest.mark.parametrize("text", ["", "[]", '{"build": 3}'])
def test_a_record_that_cannot_be_read_counts_for_none(cache, uv_log, text) -> None:
    """A disk that was full."""
    cache.provide()
    (cache.folder / "complete.json").write_text(text)
    assert cache.provide().numpy == "9.9"
    assert count_builds(uv_log) == 2


def test_a_cache_that_cannot_be_written_names_the_variable(cache, uv_log) -> None:
    """A file is in its place."""
    cache.path.touch()
    message = cache.refuse()
    assert message.startswith(f"expected a folder to keep environments in, got {cache.path}/environments/")
    assert message.endswith("set MODELREG_CACHE to one that can be written")
    assert count_builds(uv_log) == 0


def test_an_interpreter_that_makes_no_environment_says_what_to_install(cache, make_script, wheels) -> None:
    """Debian keeps venv in a package of its own."""
    broken = replace(cache.base, path=make_script("#!/bin/sh\necho ensurepip is not available\nexit 1\n"))
    message = cache.refuse(base=broken)
    assert f"expected pip to make a virtual environment of {broken.path}" in message
    assert "(python3-venv), or put uv on PATH" in message
    assert message.endswith("  ensurepip is not available")
