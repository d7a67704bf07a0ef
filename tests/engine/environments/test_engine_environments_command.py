"""Other programs: how they end, and that nothing of them lives on."""

from __future__ import annotations

import os
import signal
import time

import pytest

from pytest_modelreg.engine.environments.command import Ending, run_to_end
from pytest_modelreg.observe import worker_process
from pytest_modelreg.observe.worker_process import make_variables

from .conftest import has_ended


def test_a_program_ends_with_its_code_and_what_it_printed() -> None:
    """Errors between the rest, as they came."""
    ending = run_to_end(["sh", "-c", "echo a; echo b >&2; echo c; exit 4"], variables={}, limit_s=10)
    assert ending == Ending(code=4, output="a\nb\nc\n")


def test_what_it_leaves_running_is_ended_and_not_waited_for() -> None:
    """It holds the program's output open."""
    started = time.monotonic()
    assert run_to_end(["sh", "-c", "sleep 60 & echo done"], variables={}, limit_s=30).output == "done\n"
    assert time.monotonic() - started < 20


def test_a_program_whose_time_is_up_is_ended(monkeypatch) -> None:
    """Also one that does not listen."""
    monkeypatch.setattr(worker_process, "_ENDING_S", 0.3)
    ending = run_to_end(["sh", "-c", "trap '' TERM; echo on; sleep 60"], variables={}, limit_s=0.3)
    assert ending.code is None
    assert ending.description == "did not end in time; it printed last:\n  on"


def test_a_program_that_cannot_be_started_is_an_oserror() -> None:
    """What that means, the caller knows."""
    with pytest.raises(FileNotFoundError):
        run_to_end(["/nowhere/program"], variables={}, limit_s=1)


def test_of_a_long_output_the_end_is_shown() -> None:
    """Fifteen lines, none of them longer than a screen."""
    output = "".join(f"line {n}\n\n" for n in range(40)) + "x" * 1000
    lines = Ending(code=1, output=output).description.splitlines()
    assert lines[:2] == ["ended with exit code 1; it printed last:", "  line 26"]
    assert len(lines) == 16
    assert lines[-1] == f"  {'x' * 300}..."
    assert Ending(code=0, output="\n").description == "ended with exit code 0; it printed nothing"


def test_variables_are_changed_unset_and_kept_from_another_interpreter(monkeypatch) -> None:
    """Those that lead to this one's packages are this one's alone, unless asked for."""
    monkeypatch.setenv("PYTHONPATH", "/ours")
    monkeypatch.setenv("KEPT", "1")
    monkeypatch.setenv("GONE", "1")
    made = make_variables({"GONE": None, "NEW": "x", "NEVER": None})
    assert made["KEPT"] == "1"
    assert made["NEW"] == "x"
    assert not {"GONE", "NEVER", "PYTHONPATH"} & set(made)
    assert make_variables({"PYTHONPATH": "/theirs"})["PYTHONPATH"] == "/theirs"


def test_a_program_ends_with_its_own_code_or_signal() -> None:
    """The warden between us does not show, and there is no input."""
    for text, code, output in (
        ("cat; echo a; exit 4", 4, "a\n"),
        ("kill -SEGV $$", -signal.SIGSEGV, ""),
        ("kill -KILL $$", -signal.SIGKILL, ""),
        ("exit 0", 0, ""),
    ):
        ending = run_to_end(["sh", "-c", text], variables={}, limit_s=30)
        assert ending == Ending(code=code, output=output)


def test_what_a_program_started_is_ended_when_its_time_is_up(tmp_path) -> None:
    """With what it started."""
    text = f"sleep 60 & echo $! > {tmp_path}/pid; wait"
    ending = run_to_end(["sh", "-c", text], variables=dict(os.environ), limit_s=1)
    assert ending.code is None
    assert has_ended(int((tmp_path / "pid").read_text()))
