"""Whether photos are fitted to the input by another rule, or padded with another colour.

What belongs here: comparing the geometries of two recipes, and saying of them what is shown to differ.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pytest_modelreg.diagnose.inputs.setting_finding import make_setting_finding
from pytest_modelreg.diagnose.inputs.sides import Sides
from pytest_modelreg.domain.cause import Cause, CauseFinding

_ONE_LEVEL = 1.0
_AS_WELL = 1.05  # times as much as the best rounding leaves


def compare_geometry(sides: Sides) -> CauseFinding | None:
    """Return how photos are fitted otherwise, or padded with another colour; None where neither is."""
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
    return make_setting_finding(
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
    return make_setting_finding(
        sides,
        Cause.PREPROCESS_GEOMETRY,
        "padding",
        [f"padding of level {each}" for each in words],
        f"preprocess pads with level {words[1]} instead of {words[0]}",
        None,
        constants={"expected_pad": pads[0].round(3).tolist(), "actual_pad": pads[1].round(3).tolist()},
    )
