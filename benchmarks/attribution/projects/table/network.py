"""A perceptron on rows of a table, which reads its weights itself."""

from pathlib import Path

import torch
from torch import nn

WEIGHTS = Path(__file__).with_name("weights.pt")


class Network(nn.Module):
    """Takes float32 (batch, 8), returns (batch, 6)."""

    def __init__(self) -> None:
        super().__init__()
        self.enter = nn.Linear(8, 32)
        self.norm = nn.LayerNorm(32)
        self.bn = nn.BatchNorm1d(32)
        self.act = nn.GELU()
        self.inner = nn.Linear(32, 32)
        self.drop = nn.Dropout(0.1)
        self.out = nn.Linear(32, 6)

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        """Return the estimates."""
        hidden = self.act(self.norm(self.enter(rows)))
        hidden = hidden + self.act(self.bn(self.inner(hidden)))
        return self.out(self.drop(hidden))


def build() -> Network:
    """Build the network with its weights."""
    network = Network()
    network.load_state_dict(torch.load(WEIGHTS, weights_only=True))
    return network
