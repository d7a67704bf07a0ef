"""The settings in which two recipes of photos differ, each a finding of its own.

What belongs here: one comparison for each setting of a recipe. To add one, write a function from
:class:`Sides` to a finding and add it to ``_COMPARISONS``.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pytest_modelreg.diagnose.inputs.affine import Affine
from pytest_modelreg.diagnose.inputs.geometry_setting import compare_geometry
from pytest_modelreg.diagnose.inputs.reading import make_scaling
from pytest_modelreg.diagnose.inputs.recipe import Fit
from pytest_modelreg.diagnose.inputs.scaling import is_range_change
from pytest_modelreg.diagnose.inputs.setting_finding import make_setting_finding
from pytest_modelreg.diagnose.inputs.sides import CLEARLY, Sides, divide, judge_ratios
from pytest_modelreg.diagnose.inputs.treatment import NONE, TREATMENTS
from pytest_modelreg.domain.cause import Cause, CauseFinding

_COLOURS = "RGB"
_UNTOLD = 0.5  # what the best decoding leaves of a picture whose decoding cannot be told


def compare_settings(sides: Sides) -> list[CauseFinding]:
    """Return a finding for every setting that was shown to differ."""
    return [finding for compare in _COMPARISONS if (finding := compare(sides))]


def _compare_interpolation(sides: Sides) -> CauseFinding | None:
    names = [made.recipe.interpolation for made in sides.both]
    if names[0] == names[1]:
        return None
    ratio = sides.cross(interpolation=lambda recipe: recipe.interpolation)
    if ratio is None:
        return None
    return make_setting_finding(
        sides,
        Cause.PREPROCESS_INTERPOLATION,
        "interpolation",
        names,
        f"preprocess resizes with {names[1]} instead of {names[0]}",
        ratio,
    )


def _compare_treatment(sides: Sides) -> CauseFinding | None:
    golden, today = (made.recipe.treatment for made in sides.both)
    if golden == today:
        return None
    ratio = sides.cross(treatment=lambda recipe: recipe.treatment)
    if ratio is None:
        return None
    changed = TREATMENTS[golden if today == NONE else today]
    words = ["left as they are" if each == NONE else each for each in (golden, today)]
    return make_setting_finding(
        sides, changed.cause, "treatment", words, f"photos are {words[1]} instead of {words[0]}", ratio
    )


def _compare_order(sides: Sides) -> CauseFinding | None:
    golden, today = sides.golden.fit.order, sides.today.fit.order
    if golden == today:
        return None
    ratio = judge_ratios(
        [
            sides.golden.compare(sides.golden.recipe, today),
            sides.today.compare(sides.today.recipe, golden),
        ]
    )
    if ratio is None:
        return None
    names = ["".join(_COLOURS[colour] for colour in order) for order in (golden, today)]
    return make_setting_finding(
        sides,
        Cause.PREPROCESS_CHANNEL_ORDER,
        "channel order",
        names,
        f"the model gets channels in order {names[1]} instead of {names[0]}",
        ratio,
    )


def _compare_scaling(sides: Sides) -> CauseFinding | None:
    golden, today = sides.golden.fit, sides.today.fit
    slack = max(3e-3, golden.residual, today.residual)
    if _is_same_line(golden.affine, today.affine, slack):
        return None
    if _is_same_line(_by_colour(golden), _by_colour(today), slack):
        return None
    before, now = make_scaling(golden.affine, golden.residual), make_scaling(today.affine, today.residual)
    if before.name == now.name:
        return None
    return make_setting_finding(
        sides,
        Cause.PREPROCESS_VALUE_RANGE if is_range_change(before, now) else Cause.PREPROCESS_NORMALIZATION,
        "scaling",
        [before.name, now.name],
        f"inputs are scaled as {now.name} instead of {before.name}",
        None,
        constants={
            f"{side}_{what}": values.round(8).tolist()
            for side, line in (("expected", golden.affine), ("actual", today.affine))
            for what, values in (("scale", line.scale), ("offset", line.offset))
        },
    )


def _by_colour(fit: Fit) -> Affine:
    index = [fit.order.index(colour) for colour in range(len(fit.order))]
    return Affine(scale=fit.affine.scale[index], offset=fit.affine.offset[index])


def _is_same_line(one: Affine, other: Affine, slack: float) -> bool:
    """Whether two lines agree for levels 0 and 255, as a part of what they span."""
    span = np.abs(one.scale) * 255.0
    gaps = [np.abs((one.scale - other.scale) * level + one.offset - other.offset) for level in (0.0, 255.0)]
    return bool(np.all(np.maximum(*gaps) <= slack * np.maximum(span, 1e-12)))


def _compare_decoding(sides: Sides) -> CauseFinding | None:
    changes: dict[str, tuple[str, str]] = {}
    for sample in sides.affected:
        photo = sides.golden.side.photos[sample]
        golden, today = (made.recipe.decodings.get(sample, photo.usual) for made in sides.both)
        if golden == today:
            continue
        ratios = [
            divide(made.find_gap(sample, other), made.find_gap(sample, own))
            for made, own, other in ((sides.golden, golden, today), (sides.today, today, golden))
        ]
        if min(ratios) <= CLEARLY or sides.today.find_gap(sample, today) > _UNTOLD:
            continue  # either way does as well, or none does
        if golden.is_turned != today.is_turned:
            words = {True: "EXIF orientation applied", False: "EXIF orientation ignored"}
            changes[sample] = (words[golden.is_turned], words[today.is_turned])
        else:
            changes[sample] = (golden.way, today.way)
    if not changes:
        return None
    often = list(changes.values())
    (before, now), *more = sorted(set(often), key=lambda kind: (-often.count(kind), kind))
    modes = sorted({str(sides.golden.side.photos[sample].image.mode) for sample in changes})
    if now.startswith("EXIF"):
        applied = "applied" if now.endswith("applied") else "no longer applied"
        what = f"the EXIF orientation of photos is {applied}"
    else:
        what = f"photos of mode {', '.join(modes)} are {now} instead of {before}"
    return make_setting_finding(
        sides,
        Cause.PREPROCESS_DECODE,
        "decoding",
        [before, now],
        what + (f", with {len(more)} more such changes" if more else ""),
        None,
        affected=list(changes),
        constants={"by_sample": {sample: list(change) for sample, change in changes.items()}},
    )


_COMPARISONS: tuple[Callable[[Sides], CauseFinding | None], ...] = (
    compare_geometry,
    _compare_interpolation,
    _compare_treatment,
    _compare_order,
    _compare_scaling,
    _compare_decoding,
)
