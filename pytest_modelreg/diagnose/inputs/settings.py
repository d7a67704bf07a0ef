"""The settings in which two recipes of photos differ, each a finding of its own.

What belongs here: one comparison for each setting of a recipe. To add one, write a function from
:class:`Sides` to a finding and add it to ``_COMPARISONS``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pytest_modelreg.diagnose.inputs.affine import Affine
from pytest_modelreg.diagnose.inputs.finding import Residuals, describe_residual, make_finding
from pytest_modelreg.diagnose.inputs.reading import make_scaling
from pytest_modelreg.diagnose.inputs.recipe import Fit
from pytest_modelreg.diagnose.inputs.scaling import is_range_change
from pytest_modelreg.diagnose.inputs.sides import CLEARLY, Sides, divide, judge_ratios
from pytest_modelreg.diagnose.inputs.treatment import NONE, TREATMENTS
from pytest_modelreg.domain.cause import Cause, CauseFinding

_COLOURS = "RGB"
_ONE_LEVEL = 1.0
_AS_WELL = 1.05  # times as much as the best rounding leaves
_UNTOLD = 0.5  # what the best decoding leaves of a picture whose decoding cannot be told


def compare_settings(sides: Sides) -> list[CauseFinding]:
    """Return a finding for every setting that was shown to differ."""
    return [finding for compare in _COMPARISONS if (finding := compare(sides))]


def _compare_geometry(sides: Sides) -> CauseFinding | None:
    golden, today = sides.golden.recipe.geometry, sides.today.recipe.geometry
    resized = [
        (expected.shape, actual.shape)
        for sample in sides.affected
        if (expected := sides.golden.side.pictures[sample]).shape
        != (actual := sides.today.side.pictures[sample]).shape
    ]
    ratio = sides.cross(geometry=lambda recipe: recipe.geometry) if golden != today else None
    words = _describe_rules(sides)
    if resized:
        words = [
            f"{each} ({shape[2]} x {shape[1]} px)" for each, shape in zip(words, resized[0], strict=True)
        ]
    elif ratio is None:
        return _compare_padding(sides)
    return _make(
        sides,
        Cause.PREPROCESS_GEOMETRY,
        "geometry",
        words,
        f"preprocess fits photos by {words[1]} instead of {words[0]}",
        ratio,
    )


def _describe_rules(sides: Sides) -> list[str]:
    """Return both rules in words, with how they round only where that is shown to differ too."""
    golden, today = (made.recipe.geometry for made in sides.both)
    is_rounding_all = golden.round_like(today) == today
    is_told = is_rounding_all or not any(
        made.compare(replace(made.recipe, geometry=made.recipe.geometry.round_like(other))) <= _AS_WELL
        for made, other in ((sides.golden, today), (sides.today, golden))
    )
    return [golden.describe(tells_rounding=is_told), today.describe(tells_rounding=is_told)]


def _compare_padding(sides: Sides) -> CauseFinding | None:
    pads = [
        (np.array(made.fit.pad) - made.fit.affine.offset) / made.fit.affine.scale
        for made in sides.both
        if made.fit.pad and np.all(made.fit.affine.scale != 0.0)
    ]
    if len(pads) < len(sides.both) or float(np.abs(pads[0] - pads[1]).max()) < _ONE_LEVEL:
        return None
    words = ["/".join(f"{level:.4g}" for level in dict.fromkeys(pad.round(1).tolist())) for pad in pads]
    return _make(
        sides,
        Cause.PREPROCESS_GEOMETRY,
        "padding",
        [f"padding of level {each}" for each in words],
        f"preprocess pads with level {words[1]} instead of {words[0]}",
        None,
        constants={"expected_pad": pads[0].round(3).tolist(), "actual_pad": pads[1].round(3).tolist()},
    )


def _compare_interpolation(sides: Sides) -> CauseFinding | None:
    names = [made.recipe.interpolation for made in sides.both]
    if names[0] == names[1]:
        return None
    ratio = sides.cross(interpolation=lambda recipe: recipe.interpolation)
    if ratio is None:
        return None
    return _make(
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
    return _make(
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
    return _make(
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
    return _make(
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
    return _make(
        sides,
        Cause.PREPROCESS_DECODE,
        "decoding",
        [before, now],
        what + (f", with {len(more)} more such changes" if more else ""),
        None,
        affected=list(changes),
        constants={"by_sample": {sample: list(change) for sample, change in changes.items()}},
    )


def _make(
    sides: Sides,
    cause: Cause,
    hypothesis: str,
    settings: Sequence[str],
    change: str,
    ratio: float | None,
    *,
    affected: list[str] | None = None,
    constants: Mapping[str, Any] | None = None,
) -> CauseFinding:
    """Return a finding; ``ratio`` is how many times more the other side's setting leaves."""
    samples = affected or list(sides.affected)
    made = [each.measure(samples) for each in sides.both]
    photos = f"{len(samples)} photo{'s' if len(samples) > 1 else ''}"
    if sides.group.n_points is not None:
        n_values = sum(sides.golden.side.pictures[sample].values.size for sample in samples)
        photos = f"{n_values} points of {photos}"
    after = max(made)
    return make_finding(
        sides.group,
        cause,
        f"{change}: replayed on {photos}, {settings[0]} gives the golden's inputs "
        f"{describe_residual(made[0])}, {settings[1]} gives today's {describe_residual(made[1])}",
        Residuals(
            before=sides.measure_gap(samples),
            after=after,
            runner_up=float("inf") if ratio is None else max(after, 1e-6) * ratio,
        ),
        hypothesis=hypothesis,
        expected=settings[0],
        actual=settings[1],
        affected=samples,
        constants={
            "replayed_expected": float(f"{made[0]:.3g}"),
            "replayed_actual": float(f"{made[1]:.3g}"),
            **(constants or {}),
        },
    )


_COMPARISONS: tuple[Callable[[Sides], CauseFinding | None], ...] = (
    _compare_geometry,
    _compare_interpolation,
    _compare_treatment,
    _compare_order,
    _compare_scaling,
    _compare_decoding,
)
