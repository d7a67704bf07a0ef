"""Scales of plots: from a number to a place, and the ticks that make it readable."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_MOST_TICKS = 6


@dataclass(frozen=True, kw_only=True)
class Tick:
    """A marked place of a scale."""

    at: float
    label: str


class LogScale:
    """A scale of magnitudes, with places of their own for zero and for what is not finite.

    Parameters
    ----------
    values : iterable of float
        At least zero, NaN or infinite; NaN counts as infinite.
    start, end : float
        Places of the smallest and the largest.
    """

    def __init__(self, values: Iterable[float], *, start: float, end: float) -> None:
        seen = [abs(value) for value in values]
        finite = [value for value in seen if math.isfinite(value) and value > 0.0]
        self._has_zero = any(value == 0.0 for value in seen)
        self._has_infinite = any(not math.isfinite(value) for value in seen)
        self.low = math.floor(math.log10(min(finite, default=0.1)))
        self.high = max(math.ceil(math.log10(max(finite, default=1.0))), self.low + 1)
        self._bottom = self.low - (1 if self._has_zero else 0)
        self._top = self.high + (1 if self._has_infinite else 0)
        self._start, self._end = start, end

    def place(self, value: float) -> float:
        """Return where a value is."""
        if not math.isfinite(value):
            return self._end
        if value == 0.0:
            return self._start
        return self._place_exponent(math.log10(abs(value)))

    @property
    def ticks(self) -> list[Tick]:
        """Powers of ten, zero and infinity."""
        step = -(-(self.high - self.low) // _MOST_TICKS) or 1
        ticks = [
            Tick(at=self._place_exponent(exponent), label=_name_power(exponent))
            for exponent in range(self.low, self.high + 1, step)
        ]
        if self._has_zero:
            ticks.insert(0, Tick(at=self._start, label="0"))
        if self._has_infinite:
            ticks.append(Tick(at=self._end, label="inf"))
        return ticks

    def _place_exponent(self, exponent: float) -> float:
        share = (exponent - self._bottom) / (self._top - self._bottom)
        return self._start + min(max(share, 0.0), 1.0) * (self._end - self._start)


class LinearScale:
    """A scale of numbers.

    Parameters
    ----------
    values : sequence of float
        Finite.
    """

    def __init__(self, values: Sequence[float], *, start: float, end: float) -> None:
        self.low, self.high = min(values), max(values)
        if self.low == self.high:
            self.low, self.high = self.low - 0.5, self.high + 0.5
        self._start, self._end = start, end

    def place(self, value: float) -> float:
        """Return where a value is."""
        share = (value - self.low) / (self.high - self.low)
        return self._start + share * (self._end - self._start)

    @property
    def ticks(self) -> list[Tick]:
        """Round numbers, evenly spaced."""
        rough = (self.high - self.low) / 4
        power = 10.0 ** math.floor(math.log10(rough)) if rough > 0 and math.isfinite(rough) else 1.0
        step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough * 0.999)
        first = math.ceil(self.low / step)
        values = [step * number for number in range(first, first + 7) if step * number <= self.high]
        return [Tick(at=self.place(value), label=f"{value:.6g}") for value in values]


def _name_power(exponent: int) -> str:
    return f"{10.0**exponent:g}" if -3 <= exponent <= 3 else f"1e{exponent}"
