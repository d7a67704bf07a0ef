"""A U-Net small enough to be trained in minutes on one core."""

import torch
from torch import nn


def _block(n_in, n_out):
    return nn.Sequential(
        nn.Conv2d(n_in, n_out, 3, padding=1, bias=False),
        nn.BatchNorm2d(n_out),
        nn.ReLU(),
        nn.Conv2d(n_out, n_out, 3, padding=1, bias=False),
        nn.BatchNorm2d(n_out),
        nn.ReLU(),
    )


class PartsNet(nn.Module):
    """float32 (batch, 3, height, width) to scores (batch, class, height, width)."""

    def __init__(self, n_classes=4):
        super().__init__()
        self.down = nn.ModuleList([_block(3, 8), _block(8, 16), _block(16, 32)])
        self.up = nn.ModuleList([_block(32 + 16, 16), _block(16 + 8, 8)])
        self.head = nn.Conv2d(8, n_classes, 1)

    def forward(self, x):
        first = self.down[0](x)
        second = self.down[1](nn.functional.max_pool2d(first, 2))
        x = self.down[2](nn.functional.max_pool2d(second, 2))
        x = self.up[0](torch.cat([self._grow(x), second], 1))
        x = self.up[1](torch.cat([self._grow(x), first], 1))
        return self.head(x)

    def _grow(self, x):
        return nn.functional.interpolate(x, scale_factor=2.0, mode="nearest")


def build_network():
    return PartsNet()
