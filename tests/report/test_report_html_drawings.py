"""What is drawn on a page: samples with their panels, and plots with their scales."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from pytest_modelreg.domain.exhibit import (
    Bar,
    Box,
    BoxPair,
    CaseExhibit,
    ClassBars,
    Exhibits,
    InputDifference,
    MaskPair,
    ModuleError,
    Picture,
    SampleFace,
    ValuePairs,
)
from pytest_modelreg.domain.result import SampleMeasures
from pytest_modelreg.report.html.detail import LEVELS
from pytest_modelreg.report.html.picture_shelf import PictureShelf
from pytest_modelreg.report.html.plots import (
    BOTTOM,
    HEIGHT,
    TOP,
    SampleError,
    plot_module_errors,
    plot_sample_errors,
    plot_value_pairs,
)
from pytest_modelreg.report.html.scale import LinearScale, LogScale
from tests.report.html_page import make_record, make_sample, read_page, render


def make_picture(content, width=120, height=90):
    """A picture whose bytes are these."""
    return Picture(data=content, media_type="image/jpeg", width=width, height=height)


NO_FACE = SampleFace()


def show(*panels, face=NO_FACE, record=None, **fields):
    """The page of one case whose only sample has these panels."""
    case = CaseExhibit(panels={"s1": panels} if panels else {}, **fields)
    record = record or make_record()
    return read_page(
        render(record, exhibits=Exhibits(faces={"toy": {"s1": face}}, cases={record["id"]: case}))
    )


def test_class_bars_stand_side_by_side():
    """Length is the share; the numbers stand beside for those who do not see it."""
    page = show(ClassBars(output="logits", bars=(Bar(label="cat", expected=0.8, actual=0.25),)))
    table = page.find("table", of="bars")
    assert [bar.attributes["width"] for bar in table.find_all("rect")] == ["80.0", "25.0"]
    assert table.find("tr").text == "cat80.0 → 25.0 %"


def test_boxes_are_drawn_over_the_thumbnail_of_both_sides():
    """In shares of the picture, so that a small one shows them where they are."""
    box = Box(left=0.25, top=0.5, right=0.75, bottom=1.0, label="face 0.98")
    panel = BoxPair(output="boxes", expected=(box,), actual=(), scale="coordinates are pixels")
    page = show(panel, face=SampleFace(picture=make_picture(b"photo")))
    trio = page.find("div", of="trio")
    drawn = trio.find("rect").attributes
    assert {name: drawn[name] for name in ("x", "y", "width", "height")} == {
        "x": "30.0",
        "y": "45.0",
        "width": "60.0",
        "height": "45.0",
    }
    assert [figure.find("figcaption").text for figure in trio.find_all("figure")] == [
        "expected: 1",
        "actual: 0",
    ]
    assert len(trio.find_all("use")) == 2
    assert "coordinates are pixels" in trio.text


def test_masks_lie_over_the_thumbnail():
    """Stretched to it, with the share of pixels that changed."""
    panel = MaskPair(
        output="mask",
        expected=make_picture(b"then", 8, 8),
        actual=make_picture(b"now", 8, 8),
        changed=make_picture(b"changed", 8, 8),
        n_changed=16,
        n_places=64,
    )
    page = show(panel, face=SampleFace(picture=make_picture(b"photo")))
    figures = page.find("div", of="trio").find_all("figure")
    assert len(figures) == 3
    assert all(len(figure.find_all("use")) == 2 for figure in figures)
    assert "25.00% of the pixels changed" in page.find("div", of="trio").text


@pytest.mark.parametrize(("difference", "n_figures"), [(make_picture(b"difference"), 3), (None, 2)])
def test_difference_of_inputs_says_how_much_it_is_amplified(difference, n_figures):
    """Without that a reader takes it for the difference itself; inputs of other shapes have none."""
    panel = InputDifference(
        path="",
        expected=make_picture(b"then"),
        actual=make_picture(b"now"),
        difference=difference,
        gain=37.04,
        largest=0.012,
    )
    trio = show(panel).find("div", of="trio")
    assert len(trio.find_all("figure")) == n_figures
    assert ("amplified 37 times; the largest is 0.012" in trio.text) == (n_figures == 3)


def test_every_picture_is_embedded_once():
    """However many cases show it, also where two samples are the same picture."""
    face = SampleFace(picture=make_picture(b"photo"))
    text = render(
        make_record("a"),
        make_record("b"),
        exhibits=Exhibits(faces={"toy": {"s1": face, "s2": replace(face)}}),
    )
    page = read_page(text)
    assert text.count("data:image/jpeg;base64,") == 1
    assert len(page.find_all("use")) == 2


def test_pictures_beyond_what_a_page_may_weigh_are_left_out():
    """The first ones stay; what was there already costs nothing more."""
    shelf = PictureShelf(10)
    first = shelf.add(make_picture(b"12345678"))
    assert first is not None
    assert shelf.add(make_picture(b"abc")) is None
    assert shelf.add(make_picture(b"12345678")) == first
    assert shelf.add(make_picture(b"ab")) is not None
    assert len(shelf.pictures) == 2


def test_sample_without_a_picture_shows_its_text():
    """A sentence is what a reader of a language model looks at."""
    page = show(face=SampleFace(text="the cat sat", label="noun", tags=("short",)))
    card = page.find("li", of="card")
    assert card.find("blockquote").text == "the cat sat"
    assert "label noun" in card.text
    assert card.attributes["data-tags"] == " 0 "
    assert [option.text for option in page.find("select").find_all("option")] == ["all samples", "short"]


def test_page_stops_at_the_samples_that_it_may_show():
    """Of a thousand, the worst as cards and tiles; how many are not shown is said."""
    names = tuple(f"s{number}" for number in range(1000))
    measures = SampleMeasures(
        ids=names, failed=(True,) * 1000, rel_l2={"a": tuple(float(number) for number in range(1000))}
    )
    page = show(measures=measures, record=make_record(samples=[make_sample("s999", rel_l2=999.0)]))
    tiles = page.find_all("li", of="tile")
    assert len(tiles) == LEVELS[0].tiles
    assert tiles[0].text == "s998 998"
    assert f"{1000 - 1 - LEVELS[0].tiles} more samples" in page.find("article").text


def test_checkpoints_of_one_suite_are_plotted_in_order():
    """Only where cases differ in nothing else: another runtime is another line."""
    records = [make_record("reference", "match", 0.0)]
    records += [
        make_record(f"v{number}", "match", 10.0**-number, axes={"checkpoint": f"weights/v{number}.pt"})
        for number in (3, 2, 1)
    ]
    records.append(make_record("other", axes={"checkpoint": "weights/v1.pt", "runtime": "onnx"}))
    page = read_page(render(*records))
    section = page.find("section", **{"aria-labelledby": "checkpoints-title"})
    (plot,) = section.find_all("figure")
    assert "reference 0; v3.pt 0.001; v2.pt 0.01; v1.pt 0.1" in plot.text
    places = [float(dot.attributes["cy"]) for dot in plot.find_all("circle")]
    assert places == sorted(places, reverse=True)


def test_one_checkpoint_makes_no_plot():
    """Just inside: there is no course of one point."""
    page = read_page(render(make_record("v1", axes={"checkpoint": "weights/v1.pt"})))
    assert page.find_all("section", **{"aria-labelledby": "checkpoints-title"}) == []


def test_error_plot_marks_what_drifts_and_draws_the_limit():
    """What failed is not told by height alone: limits differ by tag and check."""
    errors = [SampleError(id="a", rel_l2=0.1, failed=True), SampleError(id="b", rel_l2=1e-6, failed=False)]
    plot = plot_sample_errors(errors, 1e-5, most=10)
    assert plot is not None
    assert [dot.is_bad for dot in plot.dots] == [True, False]
    (limit,) = plot.rules
    assert plot.dots[0].y < limit.y1 < plot.dots[1].y
    assert "1 of 2 samples drift; largest 0.1 (a)" in plot.summary


def test_error_plot_of_many_samples_says_that_it_shows_the_worst():
    """A plot that leaves out in silence would read as all."""
    errors = [SampleError(id=str(number), rel_l2=1.0, failed=True) for number in range(50)]
    plot = plot_sample_errors(errors, None, most=20)
    assert plot is not None
    assert len(plot.dots) == 20
    assert plot.x_label == "the worst 20 of 50 samples, worst first"


def test_module_plot_names_the_first_that_answers_otherwise():
    """Not the largest: errors grow on their way."""
    depth = [ModuleError(module=name, rel_l2=value) for name, value in (("a", 1e-7), ("b", 0.1), ("c", 0.4))]
    plot = plot_module_errors(depth, most=10)
    assert plot is not None
    assert "first to answer otherwise: b (0.1); largest: c (0.4)" in plot.summary
    assert [dot.is_bad for dot in plot.dots] == [False, True, False]


def test_values_that_did_not_change_lie_on_the_diagonal():
    """Both axes have one scale."""
    plot = plot_value_pairs(ValuePairs(output="y", expected=(0.0, 1.0, 2.0), actual=(0.0, 1.0, 1.0)), most=9)
    assert plot is not None
    (diagonal,) = plot.rules
    slope = (diagonal.y2 - diagonal.y1) / (diagonal.x2 - diagonal.x1)
    off = [dot.y - (diagonal.y1 + slope * (dot.x - diagonal.x1)) for dot in plot.dots]
    assert off[:2] == pytest.approx([0.0, 0.0])
    assert off[2] > 10
    assert "the furthest is 1 off" in plot.summary


def test_zero_and_infinity_have_places_of_their_own():
    """On a scale of powers neither has any; both are what a reader has to see."""
    scale = LogScale([0.0, 1e-3, math.inf, math.nan], start=HEIGHT - BOTTOM, end=TOP)
    assert scale.place(0.0) == HEIGHT - BOTTOM
    assert scale.place(math.inf) == scale.place(math.nan) == TOP
    assert TOP < scale.place(1e-3) < HEIGHT - BOTTOM
    labels = [tick.label for tick in scale.ticks]
    assert (labels[0], labels[-1]) == ("0", "inf")


@pytest.mark.parametrize("values", [[0.0], [5e-324, 1e308], [1.0, 1.0], [math.nan]])
def test_log_scale_takes_whatever_there_is(values):
    """One value, all that floats can be, nothing finite: every place is inside, no tick twice."""
    scale = LogScale(values, start=176.0, end=24.0)
    assert all(24.0 <= scale.place(value) <= 176.0 for value in values)
    assert len({tick.label for tick in scale.ticks}) == len(scale.ticks) <= 12


@pytest.mark.parametrize("values", [[0.0, 0.0], [-1e300, 1e300], [1.0, 1.0 + 1e-15], [-3.0, 5.0]])
def test_linear_scale_takes_whatever_there_is(values):
    """All values equal, or as far apart as floats can be."""
    scale = LinearScale(values, start=52.0, end=408.0)
    assert all(52.0 <= scale.place(value) <= 408.0 for value in values)
    assert all(51.9 <= tick.at <= 408.1 for tick in scale.ticks)


def test_sample_that_is_no_number_is_at_the_top():
    """A strict JSON record holds null and a reason."""
    sample = make_sample(rel_l2=None) | {"rel_l2_reason": "inf"}
    page = read_page(render(make_record(rel_l2=None, samples=[sample])))
    assert "rel_l2 inf" in page.find("li", of="card").text
    assert page.find("tr", of="row").find_all("td", of="n")[0].text == "inf"
