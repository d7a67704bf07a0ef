"""Signals that are cut, moved, resampled, mixed or scaled, planted and named."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from pytest_modelreg.diagnose.inputs import InputPair, explain_inputs


def draw_signal(seed: int, n: int = 4000) -> np.ndarray:
    """Return tones up to an eighth of the sample rate, float32 (time,)."""
    rng = np.random.default_rng(seed)
    time = np.arange(n)
    tones = [
        rng.standard_normal() * np.sin(2 * np.pi * frequency * time + rng.uniform(0, 6))
        for frequency in rng.uniform(0.003, 0.12, 30)
    ]
    return np.sum(tones, axis=0).astype(np.float32)


def explain(today: Callable, golden: Callable = np.asarray, *, n: int = 4000, n_samples: int = 3):
    """Return the findings for a few signals."""
    return explain_inputs(
        [
            InputPair(
                sample=f"s{seed}",
                path="",
                expected=np.asarray(golden(draw_signal(seed, n)), np.float32),
                actual=np.asarray(today(draw_signal(seed, n)), np.float32),
                file=None,
                loader="array",
            )
            for seed in range(n_samples)
        ],
        has_time=lambda: True,
    )


def delay(signal: np.ndarray, by: int) -> np.ndarray:
    """Move a signal to the right, silence first."""
    return np.concatenate([np.zeros(by), signal[:-by]])


def interpolate(signal: np.ndarray, step: float, n: int) -> np.ndarray:
    """Read a signal at every so many values, straight lines between them."""
    return np.interp(np.arange(n) * step, np.arange(signal.size), signal)


CHANGES = {
    "gain": (lambda x: 0.5 * x, "value_range", "0.5 times"),
    "as int16": (lambda x: 32768 * x, "value_range", "32768 times"),
    "offset": (lambda x: x + 0.25, "value_range", "+0.25 off"),
    "sign": (lambda x: -x, "value_range", "other sign"),
    "clipped": (lambda x: np.clip(x, -2, 2), "value_range", "clipped below -2 and above 2"),
    "peak normalised": (lambda x: x / np.abs(x).max(), "normalization", "constants by sample"),
    "cut": (lambda x: x[:3000], "geometry", "cut by 1000 values at the end"),
    "cut at the beginning": (lambda x: x[800:], "geometry", "moved by 800 values to the left"),
    "padded": (lambda x: np.append(x, np.zeros(500)), "geometry", "padded with 0 by 500 values at the end"),
    "delayed": (lambda x: delay(x, 160), "geometry", "moved by 160 values to the right"),
    "delayed a little": (lambda x: delay(x, 3), "geometry", "moved by 3 values to the right"),
    "reversed": (lambda x: x[::-1], "layout", "reversed in time"),
    "half the rate": (lambda x: interpolate(x, 2, 2000), "interpolation", "at 0.5 times"),
    "decimated": (lambda x: x[::4], "interpolation", "at 0.25 times"),
    "16000 for 44100": (lambda x: interpolate(x, 44100 / 16000, 1451), "interpolation", "sample rate"),
}


@pytest.mark.parametrize("case", CHANGES)
def test_change_of_a_signal_is_named_first(case):
    """One change of every signal, undone or done again."""
    today, cause, words = CHANGES[case]
    finding = explain(today)[0]
    assert finding.cause.value == f"preprocess.{cause}"
    assert words in finding.summary or words in str(finding.evidence["actual"])
    assert finding.confidence >= 0.6


@pytest.mark.parametrize("ratio", [2.0, 0.5])
def test_wrong_rate_of_equally_long_signals_is_a_stretch(ratio):
    """A signal of 16 kHz read as one of 8 kHz, cut or padded to the same length."""

    def stretch(signal):
        return interpolate(signal, ratio, int(4000 / max(ratio, 1)))

    finding = explain(lambda x: np.append(stretch(x), np.zeros(4000 - stretch(x).size)))[0]
    assert finding.cause.value == "preprocess.interpolation"
    assert finding.evidence["constants"]["rate"][0] == pytest.approx(1 / ratio)


def to_stereo(signal: np.ndarray) -> np.ndarray:
    """Return two channels that differ, (2, time)."""
    return np.stack([signal, 0.5 * signal[::-1]])


CHANNELS = {
    "mean": (lambda x: to_stereo(x).mean(axis=0), "decode", "the mean of"),
    "first": (lambda x: to_stereo(x)[:1], "decode", "the first of"),
    "mean, twice": (lambda x: np.repeat(to_stereo(x).mean(axis=0, keepdims=True), 2, 0), "decode", "every"),
    "swapped": (lambda x: to_stereo(x)[::-1], "channel_order", "[1, 0]"),
    "time first": (lambda x: to_stereo(x).T, "layout", "laid out"),
}


@pytest.mark.parametrize("case", CHANNELS)
def test_change_of_channels_is_named_first(case):
    """Two channels become one, change places, or lie along the other axis."""
    today, cause, words = CHANNELS[case]
    finding = explain(today, to_stereo)[0]
    assert finding.cause.value == f"preprocess.{cause}"
    assert words in finding.summary or words in str(finding.evidence["actual"])


@pytest.mark.parametrize(
    "today",
    [
        lambda x: x + np.random.default_rng(0).normal(0, 0.01, x.shape),
        lambda x: np.random.default_rng(0).standard_normal(x.shape),
        lambda x: np.append(x[:1], x[1:] - 0.97 * x[:-1]),
    ],
    ids=["noise", "another signal", "a filter"],
)
def test_what_no_replay_makes_is_named_nothing(today):
    """Noise on top, noise instead, and a filter that nobody asked about."""
    (finding,) = explain(today)
    assert finding.cause.value == "preprocess.other"
    assert finding.confidence < 0.5


def test_rounding_has_no_cause():
    """A resampler that is 1e-7 off."""
    assert explain(lambda x: x * (1 + 1e-7)) == ()
