"""From a picture to what the detector is fed."""

import numpy as np


def to_pixels(image):
    """Return uint8 (height, width, 3), red first: pictures keep their size."""
    return np.array(image.convert("RGB"))
