"""How photos are fitted to an input, in words and numbers: which rules there are, and which are near.

What belongs here: :class:`Geometry` and the order in which geometries are tried. What a rule does to a photo
is in ``frames``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

SQUASH = "squash"
SQUASH_CROP = "squash and crop"
SHORT_SIDE = "short side and crop"
SHORT_SIDE_CORNER = "short side and crop in the corner"
LETTERBOX = "letterbox"
CORNER_LETTERBOX = "letterbox in the corner"
FIT = "crop to shape"
CUT = "cut to shape"
CROP = "crop without resizing"


@dataclass(frozen=True, kw_only=True)
class Geometry:
    """A rule and its numbers.

    Parameters
    ----------
    rule : str
        A constant of this module.
    resized_px : int or None
        What the short side, or both sides, are resized to before a crop.
    shift_px : tuple of int
        How far down and right of the centre the crop, or the picture between its bars, lies.
    is_offset_floored : bool
        Whether half pixels of the centre are rounded down instead of to even ones.
    is_size_otherwise : bool
        Whether the longer side is rounded the other way: a resize before a crop usually rounds down, as
        torchvision's does, a letterbox to the nearest.
    """

    rule: str
    resized_px: int | None = None
    shift_px: tuple[int, int] = (0, 0)
    is_offset_floored: bool = False
    is_size_otherwise: bool = False

    def describe(self, *, tells_rounding: bool = True) -> str:
        """Return the rule as a sentence takes it.

        Parameters
        ----------
        tells_rounding : bool
            Whether it says how half pixels are rounded, where that is not the usual way.
        """
        moved = "" if self.shift_px == (0, 0) else f", {_describe_shift(self.shift_px)}"
        if tells_rounding:
            moved += ", offsets rounded down" if self.is_offset_floored else ""
            moved += ", long side rounded otherwise" if self.is_size_otherwise else ""
        if self.rule == SQUASH:
            return "both sides squashed to size"
        if self.rule == SQUASH_CROP:
            return f"both sides squashed to {self.resized_px}, centre crop{moved}"
        if self.rule == SHORT_SIDE:
            return f"short side to {self.resized_px}, centre crop{moved}"
        if self.rule == SHORT_SIDE_CORNER:
            return f"short side to {self.resized_px}, cropped from the upper left corner{moved}"
        if self.rule == LETTERBOX:
            return f"letterbox, centred{moved}"
        if self.rule == CORNER_LETTERBOX:
            return "letterbox, padded right and below"
        return _WORDS[self.rule] + moved

    def round_like(self, other: Geometry) -> Geometry:
        """Return the rule with half pixels rounded as another does it."""
        return replace(
            self, is_offset_floored=other.is_offset_floored, is_size_otherwise=other.is_size_otherwise
        )

    def list_roundings(self) -> list[Geometry]:
        """Return the rule with half pixels rounded in every way."""
        return [
            replace(self, is_offset_floored=offset, is_size_otherwise=size)
            for offset in (self.is_offset_floored, not self.is_offset_floored)
            for size in (self.is_size_otherwise, not self.is_size_otherwise)
        ]

    def list_neighbours(self) -> list[Geometry]:
        """Return the rule with its numbers a little off."""
        steps = [-2, -1, 1, 2] if self.resized_px is not None else []
        sizes = [replace(self, resized_px=(self.resized_px or 0) + step) for step in steps]
        if self.rule in (SHORT_SIDE, FIT, CUT):
            # On small copies, a crop before, after and while resizing look alike.
            cut = Geometry(rule=CUT)
            sizes += [Geometry(rule=FIT), cut, replace(cut, is_offset_floored=True)]
        if self.rule != SQUASH:
            sizes.append(replace(self, is_size_otherwise=not self.is_size_otherwise))
        if self.rule in (SQUASH, CORNER_LETTERBOX):
            return sizes
        floored = replace(self, is_offset_floored=not self.is_offset_floored)
        sizes += [floored, replace(floored, is_size_otherwise=not self.is_size_otherwise)]
        down, right = self.shift_px
        moves = [(-1, 0), (1, 0), (0, -1), (0, 1), (1, 1), (-1, -1), (1, -1), (-1, 1)]
        return sizes + [replace(self, shift_px=(down + dy, right + dx)) for dy, dx in moves]


_WORDS = {
    FIT: "centre crop to the shape while it is resized",
    CUT: "centre crop to the shape, then resized",
    CROP: "centre crop, not resized",
}


def _describe_shift(shift: tuple[int, int]) -> str:
    down, right = shift
    parts = []
    if down:
        parts.append(f"{abs(down)} px {'lower' if down > 0 else 'higher'}")
    if right:
        parts.append(f"{abs(right)} px further {'right' if right > 0 else 'left'}")
    return " and ".join(parts)


def list_rules(out_width: int, out_height: int) -> list[Geometry]:
    """Return the rules to try for an input of that size, the simplest first."""
    short = min(out_width, out_height)
    plain = [Geometry(rule=rule) for rule in (SQUASH, LETTERBOX, CORNER_LETTERBOX, FIT, CROP, CUT)]
    plain.insert(1, Geometry(rule=SHORT_SIDE, resized_px=short))
    larger = sorted({round(short * (1 + step / 50)) for step in range(1, 28)} - {short})
    return plain + [
        Geometry(rule=rule, resized_px=size)
        for size in larger
        for rule in (SHORT_SIDE, SQUASH_CROP, SHORT_SIDE_CORNER)
    ]
