"""From a file to what the network is fed: samples at 16 kHz, from -1 to 1."""

import wave

import numpy as np
import torch

RATE_HZ = 16000


def read_clip(path):
    """Return int16 (sample,)."""
    with wave.open(str(path), "rb") as file:
        if (file.getframerate(), file.getnchannels(), file.getsampwidth()) != (RATE_HZ, 1, 2):
            raise ValueError(f"{path}: expected 16 bits, one channel, {RATE_HZ} Hz, got {file.getparams()}")
        return np.frombuffer(file.readframes(file.getnframes()), dtype="<i2").astype(np.int16)


def scale(clip):
    """Return float32 (sample,)."""
    return torch.from_numpy(clip.astype(np.float32) / 32768)
