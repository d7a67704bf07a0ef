"""Progress in words, by a clock that the test holds."""

from __future__ import annotations

import pytest

from pytest_modelreg.report.progress import ProgressMeter


class Clock:
    """Seconds as the test says."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        """Return the time."""
        return self.now_s


@pytest.fixture
def clock() -> Clock:
    """A clock that stands still."""
    return Clock()


def test_samples_rate_and_time_left(clock):
    """The rate leaves out the first batch, which carries warm-up."""
    meter = ProgressMeter(first_after_s=0, interval_s=0, clock=clock)
    assert meter.describe("toy[reference]", 8, 68) == "toy[reference]: 8 of 68 samples"
    clock.now_s += 2
    assert meter.describe("toy[reference]", 28, 68) == "toy[reference]: 28 of 68 samples, 10/s, 4 s left"


@pytest.mark.parametrize(
    ("total", "left"), [(70, "60 s left"), (72, "1 min 02 s left"), (4000, "1 h 06 min left")]
)
def test_time_left_reads_as_people_say_it(clock, total, left):
    """Seconds, minutes, hours."""
    meter = ProgressMeter(first_after_s=0, interval_s=0, clock=clock)
    meter.describe("toy", 0, total)
    clock.now_s += 10
    line = meter.describe("toy", 10, total)
    assert line is not None
    assert line.replace("1 min 00 s", "60 s").endswith(left)


def test_quick_case_shows_nothing(clock):
    """A case that ends before the first line is due stays quiet."""
    meter = ProgressMeter(first_after_s=10, interval_s=30, clock=clock)
    lines = []
    for done in range(8, 72, 8):
        lines.append(meter.describe("toy", done, 64))
        clock.now_s += 1
    assert set(lines) == {None}


def test_lines_keep_their_distance(clock):
    """A long case shows a line an interval, however many batches there are."""
    meter = ProgressMeter(first_after_s=10, interval_s=30, clock=clock)
    shown = []
    for done in range(100):
        if meter.describe("toy", done, 1000):
            shown.append(clock.now_s - 100)
        clock.now_s += 1
    assert shown == [10, 40, 70]


def test_every_case_starts_anew(clock):
    """The second case's rate is its own; the same case run again is a new run."""
    meter = ProgressMeter(first_after_s=0, interval_s=0, clock=clock)
    meter.describe("a", 1, 10)
    clock.now_s += 100
    assert meter.describe("b", 1, 10) == "b: 1 of 10 samples"
    assert meter.describe("b", 1, 10) == "b: 1 of 10 samples"
