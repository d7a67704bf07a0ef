"""A network with two heads: logits, and a map of the size of a quarter of its input."""

import torch
from torch import nn
from torch.nn import functional as F


class Network(nn.Module):
    """Takes a dict with ``pixels``, answers with a dict."""

    def __init__(self) -> None:
        super().__init__()
        self.enter = nn.Conv2d(3, 12, 5, stride=2, padding=2)
        self.norm = nn.BatchNorm2d(12)
        self.deep = nn.Conv2d(12, 24, 3, stride=2, padding=1)
        self.deeper = nn.Conv2d(24, 24, 3, stride=2, padding=1)
        self.join = nn.Conv2d(24, 24, 1)
        self.map = nn.Conv2d(24, 1, 3, padding=1)
        self.classes = nn.Linear(24, 8)

    def forward(self, pixels: torch.Tensor) -> dict[str, torch.Tensor]:
        """Return logits (batch, 8) and heat (batch, height / 4, width / 4)."""
        near = F.silu(self.deep(F.silu(self.norm(self.enter(pixels)))))
        far = F.silu(self.deeper(near))
        raised = F.interpolate(far, size=near.shape[-2:], mode="bilinear", align_corners=False)
        joined = near + self.join(raised)
        logits = self.classes(joined.mean(dim=(2, 3)))
        return {"logits": logits, "heat": torch.sigmoid(self.map(joined))[:, 0]}


def build() -> Network:
    """Build the architecture."""
    return Network()
