"""Interpreters that are named: found, asked, and refused for what they are."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pytest_modelreg.domain.errors import EnvironmentUnavailable
from pytest_modelreg.engine.environments.interpreter import (
    ask_interpreter,
    find_interpreter,
    require_numpy,
)

from .conftest import has_ended

RUN = '#!/bin/sh\nexec {python} "$@"\n'
SAYS = '#!/bin/sh\necho \'pytest-modelreg:{{"version": "%s", "executable": "", "prefix": "", "abi": ""}}\'\n'


def refuse_name(python: str) -> str:
    """Return what is said of an interpreter that is not found."""
    with pytest.raises(EnvironmentUnavailable) as caught:
        find_interpreter(python)
    return str(caught.value)


def refuse_answer(path: str, **options: float) -> str:
    """Return what is said of an interpreter that does not answer as one."""
    with pytest.raises(EnvironmentUnavailable) as caught:
        ask_interpreter(path, **options)
    return str(caught.value)


@pytest.fixture
def bare_python(tmp_path: Path) -> str:
    """An interpreter in whose environment nothing is installed."""
    folder = tmp_path / "bare"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    return str(folder / "bin" / "python")


def test_a_name_is_looked_for_on_path(make_script, monkeypatch) -> None:
    """As a shell finds it."""
    path = make_script(RUN)
    monkeypatch.setenv("PATH", os.path.dirname(path))
    assert find_interpreter("python9") == path


def test_a_path_keeps_its_links(tmp_path) -> None:
    """By its link alone an interpreter knows its virtual environment."""
    link = tmp_path / "python"
    link.symlink_to(sys.executable)
    assert find_interpreter(str(link)) == str(link)


def test_an_unknown_name_brings_the_nearest(make_script, monkeypatch) -> None:
    """Among what is on PATH."""
    monkeypatch.setenv("PATH", os.path.dirname(make_script(RUN)))
    assert refuse_name("pythn9") == (
        "python: expected an absolute path or a name on PATH, got pythn9, which is not on PATH "
        "(did you mean python9?)"
    )


def test_a_path_that_does_not_exist_is_refused(tmp_path) -> None:
    """It names the path."""
    assert refuse_name(str(tmp_path / "no")).endswith(f"got {tmp_path}/no, which does not exist")


def test_the_folder_of_an_environment_brings_its_interpreter(bare_python) -> None:
    """The folder is what people call the environment."""
    folder = Path(bare_python).parents[1]
    assert refuse_name(str(folder)).endswith(f"got the folder {folder} (did you mean {bare_python}?)")
    assert "did you mean" not in refuse_name(str(folder.parent))


def test_a_file_that_cannot_be_started_is_refused(make_script) -> None:
    """It says how one makes it one."""
    assert "`chmod +x` makes it one" in refuse_name(make_script(RUN, mode=0o644))


def test_an_interpreter_says_what_it_is() -> None:
    """This one is known, and has numpy and packages."""
    found = ask_interpreter(sys.executable, topics=("numpy", "packages"))
    assert found.path == sys.executable
    assert found.version == ".".join(map(str, sys.version_info[:3]))
    assert found.is_this_one
    assert found.numpy is not None
    assert any(name.lower().startswith("pytest==") for name in found.packages)
    require_numpy(found, "python", "no advice")


def test_what_is_not_asked_is_not_answered() -> None:
    """Importing numpy takes longer than all the rest."""
    found = ask_interpreter(sys.executable)
    assert (found.numpy, found.packages) == (None, ())


def test_the_same_interpreter_in_another_environment_is_another_one(bare_python) -> None:
    """Both lead to the same file."""
    assert not ask_interpreter(bare_python).is_this_one


def test_an_interpreter_without_numpy_is_refused(bare_python) -> None:
    """Observations are written by it."""
    found = ask_interpreter(bare_python, topics=("numpy",))
    with pytest.raises(EnvironmentUnavailable) as caught:
        require_numpy(found, "python", "install it")
    assert str(caught.value) == (
        "python: expected an environment with numpy, which writes the observation, got none in "
        f"{bare_python} (No module named 'numpy'); install it"
    )


def test_a_numpy_that_breaks_the_interpreter_is_shown(bare_python, tmp_path) -> None:
    """The crash is numpy's, not that of something which is no Python."""
    (tmp_path / "numpy.py").write_text("raise SystemExit('numpy is built for another CPU')")
    with pytest.raises(EnvironmentUnavailable) as caught:
        ask_interpreter(bare_python, topics=("numpy",), variables={"PYTHONPATH": str(tmp_path)})
    message = str(caught.value)
    assert (
        "says what it is, and then ended with exit code 1; it printed last:\n  numpy is built for" in message
    )
    assert "numpy is built for another CPU" in str(caught.value)


def test_variables_of_the_environment_reach_it_and_ours_do_not(bare_python, tmp_path, monkeypatch) -> None:
    """PYTHONPATH of this process would lend it our packages."""
    (tmp_path / "numpy.py").write_text("__version__ = '9.9'")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert ask_interpreter(bare_python, topics=("numpy",)).numpy is None
    variables = {"PYTHONPATH": str(tmp_path)}
    assert ask_interpreter(bare_python, topics=("numpy",), variables=variables).numpy == "9.9"


def test_a_module_in_the_working_directory_is_not_imported(tmp_path, monkeypatch) -> None:
    """A project may have a json.py."""
    (tmp_path / "json.py").write_text("raise SystemExit('not this one')")
    monkeypatch.chdir(tmp_path)
    assert ask_interpreter(sys.executable).is_this_one


def test_what_it_prints_at_start_up_does_no_harm(make_script) -> None:
    """A wrapper, or a sitecustomize, that greets without ending its line, and says good-bye."""
    path = make_script('#!/bin/sh\nprintf hello\n{python} "$@"\necho bye\necho error >&2\n')
    assert ask_interpreter(path).version.startswith("3.")


def test_what_is_no_python_is_named_as_such(make_script) -> None:
    """With what it printed."""
    message = refuse_answer(make_script("#!/bin/sh\necho usage: me\nexit 3\n"))
    assert message.startswith("python: expected a Python interpreter, got /")
    assert message.endswith("which answers nothing: ended with exit code 3; it printed last:\n  usage: me")


def test_a_file_of_no_known_format_is_refused(make_script) -> None:
    """The system starts no such file."""
    assert "which cannot be started: Exec format error" in refuse_answer(make_script("print(1)\n"))


def test_one_that_crashes_is_named_with_its_signal(make_script) -> None:
    """A segmentation fault at start-up."""
    message = refuse_answer(make_script("#!/bin/sh\necho starting\nkill -SEGV $$\n"))
    assert "expected an interpreter that starts" in message
    assert "was killed by SIGSEGV; it printed last:\n  starting" in message


def test_one_that_hangs_is_ended_with_what_it_started(make_script, tmp_path) -> None:
    """Within its time limit, not within that of its child."""
    path = make_script(f"#!/bin/sh\nsleep 60 & echo $! > {tmp_path}/pid\nwait\n")
    started = time.monotonic()
    message = refuse_answer(path, limit_s=0.5)
    assert time.monotonic() - started < 20
    assert f"expected an answer of {path} within 0.5 s, got none; it was ended" in message
    assert has_ended(int((tmp_path / "pid").read_text()))


def test_an_old_python_is_refused_and_the_oldest_allowed_is_not(make_script) -> None:
    """3.10 can observe, 3.9 cannot."""
    old = make_script(SAYS % "3.9.18", name="old")
    assert refuse_answer(old).endswith(f"expected Python 3.10 or newer, got {old}, which is 3.9.18")
    assert ask_interpreter(make_script(SAYS % "3.10.0", name="new")).short_version == "3.10"
