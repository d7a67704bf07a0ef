"""What may happen to a signal: one function for each change, the last axis being time.

What belongs here: hypotheses that bring two signals into one form if they hold. To add one, add a function
and a line in ``HYPOTHESES`` with what it may leave.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from pytest_modelreg.diagnose.inputs.pair import measure_distance
from pytest_modelreg.domain.cause import Cause

Signal = NDArray[np.float64]
"""Axes (..., time)."""

_NEAR = 0.02
_RESAMPLED = 0.6  # a resample of another library, with another filter, must still come so near
_LONGEST_FFT = 1 << 21


@dataclass(frozen=True, kw_only=True, eq=False)
class Match:
    """What one pair shows.

    Parameters
    ----------
    expected, actual : numpy.ndarray
        What is held against each other, the change undone.
    what : str
        After "today's signals are".
    cause : Cause
        What it is a sign of.
    constants : dict
        What was fitted.
    """

    expected: Signal
    actual: Signal
    what: str
    cause: Cause
    constants: dict[str, object]


def _find_cut(expected: Signal, actual: Signal) -> Match | None:
    """Match one that is the other with something cut off or put on at an end."""
    n_e, n_a = expected.shape[-1], actual.shape[-1]
    if n_e == n_a or expected.shape[:-1] != actual.shape[:-1]:
        return None
    n = min(n_e, n_a)
    offset = abs(n_e - n_a) // 2
    long, short = (expected, actual) if n_e > n_a else (actual, expected)
    places = {"end": 0, "beginning": long.shape[-1] - n, "both ends": offset}
    where, start = min(
        places.items(), key=lambda place: measure_distance([(short, long[..., place[1] : place[1] + n])])
    )
    part = long[..., start : start + n]
    rest = np.concatenate([long[..., :start], long[..., start + n :]], axis=-1)
    flat = float(np.ptp(rest)) == 0.0
    if n_a < n_e:
        what = (
            f"cut by {n_e - n_a} values at the {where}"
            if where != "both ends"
            else f"cut to {n_a} values at both ends"
        )
    else:
        filler = f"padded with {float(rest.flat[0]):.6g}" if flat else "longer"
        what = f"{filler} by {n_a - n_e} values at the {where}".replace("the both", "both")
    pair = (short, part) if short is expected else (part, short)
    return Match(
        expected=pair[0],
        actual=pair[1],
        what=what,
        cause=Cause.PREPROCESS_GEOMETRY,
        constants={"n_expected": n_e, "n_actual": n_a},
    )


def _find_delay(expected: Signal, actual: Signal) -> Match | None:
    """Match one that is the other moved in time: the peak of the cross-correlation."""
    if expected.shape[:-1] != actual.shape[:-1]:
        return None
    n = max(expected.shape[-1], actual.shape[-1])
    if 2 * n > _LONGEST_FFT:
        return None
    here, there = (
        np.fft.rfft(side.reshape(-1, side.shape[-1]).mean(axis=0), 2 * n) for side in (expected, actual)
    )
    correlation = np.fft.irfft(there * np.conj(here), 2 * n)
    peak = int(np.abs(correlation).argmax())
    delay = peak - 2 * n if peak > n else peak
    if delay == 0:
        return None
    first, last = max(0, -delay), min(expected.shape[-1], actual.shape[-1] - delay)
    if last - first < 0.5 * min(expected.shape[-1], actual.shape[-1]):
        return None
    return Match(
        expected=expected[..., first:last],
        actual=actual[..., first + delay : last + delay],
        what=f"moved by {abs(delay)} values to the {'right, later' if delay > 0 else 'left, earlier'}",
        cause=Cause.PREPROCESS_GEOMETRY,
        constants={"delay": delay},
    )


def _find_reversal(expected: Signal, actual: Signal) -> Match | None:
    if expected.shape != actual.shape:
        return None
    return Match(
        expected=expected,
        actual=actual[..., ::-1],
        what="reversed in time",
        cause=Cause.PREPROCESS_LAYOUT,
        constants={},
    )


def _find_mono(expected: Signal, actual: Signal) -> Match | None:
    """Match one channel on one side with what two or more give on the other."""
    one, many = (expected, actual) if expected.size < actual.size else (actual, expected)
    if many.ndim != 2 or many.shape[0] < 2 or many.shape[-1] != one.shape[-1] or one.size != one.shape[-1]:
        return None
    one = one.reshape(-1)
    ways = {
        "the mean of": many.mean(axis=0),
        "the sum of": many.sum(axis=0),
        "the first of": many[0],
        "the last of": many[-1],
    }
    name, mixed = min(ways.items(), key=lambda way: measure_distance([(one, way[1])]))
    is_today = actual.size < expected.size
    what = (
        f"{name} the golden's {many.shape[0]} channels"
        if is_today
        else f"{many.shape[0]} channels, of which the golden's are {name} all"
    )
    pair = (mixed, one) if is_today else (one, mixed)
    return Match(
        expected=pair[0],
        actual=pair[1],
        what=what,
        cause=Cause.PREPROCESS_DECODE,
        constants={"n_channels": int(many.shape[0])},
    )


def _find_doubling(expected: Signal, actual: Signal) -> Match | None:
    """Match channels that were mixed to one, and copied."""
    if expected.shape != actual.shape or expected.ndim != 2 or expected.shape[0] < 2:
        return None
    if not np.allclose(actual, actual[:1]) or np.allclose(expected, expected[:1]):
        return None
    mixed = np.repeat(expected.mean(axis=0, keepdims=True), expected.shape[0], axis=0)
    return Match(
        expected=mixed,
        actual=actual,
        what="the mean of the golden's channels in every channel",
        cause=Cause.PREPROCESS_DECODE,
        constants={"n_channels": int(expected.shape[0])},
    )


def _find_rate(expected: Signal, actual: Signal) -> Match | None:
    """Match one that is the other at another sample rate, resampled by its Fourier series."""
    n_e, n_a = expected.shape[-1], actual.shape[-1]
    if n_e == n_a or expected.shape[:-1] != actual.shape[:-1]:
        return None
    ratio = Fraction(n_a, n_e).limit_denominator(441)
    made = _resample(expected, n_a)
    # Ends wrap around in a Fourier series: they are left out.
    margin = max(1, n_a // 50)
    return Match(
        expected=made[..., margin:-margin],
        actual=actual[..., margin:-margin],
        what=f"at {float(ratio):.5g} times the golden's sample rate",
        cause=Cause.PREPROCESS_INTERPOLATION,
        constants={"rate": float(f"{n_a / n_e:.6g}")},
    )


def _find_stretch(expected: Signal, actual: Signal) -> Match | None:
    """Match one of the same length that another sample rate stretched or squeezed, cut or padded to it."""
    if expected.shape != actual.shape:
        return None
    n = expected.shape[-1]
    best: tuple[float, str, Fraction, NDArray[np.float64], Signal] | None = None
    for ratio in _RATIOS:
        size = round(n * ratio)
        made = _resample(expected, size)[..., :n]
        common = made.shape[-1] * 9 // 10
        pair = made[..., :common], actual[..., :common]
        left = measure_distance([pair])
        if best is None or left < best[0]:
            best = (left, f"stretched in time by {float(ratio):.5g}", ratio, *pair)
    if best is None:
        return None
    return Match(
        expected=best[3],
        actual=best[4],
        what=f"{best[1]}, as by another sample rate",
        cause=Cause.PREPROCESS_INTERPOLATION,
        constants={"rate": float(best[2])},
    )


_RATIOS = tuple(
    Fraction(one, other)
    for one in (8000, 11025, 16000, 22050, 24000, 32000, 44100, 48000)
    for other in (8000, 11025, 16000, 22050, 24000, 32000, 44100, 48000)
    if one != other and one <= 3 * other and other <= 3 * one
)


def _resample(signal: Signal, n_out: int) -> Signal:
    """Return a signal of another length with the same Fourier series, as far as both can hold it."""
    n_in = signal.shape[-1]
    series = np.fft.rfft(signal, axis=-1)
    kept = np.zeros((*signal.shape[:-1], n_out // 2 + 1), series.dtype)
    n = min(series.shape[-1], kept.shape[-1])
    kept[..., :n] = series[..., :n]
    result: Signal = np.fft.irfft(kept, n_out, axis=-1) * (n_out / n_in)
    return result


HYPOTHESES: tuple[tuple[str, Callable[[Signal, Signal], Match | None], float], ...] = (
    ("mono", _find_mono, _NEAR),
    ("mono in every channel", _find_doubling, _NEAR),
    ("length", _find_cut, _NEAR),
    ("delay", _find_delay, _NEAR),
    ("reversal", _find_reversal, _NEAR),
    ("sample rate", _find_rate, _RESAMPLED),
    ("stretch", _find_stretch, 0.3),
)
