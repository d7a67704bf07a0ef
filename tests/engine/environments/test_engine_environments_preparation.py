"""Environments of a session: parts put together, faults that begin with the case."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from pytest_modelreg.domain.case import EnvironmentSpec
from pytest_modelreg.domain.errors import EnvironmentUnavailable
from pytest_modelreg.engine.environments import Environments, ReadyEnvironment

from ..change.conftest import Checkout

SHORT = ".".join(map(str, sys.version_info[:2]))


class Toy:
    """A repository with a suite's folder, and the environments of a session on it."""

    def __init__(self, path: Path) -> None:
        self.checkout = Checkout(path / "toy")
        self.root = self.checkout.path
        self.root.mkdir()
        self.said: list[str] = []
        self.cache = path / "cache"
        self.environments = Environments(say=self.said.append, cache=self.cache)

    def prepare(self, **parts: Any) -> ReadyEnvironment:
        """Make an environment of these parts ready."""
        return self.environments.prepare(
            EnvironmentSpec(**parts), case="toy[there]", root=self.root, python_path=[str(self.root)]
        )

    def refuse(self, **parts: Any) -> str:
        """Return what is said of one that cannot be had, without the case."""
        with pytest.raises(EnvironmentUnavailable) as caught:
            self.prepare(**parts)
        assert str(caught.value).startswith("toy[there]: environment: ")
        return str(caught.value).removeprefix("toy[there]: environment: ")


@pytest.fixture
def toy(tmp_path: Path) -> Toy:
    """A suite's folder in a repository with one commit, tagged ``v1``."""
    made = Toy(tmp_path)
    made.checkout.git("init", "--quiet", "--initial-branch=main")
    made.checkout.write("model.py", "VALUE = 1\n")
    made.checkout.commit(tag="v1")
    return made


def test_variables_alone_keep_this_interpreter(toy) -> None:
    """Nothing is started, built or checked out."""
    ready = toy.prepare(variables={"ATEN_CPU_CAPABILITY": "avx2", "OMP_NUM_THREADS": None})
    assert ready == ReadyEnvironment(
        python=sys.executable,
        variables={"ATEN_CPU_CAPABILITY": "avx2", "OMP_NUM_THREADS": None},
        is_this_interpreter=True,
        python_path=(str(toy.root),),
        description="ATEN_CPU_CAPABILITY=avx2, OMP_NUM_THREADS unset",
    )
    assert "OMP_NUM_THREADS" in os.environ  # those of this process stay


def test_odd_values_keep_messages_to_a_line(toy) -> None:
    """However long they are, and whatever is in them; the process gets them as they are."""
    odd = {"A": "x" * 100_000, "B": "two\nlines", "C": "a b=ü", "D": ""}
    ready = toy.prepare(variables=odd)
    assert ready.variables == odd
    assert ready.description == f"A={'x' * 60}..., B='two\\nlines', C=a b=ü, D="


def test_this_interpreter_is_known_by_its_path(toy) -> None:
    """Its PYTHONPATH holds for it then."""
    ready = toy.prepare(python=sys.executable)
    assert (ready.python, ready.is_this_interpreter) == (sys.executable, True)


def test_another_interpreter_is_started_by_what_was_named(toy, make_script) -> None:
    """Not by the file that it holds for its own: a wrapper sets what that one needs."""
    facts = (
        '"version": "3.12.1", "executable": "/opt/python", "prefix": "/opt", "abi": "cp312", "numpy": "2.1"'
    )
    wrapper = make_script(f"#!/bin/sh\necho 'pytest-modelreg:{{{{{facts}}}}}'\n")
    ready = toy.prepare(python=wrapper)
    assert (ready.python, ready.is_this_interpreter, ready.description) == (wrapper, False, wrapper)


def test_another_interpreter_without_numpy_is_refused(toy, make_script) -> None:
    """It says how it gets one."""
    facts = '"version": "3.12.1", "executable": "", "prefix": "", "abi": "", "numpy_fault": "no numpy here"'
    wrapper = make_script(f"#!/bin/sh\necho 'pytest-modelreg:{{{{{facts}}}}}'\n")
    assert toy.refuse(python=wrapper) == (
        f"python: expected an environment with numpy, which writes the observation, got none in {wrapper} "
        f"(no numpy here); `{wrapper} -m pip install numpy` installs it"
    )


def test_requirements_are_built_and_everything_combines(toy, uv_log, make_script) -> None:
    """Of the interpreter that is named, with another revision's code and other variables."""
    python = make_script('#!/bin/sh\nexec {python} "$@"\n')
    ready = toy.prepare(
        python=python,
        requirements=("numpy==9.9", " Toylib==1.0"),
        variables={"A": "b"},
        revision="v1",
    )
    commit = toy.checkout.git("rev-parse", "--short=7", "v1")
    assert ready.description == f"numpy==9.9, Toylib==1.0 (Python {SHORT}), revision v1 ({commit}), A=b"
    assert Path(ready.python).is_relative_to(toy.cache)
    assert not ready.is_this_interpreter
    (folder,) = ready.python_path
    assert Path(folder, "model.py").read_text() == "VALUE = 1\n"
    assert f"--python {python} " in uv_log.read_text()
    toy.environments.close()
    assert not Path(folder).exists()
    assert Path(ready.python).exists()


def test_a_session_cleans_up_behind_a_with_block(toy) -> None:
    """Also when the block is left by an error."""
    folders: list[str] = []

    def use() -> None:
        with toy.environments:
            folders.extend(toy.prepare(revision="v1").python_path)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        use()
    (folder,) = folders
    assert not Path(folder).exists()


def test_what_cannot_be_built_is_tried_once_a_session(toy, uv_log) -> None:
    """Ten cases that need it do not wait ten times; each is told."""
    first = toy.refuse(requirements=("unknown",))
    assert first.startswith("requirements: expected uv to install unknown for Python ")
    assert toy.refuse(requirements=(" Unknown ",)) == first
    assert sum(line.startswith("venv") for line in uv_log.read_text().splitlines()) == 1


def test_packages_without_numpy_are_refused_and_say_what_to_add(toy, uv_log) -> None:
    """It is never added behind the suite's back."""
    assert toy.refuse(requirements=("toylib==1.0",)) == (
        "requirements: expected packages that bring numpy, which writes the observation, got none from "
        "toylib==1.0 (No module named 'numpy'); add numpy to them"
    )
    assert uv_log.read_text().endswith(" -- toylib==1.0\n")


def test_faults_of_every_part_begin_with_the_case(toy, monkeypatch) -> None:
    """Each names its key."""
    assert toy.refuse(python="/nowhere/python").startswith("python: expected ")
    assert toy.refuse(requirements=("-e .",)).startswith("requirements: expected ")
    assert toy.refuse(revision="v2").startswith("revision v2: expected ")
    monkeypatch.setattr(sys, "executable", "")
    assert toy.refuse(variables={"A": "b"}).endswith("name one under python")


@pytest.mark.parametrize("variables", [{"": "x"}, {"A=B": "x"}, {"A\0": "x"}, {"A": "x\0"}, {"A": 1}])
def test_variables_with_which_nothing_can_be_started_are_refused(toy, variables) -> None:
    """The operating system would refuse them, without saying which."""
    assert toy.refuse(variables=variables).startswith("variables: ")


def test_the_cache_is_where_the_variable_says(toy, uv_log, monkeypatch, tmp_path) -> None:
    """When the session was told no other place."""
    monkeypatch.setenv("MODELREG_CACHE", str(tmp_path / "mine"))
    toy.environments = Environments(say=toy.said.append)
    ready = toy.prepare(requirements=("numpy==9.9",))
    assert Path(ready.python).is_relative_to(tmp_path / "mine" / "environments")
    monkeypatch.setenv("MODELREG_CACHE", "mine")
    assert toy.refuse(requirements=("numpy==9.8",)).startswith("MODELREG_CACHE: expected the absolute path")
