"""A transformer of one layer on token ids, with a mask: sentence embeddings of 24."""

import torch
from torch import nn

WIDTH = 24
HEADS = 2


class Layer(nn.Module):
    """Attention and a perceptron, each beside the input."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.project = nn.Linear(WIDTH, WIDTH)
        self.norm1 = nn.LayerNorm(WIDTH)
        self.norm2 = nn.LayerNorm(WIDTH)
        self.perceptron = nn.Sequential(nn.Linear(WIDTH, 48), nn.GELU(), nn.Linear(48, WIDTH))
        self.drop = nn.Dropout(0.1)

    def forward(self, words: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Return (batch, position, width)."""
        batch, length, width = words.shape
        parts = self.qkv(words).view(batch, length, 3, HEADS, width // HEADS).permute(2, 0, 3, 1, 4)
        query, key, value = parts[0], parts[1], parts[2]
        scores = query @ key.transpose(-1, -2) / (width // HEADS) ** 0.5
        scores = scores.masked_fill(~mask[:, None, None, :], -1e4)
        mixed = (scores.softmax(-1) @ value).transpose(1, 2).reshape(batch, length, width)
        words = self.norm1(words + self.drop(self.project(mixed)))
        return self.norm2(words + self.perceptron(words))


class Network(nn.Module):
    """Takes ids and mask, (batch, position)."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(64, WIDTH)
        self.places = nn.Embedding(32, WIDTH)
        self.layer = Layer()
        self.out = nn.Linear(WIDTH, WIDTH)

    def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Return float32 (batch, 24)."""
        places = torch.arange(ids.shape[1], device=ids.device)
        words = self.layer(self.words(ids) + self.places(places), mask)
        kept = mask[..., None].to(words.dtype)
        return self.out((words * kept).sum(1) / kept.sum(1))


def build() -> Network:
    """Build the architecture."""
    return Network()
