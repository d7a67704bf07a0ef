"""Stereo waveforms, int16 at 16 kHz, to float32 at 8 kHz, the mean taken off."""

import numpy as np
import torch

N_SAMPLES = 4000


def prepare(wave: np.ndarray) -> torch.Tensor:
    """Return float32 (channel, sample)."""
    values = wave.astype(np.float32) / 32768.0
    places = np.linspace(0.0, values.shape[1] - 1.0, N_SAMPLES)
    halved = np.stack([np.interp(places, np.arange(values.shape[1]), row) for row in values])
    halved = halved - halved.mean(axis=1, keepdims=True)
    return torch.from_numpy(halved.astype(np.float32))
