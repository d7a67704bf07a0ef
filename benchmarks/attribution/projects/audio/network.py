"""A network on stereo waveforms: convolutions along time, an embedding of 24."""

import torch
from torch import nn
from torch.nn import functional as F


class Network(nn.Module):
    """Takes float32 (batch, 2, sample)."""

    def __init__(self) -> None:
        super().__init__()
        self.wave = nn.Conv1d(2, 16, 25, stride=8, padding=12, padding_mode="zeros")
        self.norm1 = nn.BatchNorm1d(16)
        self.mix = nn.Conv1d(16, 32, 9, stride=4)
        self.norm2 = nn.BatchNorm1d(32)
        self.drop = nn.Dropout(0.1)
        self.out = nn.Linear(64, 24)

    def forward(self, wave: torch.Tensor) -> torch.Tensor:
        """Return float32 (batch, 24)."""
        frames = F.gelu(self.norm1(self.wave(wave)))
        frames = F.gelu(self.norm2(self.mix(frames)))
        pooled = torch.cat([frames.mean(-1), frames.std(-1)], 1)
        return self.out(self.drop(pooled))


def build() -> Network:
    """Build the architecture."""
    return Network()
