"""What is said of inputs that differ and that no replay explains.

What belongs here: plain facts of a difference: how far, where, on which samples, and whether it is as
small as another decoder's rounding, or in fine detail only.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pytest_modelreg.diagnose.inputs.finding import Group, Residuals, describe_scope, make_finding
from pytest_modelreg.diagnose.inputs.pair import Floats, NumberPair, measure_distance
from pytest_modelreg.diagnose.traits import find_common_trait
from pytest_modelreg.domain.cause import Cause, CauseFinding

_UNSURE = 0.3
_BORDER = 0.05
_BLOCK_PX = 8
_FINE = 0.3  # what remains of a difference in fine detail at an eighth of the size
_EDGES = 0.35  # correlation of a difference with the picture's own edges that resizing makes
_ONE_LEVEL = 1.01
_KINDS_OF_FILES = (
    *("16 bits", "transparency", "image mode", "no colour", "file type"),
    *("an EXIF orientation", "EXIF orientation"),
)
_LEFT = 0.2  # of what is left in the worst sample: less is what a line fitted to all makes of the others


def explain_remainder(
    group: Group, pairs: Sequence[NumberPair], *, level: float | None = None, is_part: bool = False
) -> CauseFinding:
    """Return a finding that names no setting.

    Parameters
    ----------
    pairs : sequence of (expected, actual)
        As they are after what is explained is undone.
    level : float, optional
        One grey level in the inputs' unit, where photos were replayed.
    is_part : bool
        Whether other findings explain some of it.
    """
    shapes = sorted(
        {(expected.shape, actual.shape) for expected, actual in pairs if expected.shape != actual.shape}
    )
    residual = 1.0 if shapes else measure_distance(pairs)
    rest = "what is left" if is_part else "inputs differ, and no replayed change explains it"
    facts = [f"rel_l2 {residual:.2g}"] if not shapes else [f"shape {shapes[0][1]} instead of {shapes[0][0]}"]
    if group.n_points is not None:
        facts[0] += f" at {describe_scope(group)}"
    constants: dict[str, object] = {}
    cause, confidence = Cause.PREPROCESS_OTHER, _UNSURE
    left = _list_left(group, pairs) if is_part and not shapes else None
    if not shapes:
        where = _locate(pairs)
        if where:
            facts.append(where)
            constants["where"] = where
        largest = max((float(np.max(np.abs(e - a))) for e, a in pairs if e.size), default=0.0)
        if level and largest <= _ONE_LEVEL * level:
            where = "nowhere" if group.n_points is None else "at no point"
            facts.append(f"{where} more than one grey level: another decoder or rounding makes that")
            cause = Cause.PREPROCESS_DECODE
        elif _is_fine_detail(pairs):
            facts.append("in edges and fine detail only, as another resize or compression makes it")
            cause = Cause.PREPROCESS_INTERPOLATION if not group.files else cause
    samples = left if left is not None else [pair.sample for pair in group.affected]
    if cause is Cause.PREPROCESS_OTHER and _are_read_otherwise(group, samples):
        cause = Cause.PREPROCESS_DECODE
    return make_finding(
        group,
        cause,
        f"{rest}: {', '.join(facts)}",
        Residuals(before=residual, after=residual),
        hypothesis="none",
        expected="as in the golden",
        actual=facts[0],
        affected=left,
        confidence=confidence,
        constants=constants,
    )


def _are_read_otherwise(group: Group, samples: Sequence[str]) -> bool:
    """Whether what differs is all files of one kind, and none of another: then it is how that is decoded."""
    trait = find_common_trait(group.files, samples) if len(samples) < len(group.pairs) else None
    return trait is not None and trait.startswith(_KINDS_OF_FILES)


def _list_left(group: Group, pairs: Sequence[NumberPair]) -> list[str] | None:
    """Return the samples in which something is left, None where pairs are not the samples'."""
    if len(pairs) != len(group.affected):
        return None
    gaps = {pair.sample: measure_distance([sides]) for pair, sides in zip(group.affected, pairs, strict=True)}
    least = _LEFT * max(gaps.values())
    return [sample for sample, gap in gaps.items() if gap > least]


def _locate(pairs: Sequence[NumberPair]) -> str | None:
    """Return where inputs differ if it is only at their border or only inside of it."""
    border, inside = False, False
    for expected, actual in pairs:
        planes = _to_planes(expected), _to_planes(actual)
        if planes[0] is None or planes[1] is None:
            return None
        differs = np.any(planes[0] != planes[1], axis=0)
        width = max(1, round(_BORDER * min(differs.shape)))
        inner = differs[width:-width, width:-width]
        inside = inside or bool(np.any(inner))
        border = border or int(differs.sum()) > int(inner.sum())
    if border and not inside:
        return "only at the border"
    return "only inside the border" if inside and not border else None


def _to_planes(array: Floats) -> Floats | None:
    if array.ndim == 2:
        array = array[np.newaxis]
    if array.ndim != 3:
        return None
    if array.shape[2] in (1, 3) and array.shape[0] > 4:
        array = np.moveaxis(array, 2, 0)
    return array if min(array.shape[1:]) >= 4 * _BLOCK_PX else None


def _is_fine_detail(pairs: Sequence[NumberPair]) -> bool:
    """Whether a difference averages out over blocks and lies where the picture has edges."""
    fine, total, along = 0.0, 0.0, []
    for expected, actual in pairs:
        first, second = _to_planes(expected), _to_planes(actual)
        if first is None or second is None or first.shape != second.shape:
            return False
        plane = np.asarray(first, np.float64).mean(axis=0)
        gap = plane - np.asarray(second, np.float64).mean(axis=0)
        rows, columns = (size // _BLOCK_PX * _BLOCK_PX for size in gap.shape)
        blocks = gap[:rows, :columns].reshape(rows // _BLOCK_PX, _BLOCK_PX, columns // _BLOCK_PX, _BLOCK_PX)
        fine += float(np.sum(blocks.mean(axis=(1, 3)) ** 2)) * _BLOCK_PX**2
        total += float(np.sum(gap * gap))
        edges = np.hypot(*np.gradient(plane))
        if float(gap.std()) > 0 and float(edges.std()) > 0:
            along.append(float(np.corrcoef(np.abs(gap).ravel(), edges.ravel())[0, 1]))
    return total > 0 and fine < _FINE**2 * total and bool(along) and float(np.median(along)) > _EDGES
