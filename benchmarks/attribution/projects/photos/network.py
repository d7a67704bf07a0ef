"""EfficientNet-Lite0, its weights left to the checkpoint."""

import torch
from efficientnet_lite_pytorch import EfficientNet


def build() -> torch.nn.Module:
    """Build the architecture: float32 (batch, 3, 224, 224) to logits (batch, 1000)."""
    network: torch.nn.Module = EfficientNet.from_name("efficientnet-lite0")
    return network
