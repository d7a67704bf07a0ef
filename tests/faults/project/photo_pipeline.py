"""Preprocessing of photos, right once and wrong in every way that people get it wrong.

``REFERENCE`` is what the golden is recorded from. Every other pipeline is the reference with one
step replaced; to plant one more fault, add a line here, a variant to ``photos.yaml`` and a row to
the catalogue.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import torch
from photo_classifier import to_rgb
from PIL import Image, ImageChops, ImageOps

SIDE_PX = 224
BICUBIC = Image.Resampling.BICUBIC
ALPHA_MODES = ("LA", "PA", "RGBA")


def turn_upright(image: Image.Image) -> Image.Image:
    """Apply the EXIF orientation."""
    return ImageOps.exif_transpose(image)


def keep(image: Image.Image) -> Image.Image:
    """Leave a photo as it is."""
    return image


def scale_to_8_bits(image: Image.Image) -> Image.Image:
    """Keep the upper byte of 16-bit grey levels; other modes pass."""
    if not image.mode.startswith("I;16"):
        return image
    return Image.fromarray((np.asarray(image) >> 8).astype(np.uint8))


def compose_over_white(image: Image.Image) -> Image.Image:
    """Return RGB with transparent parts white, instead of the colour stored below them."""
    if image.mode in ALPHA_MODES or "transparency" in image.info:
        layer = image.convert("RGBA")
        paper = Image.new("RGBA", layer.size, "white")
        return Image.alpha_composite(paper, layer).convert("RGB")
    return to_rgb(image)


def invert_inks(image: Image.Image) -> Image.Image:
    """Return RGB, the inks of CMYK read the wrong way round."""
    return to_rgb(ImageChops.invert(image) if image.mode == "CMYK" else image)


def squash(image: Image.Image, resample: Image.Resampling = BICUBIC) -> Image.Image:
    """Resize to a square, whatever the sides."""
    return image.resize((SIDE_PX, SIDE_PX), resample)


def letterbox(image: Image.Image) -> Image.Image:
    """Resize to fit into the square, black bars beside it."""
    return ImageOps.pad(image, (SIDE_PX, SIDE_PX), BICUBIC)


def resize_palette_first(image: Image.Image) -> Image.Image:
    """Resize palette photos before they become RGB: Pillow takes NEAREST for them and says nothing."""
    return to_rgb(squash(image) if image.mode == "P" else image)


def resize_before_rgb(image: Image.Image) -> Image.Image:
    """Resize every photo in the mode in which it is stored."""
    return to_rgb(squash(image))


def to_levels(image: Image.Image) -> torch.Tensor:
    """Return uint8 (channel, height, width) = (3, 224, 224)."""
    return torch.from_numpy(np.array(image)).permute(2, 0, 1)


def normalise(levels: torch.Tensor) -> torch.Tensor:
    """Return (x - 127) / 128 as float32, as the network was trained."""
    return (levels.float() - 127.0) / 128.0


@dataclass(frozen=True)
class Pipeline:
    """Steps from a decoded photo to float32 (channel, height, width)."""

    turn: Callable[[Image.Image], Image.Image] = turn_upright
    to_depth: Callable[[Image.Image], Image.Image] = scale_to_8_bits
    to_colour: Callable[[Image.Image], Image.Image] = to_rgb
    resize: Callable[[Image.Image], Image.Image] = squash
    to_tensor: Callable[[Image.Image], torch.Tensor] = to_levels
    scale: Callable[[torch.Tensor], torch.Tensor] = normalise

    def __call__(self, image: Image.Image) -> torch.Tensor:
        """Prepare one photo."""
        image = self.resize(self.to_colour(self.to_depth(self.turn(image))))
        return self.scale(self.to_tensor(image))


REFERENCE = Pipeline()

nearest = replace(REFERENCE, resize=partial(squash, resample=Image.Resampling.NEAREST))
bilinear = replace(REFERENCE, resize=partial(squash, resample=Image.Resampling.BILINEAR))
letterboxed = replace(REFERENCE, resize=letterbox)
blue_first = replace(REFERENCE, to_tensor=lambda image: to_levels(image).flip(0))
not_normalised = replace(REFERENCE, scale=lambda levels: levels.float() / 255.0)
normalised_twice = replace(REFERENCE, scale=lambda levels: normalise(normalise(levels)))
grey_levels = replace(REFERENCE, scale=lambda levels: levels.float())
exif_ignored = replace(REFERENCE, turn=keep)
clipped_16_bits = replace(REFERENCE, to_depth=keep)
palette_resized_first = replace(REFERENCE, to_colour=resize_palette_first)
resized_before_rgb = replace(REFERENCE, to_colour=resize_before_rgb)
transparent_is_white = replace(REFERENCE, to_colour=compose_over_white)
inks_inverted = replace(REFERENCE, to_colour=invert_inks)


def refactored(image: Image.Image) -> torch.Tensor:
    """Do what the reference does, in other words: numpy instead of torch, a product instead of a quotient."""
    image = scale_to_8_bits(turn_upright(image))
    box = (0, 0, image.width, image.height)
    squashed = to_rgb(image).resize((SIDE_PX, SIDE_PX), BICUBIC, box=box)
    levels = np.asarray(squashed, dtype=np.float32)
    return torch.from_numpy(np.ascontiguousarray(np.moveaxis((levels - 127) * np.float32(2**-7), 2, 0)))
