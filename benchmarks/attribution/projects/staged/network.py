"""A small residual network with BatchNorm."""

import torch
from torch import nn


class Block(nn.Module):
    """Two convolutions beside which the input passes unchanged."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.act = nn.ReLU()

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """Return features of the same shape."""
        inner = self.bn2(self.conv2(self.act(self.bn1(self.conv1(features)))))
        return self.act(features + inner)


class Network(nn.Module):
    """Logits of ten classes."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 16, 3, stride=2, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(16)
        self.act = nn.ReLU()
        self.block1 = Block(16)
        self.down = nn.Conv2d(16, 32, 3, stride=2, padding=1)
        self.block2 = Block(32)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.drop = nn.Dropout(0.2)
        self.head = nn.Linear(32, 10)

    def forward(self, pixels: torch.Tensor) -> torch.Tensor:
        """Return float32 (batch, 10) for float32 (batch, 3, height, width)."""
        features = self.block1(self.act(self.norm(self.stem(pixels))))
        features = self.block2(self.down(features))
        return self.head(self.drop(self.pool(features).flatten(1)))


def build() -> Network:
    """Build the architecture."""
    return Network()
