"""Photos through a Compose, stage by stage: 112 pixels, centre 96, ImageNet's constants."""

import numpy as np
from PIL import Image
from torchvision.transforms import CenterCrop, Compose, InterpolationMode, Normalize, Resize, ToTensor

MEAN = (0.485, 0.456, 0.406)
STD = (0.229, 0.224, 0.225)


def to_rgb(image: Image.Image) -> Image.Image:
    """Return RGB, pixels as stored, 16 bits scaled to 8."""
    if image.mode.startswith("I;16"):
        image = Image.fromarray((np.asarray(image) >> 8).astype(np.uint8))
    if "transparency" in image.info:
        image = image.convert("RGBA")
    return image.convert("RGB")


pipeline = Compose(
    [
        to_rgb,
        Resize(112, InterpolationMode.BILINEAR),
        CenterCrop(96),
        ToTensor(),
        Normalize(MEAN, STD),
    ]
)
