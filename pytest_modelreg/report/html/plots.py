"""Plots where people would rather look than read: their geometry, drawn by one template.

What belongs here: one function a plot, from numbers to places. To add one, return another :class:`Plot`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_modelreg.domain.exhibit import ModuleError, ValuePairs
from pytest_modelreg.report.html.scale import LinearScale, LogScale, Tick

WIDTH, HEIGHT = 420, 210
LEFT, RIGHT, TOP, BOTTOM = 52, 12, 24, 34
_NOISE = 1e-5
"""Relative error of a module's answer up to which it is what another kernel gives; as diagnosis has it."""


@dataclass(frozen=True, kw_only=True)
class Dot:
    """One value of a plot; ``title`` is what a pointer shows."""

    x: float
    y: float
    title: str
    is_bad: bool = False


@dataclass(frozen=True, kw_only=True)
class Rule:
    """A line across a plot, with what it means."""

    x1: float
    y1: float
    x2: float
    y2: float
    label: str


@dataclass(frozen=True, kw_only=True)
class Plot:
    """A drawing.

    Parameters
    ----------
    summary : str
        What it shows, in a sentence, for those who do not see it.
    line : str
        Places of a line through the dots, as SVG has them; empty for none.
    """

    title: str
    summary: str
    x_label: str
    y_label: str
    x_ticks: Sequence[Tick]
    y_ticks: Sequence[Tick]
    dots: Sequence[Dot]
    rules: Sequence[Rule] = ()
    line: str = ""
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    right: int = WIDTH - RIGHT
    top: int = TOP
    bottom: int = HEIGHT - BOTTOM


@dataclass(frozen=True, kw_only=True)
class SampleError:
    """One sample's error, for plots and tiles."""

    id: str
    rel_l2: float
    failed: bool


def plot_sample_errors(errors: Sequence[SampleError], limit: float | None, *, most: int) -> Plot | None:
    """Return errors by rank, the worst first, with the limit across.

    Parameters
    ----------
    errors : sequence of SampleError
        The worst first.
    """
    shown = errors[:most]
    if not shown:
        return None
    values = [error.rel_l2 for error in shown] + ([limit] if limit else [])
    y = LogScale(values, start=HEIGHT - BOTTOM, end=TOP)
    dots = [
        Dot(
            x=_spread(rank, len(shown)),
            y=y.place(error.rel_l2),
            title=f"{error.id}: {write_number(error.rel_l2)}",
            is_bad=error.failed,
        )
        for rank, error in enumerate(shown)
    ]
    rules = []
    if limit:
        at = y.place(limit)
        rules = [Rule(x1=LEFT, y1=at, x2=WIDTH - RIGHT, y2=at, label=f"limit {write_number(limit)}")]
    n_failed = sum(error.failed for error in errors)
    of = (
        f"the worst {len(shown)} of {len(errors)} samples"
        if len(errors) > len(shown)
        else f"{len(shown)} samples"
    )
    return Plot(
        title="Error per sample",
        summary=f"{n_failed} of {len(errors)} samples drift; largest {write_number(shown[0].rel_l2)} "
        f"({shown[0].id}), smallest shown {write_number(shown[-1].rel_l2)}",
        x_label=f"{of}, worst first",
        y_label="rel_l2",
        x_ticks=_rank_ticks(len(shown)),
        y_ticks=y.ticks,
        dots=dots,
        rules=rules,
    )


def plot_value_pairs(pairs: ValuePairs | None, *, most: int) -> Plot | None:
    """Return elements, expected across and actual up: what did not change lies on the diagonal."""
    if pairs is None or len(pairs.expected) < 2:
        return None
    expected, actual = pairs.expected[:most], pairs.actual[:most]
    both = [*expected, *actual]
    x = LinearScale(both, start=LEFT, end=WIDTH - RIGHT)
    y = LinearScale(both, start=HEIGHT - BOTTOM, end=TOP)
    dots = [
        Dot(x=x.place(before), y=y.place(after), title=f"expected {before:.6g}, got {after:.6g}")
        for before, after in zip(expected, actual, strict=True)
    ]
    diagonal = Rule(
        x1=x.place(x.low), y1=y.place(y.low), x2=x.place(x.high), y2=y.place(y.high), label="no change"
    )
    spread = max(abs(after - before) for before, after in zip(expected, actual, strict=True))
    return Plot(
        title="Expected against actual",
        summary=f"{len(expected)} elements of {pairs.output}; the furthest is {spread:.3g} off the diagonal",
        x_label=f"expected {pairs.output}",
        y_label="actual",
        x_ticks=x.ticks,
        y_ticks=y.ticks,
        dots=dots,
        rules=[diagonal],
    )


def plot_module_errors(depth: Sequence[ModuleError], *, most: int) -> Plot | None:
    """Return how far each module's answer is from the golden's, in the order of the forward pass."""
    if len(depth) < 2:
        return None
    step = -(-len(depth) // most)
    shown = [max(depth[at : at + step], key=lambda each: each.rel_l2) for at in range(0, len(depth), step)]
    y = LogScale([each.rel_l2 for each in shown], start=HEIGHT - BOTTOM, end=TOP)
    first = next((each for each in shown if each.rel_l2 > _NOISE), None)
    dots = [
        Dot(
            x=_spread(position, len(shown)),
            y=y.place(each.rel_l2),
            title=f"{each.module}: {write_number(each.rel_l2)}",
            is_bad=each is first,
        )
        for position, each in enumerate(shown)
    ]
    worst = max(shown, key=lambda each: each.rel_l2)
    parts = "no module answers otherwise"
    if first is not None:
        parts = (
            f"first to answer otherwise: {first.module} ({write_number(first.rel_l2)}); "
            f"largest: {worst.module} ({write_number(worst.rel_l2)})"
        )
    return Plot(
        title="Error by module depth",
        summary=f"{len(depth)} modules in the order of the forward pass; {parts}",
        x_label="modules, first to last",
        y_label="relative error",
        x_ticks=_rank_ticks(len(shown)),
        y_ticks=y.ticks,
        dots=dots,
        line=_join(dots),
    )


def plot_checkpoints(points: Sequence[Mapping[str, Any]], title: str) -> Plot | None:
    """Return the drift of one case a checkpoint, in the order of the suite.

    Parameters
    ----------
    points : sequence of mapping
        ``name``, ``rel_l2`` and ``is_bad`` of each.
    """
    if len(points) < 2:
        return None
    y = LogScale([point["rel_l2"] for point in points], start=HEIGHT - BOTTOM, end=TOP)
    dots = [
        Dot(
            x=_spread(position, len(points)),
            y=y.place(point["rel_l2"]),
            title=f"{point['name']}: {write_number(point['rel_l2'])}",
            is_bad=point["is_bad"],
        )
        for position, point in enumerate(points)
    ]
    step = -(-len(points) // 6)
    ticks = [
        Tick(at=dot.x, label=_shorten(points[position]["name"]))
        for position, dot in enumerate(dots)
        if position % step == 0
    ]
    told = "; ".join(f"{point['name']} {write_number(point['rel_l2'])}" for point in points[:12])
    return Plot(
        title=title,
        summary=f"largest rel_l2 by checkpoint: {told}",
        x_label="checkpoint",
        y_label="rel_l2",
        x_ticks=ticks,
        y_ticks=y.ticks,
        dots=dots,
        line=_join(dots),
    )


def write_number(value: float) -> str:
    """Return a number short enough for a label."""
    return f"{value:.3g}" if math.isfinite(value) else str(value)


def _spread(position: int, n_places: int) -> float:
    width = WIDTH - LEFT - RIGHT
    return round(LEFT + width * (position + 0.5) / n_places, 1)


def _rank_ticks(n_places: int) -> list[Tick]:
    places = sorted({0, n_places // 2, n_places - 1})
    return [Tick(at=_spread(place, n_places), label=str(place + 1)) for place in places]


def _join(dots: Sequence[Dot]) -> str:
    return " ".join(f"{dot.x:.1f},{dot.y:.1f}" for dot in dots)


def _shorten(name: str) -> str:
    return name if len(name) <= 12 else f"{name[:5]}…{name[-6:]}"
