"""A recommender: the four best of twelve articles, with their scores; some articles score alike."""

import torch
from torch import nn


class Network(nn.Module):
    """Takes float32 (batch, 6)."""

    def __init__(self) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(16)
        articles = torch.randn(12, 6, generator=generator)
        articles[7] = articles[2]
        articles[9] = articles[4]
        articles[11] = articles[0]
        self.register_buffer("articles", articles)

    def forward(self, rows: torch.Tensor) -> dict[str, torch.Tensor]:
        """Return scores, float32 (batch, 4), and places, int64 (batch, 4)."""
        scores = rows @ self.articles.T
        ordered, places = torch.sort(scores, dim=1, descending=True, stable=True)
        return {"scores": ordered[:, :4], "places": places[:, :4]}


def build() -> Network:
    """Build the recommender."""
    return Network()
