"""Preprocessing of the toys: as it should be, and with habits that it must not have."""

from __future__ import annotations

import numpy as np
import torch

_BUFFER = torch.zeros(3, 8, 8)
_SEEN: list[float] = []


def to_row(sample: list[float]) -> torch.Tensor:
    """Return a pinned row as float32 (feature,)."""
    return torch.tensor(sample, dtype=torch.float32)


def to_tile(levels: np.ndarray) -> torch.Tensor:
    """Return uint8 (height, width, channel) as float32 (channel, height, width), 0 to 1."""
    return torch.from_numpy(levels).permute(2, 0, 1).float() / 255.0


def channels_last(levels: np.ndarray) -> torch.Tensor:
    """Forget to move the channels to the front."""
    return torch.from_numpy(levels).float() / 255.0


def change_argument(levels: np.ndarray) -> torch.Tensor:
    """Return the right tensor, and leave the caller's array black."""
    tile = to_tile(levels.copy())
    levels[:] = 0
    return tile


def subtract_running_mean(levels: np.ndarray) -> torch.Tensor:
    """Subtract the mean of every tile so far."""
    tile = to_tile(levels)
    _SEEN.append(float(tile.mean()))
    return tile - sum(_SEEN) / len(_SEEN)


def fill_buffer(levels: np.ndarray) -> torch.Tensor:
    """Return the one buffer that every tile is written to."""
    return _BUFFER.copy_(to_tile(levels))


def add_noise(levels: np.ndarray) -> torch.Tensor:
    """Leave an augmentation in."""
    tile = to_tile(levels)
    return tile + 0.05 * torch.rand_like(tile)
