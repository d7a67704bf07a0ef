"""The pictures of the story: one photo as the model is fed it by two pipelines, and their difference.

What belongs here: drawing them from the example's own photos and pipelines. To draw them again:
``python docs/pictures/draw.py``; a test holds the committed ones against what this draws.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

HERE = Path(__file__).parent
SHOP = HERE.parents[1] / "examples" / "photo_classifier"
PHOTO = "lom-seeding-crop2"
AMPLIFIED = 4


def draw() -> dict[str, Image.Image]:
    """Return the pictures by file name."""
    # By its file: a package of that name must not stay behind in whoever draws.
    spec = importlib.util.spec_from_file_location("shop_data", SHOP / "shop" / "data.py")
    assert spec is not None
    assert spec.loader is not None
    data = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(data)
    (path,) = (SHOP / "photos").glob(f"{PHOTO}.*")
    with Image.open(path) as photo:
        photo.load()
    expected, actual = (
        _to_levels(transform(photo)) for transform in (data.eval_transform, data.fast_transform)
    )
    swapped_back = actual[..., ::-1]
    gap = np.abs(swapped_back.astype(np.float64) - expected) * AMPLIFIED
    arrays = {
        "trained-on.jpg": expected,
        "nearest.jpg": swapped_back,
        "on-the-device.jpg": actual,
        "difference.jpg": np.clip(gap, 0, 255).astype(np.uint8),
    }
    return {name: Image.fromarray(np.ascontiguousarray(levels)) for name, levels in arrays.items()}


def _to_levels(tensor: object) -> NDArray[np.uint8]:
    """Return a normalised input as levels, axes (height, width, channel)."""
    values = np.asarray(tensor, np.float64).transpose(1, 2, 0)
    low, high = float(values.min()), float(values.max())
    levels: NDArray[np.uint8] = np.round(255 * (values - low) / (high - low)).astype(np.uint8)
    return levels


def main() -> int:
    """Write them."""
    for name, picture in draw().items():
        picture.save(HERE / name, quality=85)
    return 0


if __name__ == "__main__":
    sys.exit(main())
