"""Faults at every step by which a golden is written, and what they leave behind.

What belongs here: counting the steps and making one fail, by an error or by a kill. To add a
step, add the call to :func:`fault_at`; to add a fault, add it to :data:`FAULTS`.
``fault_table`` tries them all and counts.
"""

from __future__ import annotations

import builtins
import errno
import os
import random
import shutil
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

from pytest_modelreg.domain.errors import GoldenError
from tests.store.small_golden import N_FILES, observe_value, read_value, start_writing

Raise = Callable[[], None]


def _fail(kind: int) -> Raise:
    def fail() -> None:
        raise OSError(kind, os.strerror(kind))

    return fail


def _interrupt() -> None:
    raise KeyboardInterrupt


def _die(*, saying_so: int) -> None:
    os.write(saying_so, b"x")
    os.kill(os.getpid(), signal.SIGKILL)


FAULTS: dict[str, tuple[Raise, bool]] = {
    **{
        f"{errno.errorcode[kind]}, {how}": (_fail(kind), how == "lasting")
        for kind in (errno.ENOSPC, errno.EIO, errno.EACCES, errno.EROFS)
        for how in ("once", "lasting")
    },
    "KeyboardInterrupt": (_interrupt, False),
}
"""What happens at a step, and whether at every later one too."""


@dataclass
class Tally:
    """What one kind of fault came to."""

    steps: Counter[str] = field(default_factory=Counter)
    n_old: int = 0
    n_new: int = 0

    def add(self, step: str, *, is_old: bool) -> None:
        """Count a fault and the golden that was there afterwards."""
        self.steps[step] += 1
        self.n_old += is_old
        self.n_new += not is_old

    @property
    def n_points(self) -> int:
        """Faults tried, each followed by a check and by a next run."""
        return self.n_old + self.n_new


class _Stream:
    """A file whose writes are steps; a failing one has written half of its bytes."""

    def __init__(self, stream: Any, step: Callable[[str], bool], fail: Raise) -> None:
        self._stream, self._step, self._fail = stream, step, fail

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def __enter__(self) -> _Stream:
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.close()

    def write(self, data: bytes) -> Any:
        """Write, or half of it."""
        if self._step("write"):
            self._stream.write(data[: len(data) // 2])
            self._stream.flush()
            self._fail()
        return self._stream.write(data)


@contextmanager
def fault_at(number: int, fail: Raise, *, lasting: bool = False) -> Iterator[list[str]]:
    """Let the ``number``-th step that changes the disk fail, from 1, and the later ones when lasting.

    Yields
    ------
    list of str
        The steps so far by name, the failing ones included.
    """
    steps: list[str] = []

    def step(name: str) -> bool:
        steps.append(name)
        return len(steps) == number or (lasting and len(steps) > number)

    def failing(name: str) -> Any:
        real = getattr(os, name)

        def call(*args: Any, **kwargs: Any) -> Any:
            if step(name):
                fail()
            return real(*args, **kwargs)

        return patch.object(os, name, call)

    real_open = builtins.open

    def opened(file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
        if not set(mode) & set("wax+"):
            return real_open(file, mode, *args, **kwargs)
        if step("open"):
            fail()
        return _Stream(real_open(file, mode, *args, **kwargs), step, fail)

    with (
        failing("replace"),
        failing("rename"),
        failing("fsync"),
        failing("unlink"),
        failing("mkdir"),
        patch.object(builtins, "open", opened),
    ):
        yield steps


def try_every_point(root: Path, fail: Raise, *, lasting: bool, replacing: bool) -> Tally:
    """Let each step of one regeneration fail in turn; old or new, whole, and the next run cleans up."""
    tally = Tally()
    write_old, write_new, write_next = (observe_value(root / "scratch", value) for value in (1, 2, 3))
    for number in range(1, 200):
        folder = root / str(number) / "s" / "reference"
        if replacing:
            write_old(folder)
        old, before = read_value(folder), _contents(folder)
        refusal = None
        with fault_at(number, fail, lasting=lasting) as steps:
            try:
                write_new(folder)
            except (GoldenError, KeyboardInterrupt) as error:
                refusal = error
        if isinstance(refusal, GoldenError):
            assert str(folder.parent.parent) in str(refusal)
            assert "then regenerate again" in str(refusal)
        value = read_value(folder)
        assert value in (old, 2), f"step {number} ({steps[-1]}): got {value}"
        assert refusal is not None or value == 2, f"step {number} ({steps[-1]}): failed without a word"
        if replacing and value == old and not lasting:
            assert _contents(folder) == before, "what the failed attempt wrote was not removed"
        _write_next(folder, write_next)
        shutil.rmtree(root / str(number))
        if len(steps) < number:
            return tally
        tally.add(steps[number - 1], is_old=value == old)
    raise AssertionError("the regeneration never got past the faults")


def kill_at_every_point(root: Path) -> Tally:
    """Kill a process at each step of its regeneration in turn."""
    tally = Tally()
    write_old, write_new, write_next = (observe_value(root / "scratch", value) for value in (1, 2, 3))
    for number in range(1, 200):
        folder = root / str(number) / "s" / "reference"
        write_old(folder)
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            with fault_at(number, partial(_die, saying_so=writer)):
                write_new(folder)
            os._exit(0)
        os.waitpid(child, 0)
        os.close(writer)
        was_killed = os.read(reader, 1) == b"x"
        os.close(reader)
        value = read_value(folder)
        assert value in (1, 2), f"step {number}: got {value}"
        _write_next(folder, write_next)
        if not was_killed:
            assert value == 2
            return tally
        tally.add("kill", is_old=value == 1)
    raise AssertionError("the regeneration never got past the kills")


def kill_at_random(root: Path, times: int, *, seed: int = 7) -> set[int | None]:
    """Kill a process that regenerates without end, ``times`` times; return the goldens it left."""
    folder = root / "s" / "reference"
    choose = random.Random(seed)
    seen: set[int | None] = set()
    for attempt in range(times):
        process = start_writing(folder, root / "scratch", 1000 * attempt, 900)
        time.sleep(choose.uniform(0.0, 0.25))
        process.kill()
        process.communicate()
        seen.add(read_value(folder))
        _write_next(folder, observe_value(root / "scratch", 3))
    return seen


def _contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()} if folder.is_dir() else {}


def _write_next(folder: Path, write: Callable[[Path], None]) -> None:
    """Regenerate once more, as whoever comes next; nothing of the fault is left after that."""
    write(folder)
    assert read_value(folder) == 3
    assert len(os.listdir(folder)) == N_FILES, "the next run cleans up"
