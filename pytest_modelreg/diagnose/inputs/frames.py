"""Which part of a photo ends up in which part of the input.

What belongs here: rules from the size of a photo and of the input to a :class:`Frame`. One more rule is
a function in ``_RULES``. Offsets and sizes are rounded as torchvision and Pillow round them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from pytest_modelreg.diagnose.inputs.geometry import (
    CORNER_LETTERBOX,
    CROP,
    CUT,
    FIT,
    LETTERBOX,
    SHORT_SIDE,
    SHORT_SIDE_CORNER,
    SQUASH,
    SQUASH_CROP,
    Geometry,
)

_ROUNDING = 1e-6  # what products of fractions are off whole numbers by


@dataclass(frozen=True, kw_only=True)
class Frame:
    """What becomes what.

    Parameters
    ----------
    box : tuple of float
        Left, top, right, bottom in the photo, pixels.
    region : tuple of int
        Top, left, bottom, right in the input, pixels: outside of it is padding.
    resized : tuple of int or None
        Width and height of the whole photo where a crop follows the resize. The box says the same but
        for Pillow, which keeps boxes as float32.
    crop : tuple of int
        Left and top of that crop, pixels.
    cut : tuple of int or None
        Left, top, right, bottom of a crop before the resize, which then sees nothing of what is beside it.
    """

    box: tuple[float, float, float, float]
    region: tuple[int, int, int, int]
    resized: tuple[int, int] | None = None
    crop: tuple[int, int] = (0, 0)
    cut: tuple[int, int, int, int] | None = None


def frame_photo(rule: Geometry, width: int, height: int, out_width: int, out_height: int) -> Frame | None:
    """Return the frame of a photo, None where the rule does not apply to it."""
    return _RULES[rule.rule](rule, width, height, out_width, out_height)


def _squash(rule: Geometry, width: int, height: int, out_width: int, out_height: int) -> Frame | None:
    return Frame(box=(0.0, 0.0, float(width), float(height)), region=(0, 0, out_height, out_width))


def _squash_and_crop(
    rule: Geometry, width: int, height: int, out_width: int, out_height: int
) -> Frame | None:
    size = rule.resized_px or 0
    return _crop(rule, (width, height), (size, size), (out_width, out_height))


def _short_side(rule: Geometry, width: int, height: int, out_width: int, out_height: int) -> Frame | None:
    size = rule.resized_px or 0
    shorter, longer = max(1, min(width, height)), max(width, height)
    # By hand, the scale comes first: half a pixel may come out just below.
    long = round(longer * (size / shorter)) if rule.is_size_otherwise else int(size * longer / shorter)
    resized = (size, long) if width <= height else (long, size)
    return _crop(rule, (width, height), resized, (out_width, out_height))


def _crop_only(rule: Geometry, width: int, height: int, out_width: int, out_height: int) -> Frame | None:
    return _crop(rule, (width, height), (width, height), (out_width, out_height))


def _crop(
    rule: Geometry, size: tuple[int, int], resized: tuple[int, int], out: tuple[int, int]
) -> Frame | None:
    """Return the frame of a resize and a centre crop, which is the resize of a part."""
    down, right = rule.shift_px
    spans, crops = [], []
    for n_in, n_resized, n_out, shift in zip(size, resized, out, (right, down), strict=True):
        if n_resized <= 0:
            return None
        start = (0 if rule.rule == SHORT_SIDE_CORNER else _halve(n_resized - n_out, rule)) + shift
        first, last = max(start, 0), min(start + n_out, n_resized)
        if last - first < 2:
            return None
        step = n_in / n_resized
        crops.append(first)
        spans.append((first * step, last * step, first - start, last - start))
    (left, right_edge, x0, x1), (top, bottom, y0, y1) = spans
    return Frame(
        box=(left, top, min(right_edge, size[0]), min(bottom, size[1])),
        region=(y0, x0, y1, x1),
        resized=resized,
        crop=(crops[0], crops[1]),
    )


def _cut(rule: Geometry, width: int, height: int, out_width: int, out_height: int) -> Frame | None:
    frame = _fit(replace(rule, shift_px=(0, 0)), width, height, out_width, out_height)
    if frame is None:
        return None
    to_whole = round if rule.is_size_otherwise else int
    part_width = to_whole(frame.box[2] - frame.box[0] + _ROUNDING)
    part_height = to_whole(frame.box[3] - frame.box[1] + _ROUNDING)
    left = _halve(width - part_width, rule) + rule.shift_px[1]
    top = _halve(height - part_height, rule) + rule.shift_px[0]
    if left < 0 or top < 0 or left + part_width > width or top + part_height > height:
        return None
    cut = (left, top, left + part_width, top + part_height)
    box = (float(cut[0]), float(cut[1]), float(cut[2]), float(cut[3]))
    return Frame(box=box, region=(0, 0, out_height, out_width), cut=cut)


def _halve(gap: int, rule: Geometry) -> int:
    return gap // 2 if rule.is_offset_floored else round(gap / 2.0)


def _fit(rule: Geometry, width: int, height: int, out_width: int, out_height: int) -> Frame | None:
    scale = min(width / out_width, height / out_height)
    part_width, part_height = out_width * scale, out_height * scale
    left = (width - part_width) / 2 + rule.shift_px[1] * scale
    top = (height - part_height) / 2 + rule.shift_px[0] * scale
    if (
        min(left, top) < -_ROUNDING
        or left + part_width > width + _ROUNDING
        or top + part_height > height + _ROUNDING
    ):
        return None
    return Frame(
        box=(max(left, 0.0), max(top, 0.0), min(left + part_width, width), min(top + part_height, height)),
        region=(0, 0, out_height, out_width),
    )


def _letterbox(rule: Geometry, width: int, height: int, out_width: int, out_height: int) -> Frame | None:
    return _fit_inside(rule, width, height, out_width, out_height, is_centred=True)


def _corner(rule: Geometry, width: int, height: int, out_width: int, out_height: int) -> Frame | None:
    return _fit_inside(rule, width, height, out_width, out_height, is_centred=False)


def _fit_inside(
    rule: Geometry, width: int, height: int, out_width: int, out_height: int, *, is_centred: bool
) -> Frame | None:
    scale = min(out_width / width, out_height / height)
    to_whole = int if rule.is_size_otherwise else round
    inner_width = min(max(to_whole(width * scale), 1), out_width)
    inner_height = min(max(to_whole(height * scale), 1), out_height)
    left = (_halve(out_width - inner_width, rule) if is_centred else 0) + rule.shift_px[1]
    top = (_halve(out_height - inner_height, rule) if is_centred else 0) + rule.shift_px[0]
    if left < 0 or top < 0 or left + inner_width > out_width or top + inner_height > out_height:
        return None
    return Frame(
        box=(0.0, 0.0, float(width), float(height)),
        region=(top, left, top + inner_height, left + inner_width),
    )


_RULES: dict[str, Callable[[Geometry, int, int, int, int], Frame | None]] = {
    SQUASH: _squash,
    SQUASH_CROP: _squash_and_crop,
    SHORT_SIDE: _short_side,
    SHORT_SIDE_CORNER: _short_side,
    LETTERBOX: _letterbox,
    CORNER_LETTERBOX: _corner,
    FIT: _fit,
    CUT: _cut,
    CROP: _crop_only,
}
