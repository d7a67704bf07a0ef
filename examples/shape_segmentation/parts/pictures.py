"""From a camera's picture to what the network is fed."""

import numpy as np
import torch


def to_tensor(image):
    """Return float32 (3, height, width), 0 to 1, red first."""
    pixels = np.asarray(image.convert("RGB"), dtype=np.float32) / 255
    return torch.from_numpy(pixels.transpose(2, 0, 1).copy())
