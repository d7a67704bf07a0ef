"""The gallery of one case: samples looked at closely, and tiles of the others.

What belongs here: bringing a sample's record, measures, face and panels together.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_modelreg.domain.exhibit import (
    Box,
    BoxPair,
    CaseExhibit,
    ClassBars,
    InputDifference,
    MaskPair,
    SampleFace,
)
from pytest_modelreg.report.html.detail import Detail
from pytest_modelreg.report.html.picture_shelf import PictureShelf, ShelvedPicture
from pytest_modelreg.report.html.plots import SampleError, write_number
from pytest_modelreg.report.strict_json import read_number

_NO_FACE = SampleFace()


@dataclass(frozen=True, kw_only=True)
class BoxesView:
    """Boxes over the thumbnail, expected and actual."""

    output: str
    expected: Sequence[Box]
    actual: Sequence[Box]
    scale: str
    n_expected: int
    n_actual: int


@dataclass(frozen=True, kw_only=True)
class LayersView:
    """Pictures side by side, expected first; of masks each lies over the thumbnail."""

    title: str
    is_over_thumbnail: bool
    layers: Sequence[tuple[str, ShelvedPicture]]
    caption: str
    legend: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True, kw_only=True)
class SampleView:
    """One sample of one case.

    Parameters
    ----------
    tags : sequence of str
        Its groups.
    tag_numbers : str
        Places of these among all tags of the page, between spaces.
    """

    id: str
    failed: bool
    near_tie: bool
    error: str
    expected: str
    actual: str
    picture: ShelvedPicture | None
    text: str
    label: str
    tags: Sequence[str]
    tag_numbers: str
    bars: Sequence[ClassBars] = ()
    boxes: Sequence[BoxesView] = ()
    layers: Sequence[LayersView] = ()


class Gallery:
    """Makes views of samples, until there are enough of them on the page.

    Parameters
    ----------
    tags : sequence of str
        All tags of the page.
    """

    def __init__(self, shelf: PictureShelf, detail: Detail, tags: Sequence[str]) -> None:
        self._shelf = shelf
        self._detail = detail
        self._tag_numbers = {tag: number for number, tag in enumerate(tags)}
        self._left_cards = detail.cards
        self._left_tiles = detail.tiles

    def take_cards(
        self, record: Mapping[str, Any], exhibit: CaseExhibit, faces: Mapping[str, SampleFace]
    ) -> list[SampleView]:
        """Return the samples that the record details, and others that there is something to look at of."""
        details = {str(sample["id"]): sample for sample in record["samples"]}
        errors = {error.id: error for error in list_errors(record, exhibit)}
        names = [name for name in errors if name in details]
        names += [name for name in errors if name not in details and name in exhibit.panels]
        chosen = names[: self._left_cards]
        self._left_cards -= len(chosen)
        views = []
        for name in chosen:
            sample = details.get(name, {})
            views.append(
                self._show(
                    errors[name],
                    faces.get(name, _NO_FACE),
                    expected=str(sample.get("expected", "")),
                    actual=str(sample.get("actual", "")),
                    near_tie=sample.get("near_tie") is True,
                    panels=exhibit.panels.get(name, ()),
                )
            )
        return views

    def take_tiles(
        self, errors: Iterable[SampleError], faces: Mapping[str, SampleFace], without: Iterable[SampleView]
    ) -> list[SampleView]:
        """Return further samples, the worst first."""
        taken = {view.id for view in without}
        chosen = [error for error in errors if error.id not in taken][: self._left_tiles]
        self._left_tiles -= len(chosen)
        return [self._show(error, faces.get(error.id, _NO_FACE)) for error in chosen]

    def _show(
        self,
        error: SampleError,
        face: SampleFace,
        *,
        expected: str = "",
        actual: str = "",
        near_tie: bool = False,
        panels: Sequence[Any] = (),
    ) -> SampleView:
        most = self._detail.characters
        numbers = [str(self._tag_numbers[tag]) for tag in face.tags if tag in self._tag_numbers]
        layers = [self._layer(panel) for panel in panels if isinstance(panel, (MaskPair, InputDifference))]
        return SampleView(
            id=error.id,
            failed=error.failed,
            near_tie=near_tie,
            error=write_number(error.rel_l2),
            expected=cut(expected, most),
            actual=cut(actual, most),
            picture=self._shelf.add(face.picture),
            text=cut(face.text, most),
            label=cut(face.label, most),
            tags=face.tags,
            tag_numbers=f" {' '.join(numbers)} ",
            bars=[panel for panel in panels if isinstance(panel, ClassBars)],
            boxes=[_view_boxes(panel) for panel in panels if isinstance(panel, BoxPair)],
            layers=[layer for layer in layers if layer.layers],
        )

    def _layer(self, panel: MaskPair | InputDifference) -> LayersView:
        third = panel.changed if isinstance(panel, MaskPair) else panel.difference
        shelved = [
            (name, self._shelf.add(picture))
            for name, picture in (
                ("expected", panel.expected),
                ("actual", panel.actual),
                ("difference", third),
            )
        ]
        if isinstance(panel, MaskPair):
            share = panel.n_changed / panel.n_places if panel.n_places else 0.0
            title, caption = f"mask {panel.output}", f"{share:.2%} of the pixels changed, marked in red"
        else:
            title = f"input {panel.path}".rstrip()
            caption = "of other shapes: expected and actual cannot be subtracted"
            if panel.difference is not None:
                caption = f"difference amplified {panel.gain:.3g} times; the largest is {panel.largest:.3g}"
        return LayersView(
            title=title,
            is_over_thumbnail=isinstance(panel, MaskPair),
            layers=[(name, picture) for name, picture in shelved if picture is not None],
            caption=caption,
            legend=panel.legend if isinstance(panel, MaskPair) else (),
        )


def list_errors(record: Mapping[str, Any], exhibit: CaseExhibit) -> list[SampleError]:
    """Return the error of every sample that there is one of, the largest over outputs, the worst first.

    The record's samples come first, in its order; the rest is the measures'.
    """
    errors = {
        str(sample["id"]): SampleError(
            id=str(sample["id"]), rel_l2=_clear(read_number(sample, "rel_l2")), failed=not sample["ok"]
        )
        for sample in record["samples"]
    }
    measures = exhibit.measures
    others = []
    for at, name in enumerate(measures.ids):
        if name not in errors:
            value = max((_clear(column[at]) for column in measures.rel_l2.values()), default=0.0)
            others.append(SampleError(id=name, rel_l2=value, failed=measures.failed[at]))
    return [*errors.values(), *sorted(others, key=lambda error: (not error.failed, -error.rel_l2))]


def cut(text: str, most: int) -> str:
    """Return the text, its middle left out where it is longer than ``most`` characters."""
    half = (most - 1) // 2
    return text if len(text) <= most else f"{text[:half]}…{text[-half:]}"


def _clear(value: float) -> float:
    return math.inf if math.isnan(value) else value


def _view_boxes(panel: BoxPair) -> BoxesView:
    return BoxesView(
        output=panel.output,
        expected=panel.expected,
        actual=panel.actual,
        scale=panel.scale,
        n_expected=len(panel.expected),
        n_actual=len(panel.actual),
    )
