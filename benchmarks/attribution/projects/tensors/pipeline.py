"""Photos as tensors from the first step on: an antialiased resize of uint8, 96 pixels, normalised."""

import numpy as np
import torch
from PIL import Image
from torchvision.transforms.v2 import functional as F

SIDE_PX = 96
MEAN = torch.tensor([0.52, 0.46, 0.38]).view(3, 1, 1)
STD = torch.tensor([0.25, 0.23, 0.21]).view(3, 1, 1)


def prepare(image: Image.Image) -> dict[str, torch.Tensor]:
    """Return pixels, float32 (channel, height, width)."""
    if image.mode.startswith("I;16"):
        image = Image.fromarray((np.asarray(image) / 257).round().astype(np.uint8))
    image = image.convert("RGBA").convert("RGB")
    levels = F.pil_to_tensor(image)
    levels = F.resize(levels, [SIDE_PX, SIDE_PX], F.InterpolationMode.BILINEAR, antialias=True)
    pixels = levels.float() / 255.0
    pixels = (pixels - MEAN) / STD
    return {"pixels": pixels}
