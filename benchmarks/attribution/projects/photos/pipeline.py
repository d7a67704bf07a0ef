"""Photos as one opaque function: PIL and numpy, 224 pixels, bicubic, about -1 to 1."""

import numpy as np
import torch
from PIL import Image, ImageOps

SIDE_PX = 224


def prepare(image: Image.Image) -> torch.Tensor:
    """Return float32 (channel, height, width)."""
    image = ImageOps.exif_transpose(image)
    if image.mode.startswith("I;16"):
        image = Image.fromarray((np.asarray(image) >> 8).astype(np.uint8))
    if "transparency" in image.info:
        image = image.convert("RGBA")
    image = image.convert("RGB")
    image = image.resize((SIDE_PX, SIDE_PX), Image.Resampling.BICUBIC)
    levels = np.asarray(image, dtype=np.float32)
    values = (levels - 127.0) / 128.0
    return torch.from_numpy(values.transpose(2, 0, 1).copy())
