"""The resizes that a pipeline may use, by name, and rendering a photo with one of them.

What belongs here: one :class:`Interpolation` for each resize that gives other levels. To add one, add a
line to ``INTERPOLATIONS``; names must stay, evidence holds them. Pillow is imported inside the functions.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_modelreg.diagnose.inputs.decoding import Decoding, Photo
from pytest_modelreg.diagnose.inputs.frames import Frame
from pytest_modelreg.diagnose.inputs.resampling import (
    ALIGNED,
    Weights,
    resize,
    resize_in_integers,
    weigh_antialiased,
    weigh_area,
    weigh_plain,
)

_PILLOW = "pillow"
_ANTIALIASED = "antialiased"
_PLAIN = "plain"
_AREA = "area"
_PILLOW_FILTERS = {"nearest": 0, "lanczos": 1, "bilinear": 2, "bicubic": 3, "box": 4, "hamming": 5}
_CACHED_WEIGHTS = 256
_LARGEST_DETOUR = 16  # pixels resized for each one kept, in a narrow photo


@dataclass(frozen=True, kw_only=True)
class Interpolation:
    """One resize.

    Parameters
    ----------
    name : str
        As a sentence takes it after "resizes with".
    engine : str
        Whose convention.
    kernel : str
        Filter.
    rounding : str
        ``levels`` rounds the result, ``integers`` computes in them as torch's uint8 kernels do,
        ``none`` leaves floats. Pillow rounds by itself.
    base : str
        The interpolation that it is nearly the same as, empty for none: tried only if that one is best.
    reducing_gap : float or None
        How many times larger than the result Pillow leaves a photo that it first makes smaller by whole
        steps; None where it does not.
    """

    name: str
    engine: str
    kernel: str
    rounding: str = "none"
    base: str = ""
    reducing_gap: float | None = None


INTERPOLATIONS: dict[str, Interpolation] = {
    each.name: each
    for each in (
        *(
            Interpolation(name=kernel, engine=_PILLOW, kernel=kernel)
            for kernel in ("bicubic", "bilinear", "nearest", "lanczos", "box", "hamming")
        ),
        Interpolation(name="bilinear without antialias", engine=_PLAIN, kernel="bilinear"),
        Interpolation(name="bicubic without antialias", engine=_PLAIN, kernel="bicubic"),
        Interpolation(name="nearest rounded down", engine=_PLAIN, kernel="nearest"),
        Interpolation(name="nearest exact", engine=_PLAIN, kernel="nearest exact", base="nearest"),
        *(
            Interpolation(
                name=f"{kernel} with a reducing gap of {gap:g}",
                engine=_PILLOW,
                kernel=kernel,
                base=kernel,
                reducing_gap=gap,
            )
            for kernel in ("bicubic", "bilinear", "lanczos")
            for gap in (1.0, 2.0, 3.0)
        ),
        Interpolation(name="area", engine=_AREA, kernel="area", rounding="levels"),
        *(
            Interpolation(
                name=f"{kernel} on a uint8 tensor",
                engine=_ANTIALIASED,
                kernel=kernel,
                rounding="integers",
                base=kernel,
            )
            for kernel in ("bicubic", "bilinear")
        ),
        *(
            Interpolation(name=f"{kernel} on a float tensor", engine=_ANTIALIASED, kernel=kernel, base=kernel)
            for kernel in ("bicubic", "bilinear")
        ),
        Interpolation(name="bilinear without antialias, corners aligned", engine=_PLAIN, kernel=ALIGNED),
        *(
            Interpolation(
                name=f"{kernel} without antialias, {words}",
                engine=_PLAIN,
                kernel=kernel,
                rounding=rounding,
                base=f"{kernel} without antialias",
            )
            for kernel in ("bilinear", "bicubic")
            for rounding, words in (("levels", "rounded"), ("integers", "on a uint8 tensor"))
        ),
    )
}
"""By name; the simplest first."""

USUAL = "bicubic"


def render(
    photo: Photo, decoding: Decoding, frame: Frame, interpolation: Interpolation, *, treatment: str
) -> NDArray[np.float32] | None:
    """Return the levels of a frame's region.

    Returns
    -------
    numpy.ndarray or None
        float32 (channel, height, width), red first, about 0 to 255. None where the resize cannot meet
        the mode in which the photo is stored.
    """
    image = photo.prepare(decoding, treatment)
    top, left, bottom, right = frame.region
    size = (right - left, bottom - top)
    if frame.cut is not None:
        image = image.crop(frame.cut)
        frame = replace(frame, box=(0.0, 0.0, float(image.width), float(image.height)), cut=None)
    if interpolation.engine == _PILLOW:
        resized = _resize_by_pillow(image, frame, interpolation)
        return read_levels(photo.finish(resized, decoding))
    if photo.ways[decoding.way].resized_as_stored:
        return None
    x0, y0, x1, y1 = frame.box
    columns = _weigh(interpolation, image.width, size[0], x0, x1)
    rows = _weigh(interpolation, image.height, size[1], y0, y1)
    levels = read_levels(image)
    if interpolation.rounding == "integers":
        return resize_in_integers(levels, rows, columns)
    result = resize(levels, rows, columns)
    return np.clip(np.round(result), 0, 255) if interpolation.rounding == "levels" else result


def _resize_by_pillow(image: Any, frame: Frame, interpolation: Interpolation) -> Any:
    top, left, bottom, right = frame.region
    width, height = right - left, bottom - top
    kernel, gap = _PILLOW_FILTERS[interpolation.kernel], interpolation.reducing_gap
    if frame.resized is None or frame.resized[0] * frame.resized[1] > _LARGEST_DETOUR * width * height:
        return image.resize((width, height), kernel, box=frame.box, reducing_gap=gap)
    x, y = frame.crop
    resized = image.resize(frame.resized, kernel, reducing_gap=gap)
    return resized.crop((x, y, x + width, y + height))


def read_levels(image: Any) -> NDArray[np.float32]:
    """Return an RGB image as float32 (channel, height, width)."""
    return np.ascontiguousarray(np.moveaxis(np.asarray(image, np.float32), 2, 0))


@lru_cache(maxsize=_CACHED_WEIGHTS)
def _weigh(interpolation: Interpolation, n_in: int, n_out: int, start: float, end: float) -> Weights:
    if interpolation.engine == _AREA:
        return weigh_area(n_in, n_out, start, end)
    weigh = weigh_antialiased if interpolation.engine == _ANTIALIASED else weigh_plain
    return weigh(interpolation.kernel, n_in, n_out, start, end)
