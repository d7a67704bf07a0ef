"""The warden: stands between us and a program, and ends with it everything that the program started.

What belongs here: noticing that a program, or whoever wanted it, has ended, and what is then to be
ended. It is run by its path, in interpreters that have nothing of ours: the standard library alone.

A process group is not enough: whoever gives himself a session of his own (a daemon, a server that a
library starts) has left it, and belongs to nobody once his parent has ended. On Linux the warden has
such orphans for its children, so that none of them is missed and nobody else is meant. Its standard
input is a pipe that we hold, which the system closes when we end, however that happens.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from typing import NoReturn

REFUSED = 127
"""Exit code where the program cannot be started; the last line is then ``errno: <number>``."""

_PARENT_GONE = 70
_SET_CHILD_SUBREAPER = 36  # linux/prctl.h
_LOOK_S = 1.0
"""How often whoever started the warden is looked after: one that was forked may hold our pipe open."""

_ENDING_S = 5.0
_PAUSE_S = 0.02


def adopt_orphans() -> None:
    """Become the parent of every descendant whose own parent ends, where the system can do that."""
    if not sys.platform.startswith("linux"):
        return
    with suppress(ImportError, OSError, AttributeError):  # an interpreter without ctypes: its group is left
        import ctypes

        none = ctypes.c_ulong(0)
        ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, ctypes.c_ulong(1), none, none, none)


def stand_guard(child: int) -> NoReturn:
    """Wait for a child's end or for the end of whoever wanted it, end what is left, and end as it did.

    Parameters
    ----------
    child : int
        Process id. Whatever is or becomes a child of this process is ended too.
    """
    parent = os.getppid()
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # whoever reads our output waits for the program's end
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    # Asked to end, the program is asked too: it is in our group. What it says to that is waited for.
    for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda number, frame: None)
    code = _reap(child)
    while code is None:
        ready, _, _ = select.select([0, reader], [], [], _LOOK_S)
        if (0 in ready and not os.read(0, 4096)) or os.getppid() != parent:
            break
        if reader in ready:
            os.read(reader, 4096)
        code = _reap(child)
    _end_children()
    if code is None:
        if os.getpgrp() == os.getpid():
            os.killpg(0, signal.SIGKILL)  # where orphans are not ours, its group is all there is
        os._exit(_PARENT_GONE)
    _end_as(code)


def _reap(child: int) -> int | None:
    """Return how a child ended, None when it has not; every other one that ended is forgotten."""
    code = None
    with suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                break
            if pid == child:
                code = os.waitstatus_to_exitcode(status)
    return code


def _end_children() -> None:
    """End all children; theirs become ours and are ended in the next round."""
    deadline = time.monotonic() + _ENDING_S
    while time.monotonic() < deadline:
        for pid in _list_children():
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        try:
            os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        time.sleep(_PAUSE_S)


def _list_children() -> list[int]:
    """Return the children of this process: none of them is another's, nor can its id be, until reaped."""
    own = os.getpid()
    try:
        if int(os.readlink("/proc/self")) != own:  # the processes of another namespace, with other ids
            return []
        names = os.listdir("/proc")
    except (OSError, ValueError):
        return []
    found = []
    for name in names:
        if name.isdigit():
            with suppress(OSError):
                with open(f"/proc/{name}/stat", "rb") as stream:
                    facts = stream.read().rpartition(b")")[2].split()
                if int(facts[1]) == own:
                    found.append(int(name))
    return found


def _end_as(code: int) -> NoReturn:
    if code < 0:
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # one core file is enough, and it is not ours
        if -code != signal.SIGKILL:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


def main(command: list[str]) -> NoReturn:
    """Run a program to its end, without input."""
    adopt_orphans()
    try:
        program = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    except OSError as error:
        os.write(1, b"errno: %d\n" % (error.errno or 0))
        os._exit(REFUSED)
    if os.name == "posix":
        stand_guard(program.pid)

    def watch() -> None:
        sys.stdin.buffer.read()
        program.kill()

    threading.Thread(target=watch, daemon=True).start()
    os._exit(program.wait())


if __name__ == "__main__":
    main(sys.argv[1:])
