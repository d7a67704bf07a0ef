"""Synthetic pictures of the belt, each with the class of every pixel."""

import numpy as np

SIZE_PX = 64
CLASSES = ("belt", "washer", "plate", "wedge")


def draw_scene(seed):
    """Return a picture, uint8 (height, width, 3), and its mask, uint8 (height, width)."""
    rng = np.random.default_rng(seed)
    rows, columns = np.mgrid[:SIZE_PX, :SIZE_PX]
    picture = np.full((SIZE_PX, SIZE_PX, 3), rng.uniform(60, 120, 3)) + 12 * np.sin(rows / 5)[..., None]
    mask = np.zeros((SIZE_PX, SIZE_PX), np.uint8)
    for _ in range(rng.integers(2, 5)):
        kind = int(rng.integers(1, 4))
        row, column, radius = rng.uniform(8, 56), rng.uniform(8, 56), rng.uniform(6, 13)
        covered = _cover(kind, rows - row, columns - column, radius, rng.uniform(0, 2 * np.pi))
        picture[covered] = rng.uniform(120, 240, 3)
        mask[covered] = kind
    picture += rng.normal(0, 6, picture.shape)
    return np.clip(np.rint(picture), 0, 255).astype(np.uint8), mask


def _cover(kind, down, right, radius, angle):
    distance = np.hypot(down, right)
    if kind == 1:
        return (distance < radius) & (distance > radius * 0.4)
    along = down * np.cos(angle) + right * np.sin(angle)
    across = right * np.cos(angle) - down * np.sin(angle)
    if kind == 2:
        return (abs(along) < radius) & (abs(across) < radius * 0.7)
    return (along > -radius / 2) & (abs(across) < (radius - along) * 0.6) & (along < radius)
