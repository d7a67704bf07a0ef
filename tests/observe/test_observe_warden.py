"""The warden: whatever a program starts ends with it, whoever it belongs to then, and nobody else does."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pytest_modelreg.domain.errors import EnvironmentUnavailable
from pytest_modelreg.observe import Elsewhere, observe_elsewhere, warden, worker_process
from pytest_modelreg.observe.worker_process import end_process

# Starts a process in a session of its own, whose parent then ends, and which listens to nothing.
ESCAPE = """
import os, pathlib, subprocess, sys
STUBBORN = (
    "import os, pathlib, signal, sys, time\\n"
    "for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT): signal.signal(number, signal.SIG_IGN)\\n"
    "pathlib.Path(sys.argv[1]).write_text(str(os.getpid()))\\n"
    "time.sleep(600)"
)

def escape(path):
    middle = (
        "import subprocess, sys; subprocess.Popen([sys.executable, '-c', sys.argv[1], sys.argv[2]], "
        "start_new_session=True, env={})"
    )
    subprocess.Popen([sys.executable, "-c", middle, STUBBORN, path], start_new_session=True).wait()
    while not (pathlib.Path(path).exists() and pathlib.Path(path).read_text()):
        pass
"""


@pytest.fixture
def toy(case_folder):
    """A case whose model may let something escape."""
    case_folder.write("escape.py", ESCAPE)
    case_folder.add_arrays([1.0, 2.0], [3.0, 4.0])
    return case_folder


def place(**changes) -> Elsewhere:
    """Return this interpreter, in another process."""
    return Elsewhere(**{"description": "another process", "time_limit_s": 120.0, **changes})


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that waits for its parent's attention does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait_for(condition, what: str, limit_s: float = 60.0) -> None:
    """Wait until something holds."""
    deadline = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("ending", "told"),
    [
        ("return lambda x: x", None),
        ("raise ValueError('boom')", "boom"),
        ("os.kill(os.getpid(), 9)", "SIGKILL"),
        ("import ctypes; ctypes.string_at(0)", "SIGSEGV"),
        ("os._exit(3)", "exit code 3"),
    ],
)
def test_what_left_the_group_ends_with_the_case(toy, tmp_path, ending, told):
    """A session of its own, another environment, a parent that is gone: it is found all the same."""
    toy.write(
        "model.py",
        f"import os\nfrom escape import escape\ndef build():\n"
        f"    escape({str(tmp_path / 'pid')!r})\n    {ending}\n",
    )
    if told is None:
        observe_elsewhere(toy.spec(), tmp_path / "t", place())
    else:
        with pytest.raises(Exception, match=told):
            observe_elsewhere(toy.spec(), tmp_path / "t", place())
    assert not is_alive(int((tmp_path / "pid").read_text()))


def test_what_left_the_group_ends_when_time_is_up(toy, tmp_path, monkeypatch):
    """And so does a worker that does not listen when it is asked."""
    monkeypatch.setattr(worker_process, "_ENDING_S", 0.5)
    toy.write(
        "model.py",
        "import os, pathlib, signal, time\nfrom escape import escape\ndef build():\n"
        "    signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        f"    escape({str(tmp_path / 'pid')!r})\n"
        f"    pathlib.Path({str(tmp_path / 'own')!r}).write_text(str(os.getpid()))\n    time.sleep(600)\n",
    )
    with pytest.raises(EnvironmentUnavailable, match="no answer within 8 s"):
        observe_elsewhere(toy.spec(), tmp_path / "t", place(time_limit_s=8.0))
    assert not is_alive(int((tmp_path / "pid").read_text()))
    assert not is_alive(int((tmp_path / "own").read_text()))


def test_what_is_asked_to_end_removes_its_temporary_folders(toy, tmp_path):
    """And what it printed last is still the last."""
    toy.write(
        "model.py",
        "import pathlib, tempfile, time\ndef build():\n"
        "    with tempfile.TemporaryDirectory() as name:\n"
        f"        pathlib.Path({str(tmp_path / 'own')!r}).write_text(name)\n"
        "        print('last words', flush=True)\n        time.sleep(600)\n",
    )
    with pytest.raises(EnvironmentUnavailable, match=r"it printed last:\n  last words$"):
        observe_elsewhere(toy.spec(), tmp_path / "t", place(time_limit_s=8.0))
    assert not Path((tmp_path / "own").read_text()).exists()


def test_nobody_else_is_ended(toy, tmp_path):
    """A process of ours that the worker did not start, nor a sibling's worker, is its business."""
    toy.write("model.py", "def build():\n    return lambda x: x\n")
    other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
    try:
        observe_elsewhere(toy.spec(), tmp_path / "t", place())
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()


@pytest.fixture
def guarded(tmp_path):
    """A warden with a program that let something escape and goes on; its process and their ids."""
    (tmp_path / "escape.py").write_text(ESCAPE)
    program = (
        f"import os, pathlib, sys, time; sys.path.insert(0, {str(tmp_path)!r})\n"
        "from escape import escape\n"
        f"escape({str(tmp_path / 'pid')!r})\n"
        f"pathlib.Path({str(tmp_path / 'own')!r}).write_text(str(os.getpid()))\n"
        "time.sleep(600)"
    )
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", warden.__file__, sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        start_new_session=True,
    )
    own = tmp_path / "own"
    wait_for(lambda: own.exists() and own.read_text(), "the program never began")
    yield process, [int((tmp_path / name).read_text()) for name in ("own", "pid")]
    end_process(process)


def test_the_end_of_its_input_ends_all(guarded):
    """Whoever held the other end is gone, however that happened."""
    process, pids = guarded
    process.stdin.close()
    process.wait(timeout=30)
    assert not any(map(is_alive, pids))


def test_an_input_that_somebody_else_holds_open_is_not_relied_on(tmp_path):
    """A fork of whoever was killed has the pipe too, and need not end."""
    code = f"""
import os, subprocess, sys
process = subprocess.Popen(
    [sys.executable, "-I", "-S", {warden.__file__!r}, sys.executable, "-c", "import time; time.sleep(600)"],
    stdin=subprocess.PIPE, start_new_session=True,
)
fork = os.fork()
if fork == 0:
    import time
    time.sleep(600)
print(process.pid, fork, flush=True)
import time
time.sleep(600)
"""
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    guard, fork = (int(word) for word in parent.stdout.readline().split())
    try:
        wait_for(lambda: warden_children(guard), "the program never began")
        (program,) = warden_children(guard)
        parent.kill()
        parent.wait()
        wait_for(lambda: not is_alive(program), "the program outlived whoever wanted it")
        assert is_alive(fork)
    finally:
        os.kill(fork, signal.SIGKILL)
        parent.stdout.close()


def warden_children(pid: int) -> list[int]:
    """Return the children of a process."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            facts = path.read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(facts[1]) == pid:
            found.append(int(path.parent.name))
    return found


def test_being_asked_does_not_end_it_before_the_rest(guarded):
    """The whole group is asked; what listens to nothing is ended after that."""
    process, pids = guarded
    end_process(process)
    assert not any(map(is_alive, pids))
    assert process.returncode == -signal.SIGTERM


def test_what_cannot_be_started_is_told_by_its_number(tmp_path):
    """Which is all that whoever wanted it needs to say why."""
    ended = subprocess.run(
        [sys.executable, "-I", "-S", warden.__file__, str(tmp_path)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stdout) == (warden.REFUSED, "errno: 13\n")
