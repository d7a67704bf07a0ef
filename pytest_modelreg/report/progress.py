"""How far a running case is, in words: samples done, rate and time left."""

from __future__ import annotations

import math
import time
from collections.abc import Callable


class ProgressMeter:
    """Turns counts of samples into lines, at most one an interval.

    Parameters
    ----------
    first_after_s, interval_s : float
        How long a case runs before its first line, and between lines, seconds.
    clock : callable
        Returns seconds; never goes back.
    """

    def __init__(
        self,
        *,
        first_after_s: float,
        interval_s: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._first_after_s = first_after_s
        self._interval_s = interval_s
        self._clock = clock
        self._case = ""
        self._first: tuple[float, int] = (0.0, 0)
        self._next_s = 0.0

    def describe(self, case: str, done: int, total: int) -> str | None:
        """Return the line for this moment, or None when it is too early for one.

        Parameters
        ----------
        case : str
            Case id.
        done, total : int
            Samples.
        """
        now = self._clock()
        if case != self._case or done < self._first[1]:
            self._case, self._first = case, (now, done)
            self._next_s = now + self._first_after_s
        if done >= total or now < self._next_s:
            return None
        self._next_s = now + self._interval_s
        started_s, first_done = self._first
        line = f"{case}: {done} of {total} samples"
        # The first batch carries loading and warm-up, so the rate is that of the ones after it.
        if done > first_done and now > started_s:
            rate = (done - first_done) / (now - started_s)
            line += f", {_round(rate)}/s, {_describe_duration((total - done) / rate)} left"
        return line


def _round(rate: float) -> str:
    return f"{rate:.0f}" if rate >= 10 else f"{rate:.2g}"


def _describe_duration(duration_s: float) -> str:
    seconds = math.ceil(duration_s)
    if seconds < 60:
        return f"{seconds} s"
    minutes, seconds = divmod(seconds, 60)
    return f"{minutes} min {seconds:02d} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"
