"""Small models, each made for one fault that the photo network cannot have."""

from __future__ import annotations

import torch
from torch import nn

N_FEATURES = 8


class FlattenedHead(nn.Module):
    """A head on flattened tiles: takes (batch, 3, 8, 8) and, silently, (batch, 8, 8, 3)."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Flatten(), nn.Linear(192, 16), nn.ReLU(), nn.Linear(16, 4))

    def forward(self, tiles: torch.Tensor) -> torch.Tensor:
        """Return float32 (batch, 4)."""
        return self.layers(tiles)


class BatchCentred(nn.Module):
    """A model that takes the mean over the batch from every row: answers depend on the neighbours."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(N_FEATURES, 4)

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        """Return float32 (batch, 4)."""
        return self.layer(rows - rows.mean(0))


class Branching(nn.Module):
    """A model that decides in Python which of two layers answers."""

    def __init__(self) -> None:
        super().__init__()
        self.bright, self.dark = nn.Linear(N_FEATURES, 4), nn.Linear(N_FEATURES, 4)

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        """Return float32 (batch, 4)."""
        if rows.mean() > 0:
            return self.bright(rows)
        return self.dark(rows)


class FixedView(nn.Module):
    """A model that writes its batch size into a view as a Python number: a trace keeps that number."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(N_FEATURES, 4)

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        """Return float32 (batch, 2, 2)."""
        return self.layer(rows).view(int(rows.shape[0]), 2, 2)


class LargeActivations(nn.Module):
    """A model whose squares leave float16's range (65504) for inputs beyond 4."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(N_FEATURES, 4)
        nn.init.uniform_(self.layer.weight, 0.5, 1.0)

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        """Return (batch, 4)."""
        return self.layer((64.0 * rows).square()) / 1024.0


class TopThree(nn.Module):
    """A model that answers with the three largest scores and their places.

    Parameters
    ----------
    last_first : bool
        Which of two equal scores comes first: the one that stands last.
    """

    def __init__(self, last_first: bool) -> None:
        super().__init__()
        self.last_first = last_first

    def forward(self, rows: torch.Tensor) -> dict[str, torch.Tensor]:
        """Return scores, float32 (batch, 3), and places, int64 (batch, 3)."""
        turned = rows.flip(1) if self.last_first else rows
        scores, places = torch.sort(turned, dim=1, descending=True, stable=True)
        if self.last_first:
            places = rows.shape[1] - 1 - places
        return {"scores": scores[:, :3], "places": places[:, :3]}


class NearZero(nn.Module):
    """A scalar regressor whose answers lie around zero, where a relative error means nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(32, 512), nn.GELU(), nn.Linear(512, 512), nn.GELU())
        self.head = nn.Linear(512, 1)

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        """Return float32 (batch, 1)."""
        return self.head(self.layers(rows))


class SmallConvolutions(nn.Module):
    """A convolutional network that compiles in seconds."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU())
        self.head = nn.Linear(8, 4)

    def forward(self, tiles: torch.Tensor) -> torch.Tensor:
        """Return float32 (batch, 4)."""
        return self.head(self.body(tiles).mean(dim=(2, 3)))


KINDS = {
    "flattened": FlattenedHead,
    "centred": BatchCentred,
    "branching": Branching,
    "fixed-view": FixedView,
    "large": LargeActivations,
    "near-zero": NearZero,
    "convolutions": SmallConvolutions,
}


def build(kind: str) -> nn.Module:
    """Build a model of :data:`KINDS`, its weights always the same."""
    torch.manual_seed(20)
    return KINDS[kind]()


def rank(last_first: bool = False) -> nn.Module:
    """Build the model that answers with places."""
    return TopThree(last_first)
