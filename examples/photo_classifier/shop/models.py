"""The models that the shop ships."""

from __future__ import annotations

import torch
from efficientnet_lite_pytorch import EfficientNet


def build_classifier() -> torch.nn.Module:
    """Build the photo classifier: float32 (batch, 3, 224, 224) to logits (batch, 1000)."""
    model: torch.nn.Module = EfficientNet.from_name("efficientnet-lite0")
    return model
