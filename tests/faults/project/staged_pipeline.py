"""Preprocessing in stages that the tool can follow one by one, and the same with one stage replaced."""

from __future__ import annotations

import torch
from photo_classifier import to_rgb
from photo_pipeline import scale_to_8_bits, turn_upright
from torchvision.transforms import (
    CenterCrop,
    Compose,
    InterpolationMode,
    Normalize,
    PILToTensor,
    RandomCrop,
    RandomHorizontalFlip,
    Resize,
)

SIDE_PX = 224
RESIZED_PX = 240
MARGIN_PX = (RESIZED_PX - SIDE_PX) // 2


def to_float(levels: torch.Tensor) -> torch.Tensor:
    """Return grey levels as float32, their values kept."""
    return levels.float()


def crop_one_lower(levels: torch.Tensor) -> torch.Tensor:
    """Crop the centre, one pixel too far down."""
    top, left = MARGIN_PX + 1, MARGIN_PX
    return levels[:, top : top + SIDE_PX, left : left + SIDE_PX]


HEAD = [turn_upright, scale_to_8_bits, to_rgb, PILToTensor(), to_float]
SIZE = (RESIZED_PX, RESIZED_PX)
RESIZE = Resize(SIZE, InterpolationMode.BILINEAR, antialias=True)
CROP = CenterCrop(SIDE_PX)
NORMALISE = Normalize(mean=[127.0] * 3, std=[128.0] * 3)

REFERENCE = Compose([*HEAD, RESIZE, CROP, NORMALISE])

not_antialiased = Compose([*HEAD, Resize(SIZE, InterpolationMode.BILINEAR, antialias=False), CROP, NORMALISE])
crop_off_by_one = Compose([*HEAD, RESIZE, crop_one_lower, NORMALISE])
not_normalised = Compose([*HEAD, RESIZE, CROP])
cropped_at_random = Compose([*HEAD, RESIZE, RandomCrop(SIDE_PX), NORMALISE])
flipped_at_random = Compose([*HEAD, RESIZE, CROP, RandomHorizontalFlip(0.5), NORMALISE])
