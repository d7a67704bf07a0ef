"""Which samples are traced: a few that are as different as the set has them.

What belongs here: telling kinds of samples apart by what is cheap to know, a file's name and an image's
header, and taking from every kind in turn. That only palette images drift can be seen only where one of
them was kept.
"""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path

from pytest_modelreg.domain.sample import Sample, SampleSet

MAX_SAMPLES = 12
"""Whose exact inputs a golden keeps."""

_MAX_LOOKED_AT = 500
_ORIENTATION = 0x0112
_IMAGE_SUFFIXES = frozenset({".png", ".jpg", ".jpeg", ".webp", ".bmp", ".gif", ".tif", ".tiff", ".ppm"})


def choose_samples(samples: SampleSet, *, most: int = MAX_SAMPLES) -> tuple[str, ...]:
    """Return ids spread over the kinds of samples, the commonest kind first.

    The same for the same files, whatever ran before.
    """
    rows = samples.samples
    step = -(-len(rows) // _MAX_LOOKED_AT) or 1
    kinds: dict[Hashable, list[str]] = {}
    for sample in rows[::step]:
        kinds.setdefault(_kind_of(Path(samples.folder), sample), []).append(sample.id)
    order = {sample.id: position for position, sample in enumerate(rows)}
    queues = [_spread(ids) for ids in sorted(kinds.values(), key=lambda ids: (-len(ids), order[ids[0]]))]
    chosen: list[str] = []
    while len(chosen) < most and any(queues):
        for queue in queues:
            if queue and len(chosen) < most:
                chosen.append(queue.pop(0))
    return tuple(chosen)


def _spread(ids: list[str]) -> list[str]:
    """Return ids in an order in which every beginning is spread over the whole: middle, quarters, eighths.

    Not the first one first: names are sorted, and what is odd (a black image, an edge case) often
    has a name that makes it so.
    """
    order: list[int] = []
    n_parts = 2
    while len(order) < len(ids) and n_parts <= 2 * len(ids):
        order += [part * len(ids) // n_parts for part in range(1, n_parts, 2)]
        order = list(dict.fromkeys(order))
        n_parts *= 2
    rest = [index for index in range(len(ids)) if index not in set(order)]
    return [ids[index] for index in (*order, *rest)]


def _kind_of(folder: Path, sample: Sample) -> Hashable:
    suffix = Path(sample.file).suffix.lower()
    if suffix not in _IMAGE_SUFFIXES:
        return suffix
    try:
        from PIL import Image
    except ModuleNotFoundError:
        return suffix
    try:
        with Image.open(folder / sample.file) as image:
            orientation = image.getexif().get(_ORIENTATION, 1)
            aspect = "wide" if image.width >= image.height else "tall"
            return image.mode, orientation, aspect, "transparency" in image.info
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return suffix
