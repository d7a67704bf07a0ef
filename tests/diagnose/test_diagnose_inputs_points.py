"""Changes of preprocessing, planted and named where of the golden's inputs only points are known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image, ImageOps

from pytest_modelreg.diagnose.inputs import InputPair, KnownPoints, PointPair, explain_inputs, explain_points
from pytest_modelreg.domain.cause import CauseFinding
from pytest_modelreg.trace import list_places, read_points, seed_points

PHOTOS = Path(__file__).parents[2] / "fixtures" / "photos"
NAMES = (
    "sk-chelsea.jpg",
    "std-acanthus-mollis.jpg",
    "jxl-room.jpg",
    "sk-astronaut.jpg",
    "edge-exif-orient6.jpg",
    "edge-palette-trns.png",
)
MEAN = np.array([0.485, 0.456, 0.406], np.float32)
STD = np.array([0.229, 0.224, 0.225], np.float32)
NEAREST, BILINEAR, BICUBIC = 0, 2, 3

Array = NDArray[Any]


def prepare(
    image: Image.Image,
    *,
    kernel: int = BICUBIC,
    is_turned: bool = True,
    reads_palette: bool = True,
    short: int = 116,
    shift: int = 0,
    is_normalised: bool = True,
) -> Array:
    """Return float32 (3, 112, 112) as a usual pipeline makes it."""
    if is_turned:
        image = ImageOps.exif_transpose(image)
    if image.mode == "P" and not reads_palette:
        image = Image.fromarray(np.asarray(image))
    image = (image.convert("RGBA") if "transparency" in image.info else image).convert("RGB")
    width, height = image.size
    size = (short, int(short * height / width)) if width <= height else (int(short * width / height), short)
    left, top = (round((side - 112) / 2) + shift for side in size)
    image = image.resize(size, kernel).crop((left, top, left + 112, top + 112))
    levels = np.asarray(image, np.float32) / np.float32(255)
    scaled = (levels - MEAN) / STD if is_normalised else levels
    return np.ascontiguousarray(scaled.transpose(2, 0, 1))


def know(array: Array, name: str, n_values: int = 256) -> KnownPoints:
    """Return what a golden keeps of an input."""
    points = read_points(array, n_values, seed_points(name))
    n_channels, n_places = points.values.shape
    return KnownPoints(
        shape=array.shape,
        dtype=array.dtype,
        axis=points.axis,
        places=list_places(array.size // n_channels, n_places, seed_points(name)),
        values=points.values,
        statistics=points.statistics,
    )


def make_pairs(expected: Mapping[str, Array], actual: Mapping[str, Array], n: int = 256) -> list[PointPair]:
    """Return the golden's points beside this run's inputs, with the photo where there is one."""
    return [
        PointPair(
            sample=name,
            path="",
            expected=know(array, name, n),
            actual=actual[name],
            file=PHOTOS / name if (PHOTOS / name).exists() else None,
            loader="image",
        )
        for name, array in expected.items()
    ]


def prepare_all(pipeline: Callable[[Image.Image], Array]) -> dict[str, Array]:
    """Return what a pipeline makes of every photo."""
    found = {}
    for name in NAMES:
        with Image.open(PHOTOS / name) as image:
            found[name] = pipeline(image)
    return found


def explain(pairs: list[PointPair]) -> tuple[CauseFinding, ...]:
    """Return all causes."""
    return explain_points(pairs, has_time=lambda: True)


def swap(pipeline: Callable[[Image.Image], Array], change: Callable[[Array], Array]) -> Any:
    """Return a pipeline with something done to what it returns."""
    return lambda image: np.ascontiguousarray(change(pipeline(image)))


FAULTS: dict[str, tuple[str, Any]] = {
    "nearest": ("preprocess.interpolation", partial(prepare, kernel=NEAREST)),
    "bilinear": ("preprocess.interpolation", partial(prepare, kernel=BILINEAR)),
    "blue first": ("preprocess.channel_order", swap(prepare, lambda x: x[::-1])),
    "no normalisation": ("preprocess.normalization", partial(prepare, is_normalised=False)),
    "divided twice": ("preprocess.value_range", swap(prepare, lambda x: x / np.float32(255))),
    "channel last": ("preprocess.layout", swap(prepare, lambda x: x.transpose(1, 2, 0))),
    "mirrored": ("preprocess.geometry", swap(prepare, lambda x: x[:, :, ::-1])),
    "crop off by one": ("preprocess.geometry", partial(prepare, shift=1)),
    "another size": ("preprocess.geometry", partial(prepare, short=128)),
    "orientation ignored": ("preprocess.decode", partial(prepare, is_turned=False)),
    "palette indices": ("preprocess.decode", partial(prepare, reads_palette=False)),
    "clipped": ("preprocess.value_range", swap(prepare, lambda x: x.clip(-1, 1))),
}


@pytest.mark.parametrize("n_values", [256, 48])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_named_first(fault: str, n_values: int) -> None:
    """Without one whole input of the golden, also where it keeps few values."""
    cause, pipeline = FAULTS[fault]
    first, *_ = explain(make_pairs(prepare_all(prepare), prepare_all(pipeline), n_values))
    assert first.cause.value == cause
    assert 0.6 < first.confidence < 0.9


def test_rounding_is_no_fault() -> None:
    """The same formula in another order of operations."""
    today = {name: (array * STD[0]) / STD[0] for name, array in prepare_all(prepare).items()}
    assert explain(make_pairs(prepare_all(prepare), today)) == ()


def test_evidence_says_at_how_many_points() -> None:
    """Nothing is claimed of the rest of an input."""
    pairs = make_pairs(prepare_all(prepare), prepare_all(partial(prepare, is_normalised=False)))
    first, *_ = explain(pairs)
    n_points = len(NAMES) * 85 * 3
    assert first.evidence["n_points"] == n_points
    assert f"{n_points} points of 6 samples" in first.summary


def test_points_are_less_certain_than_whole_inputs() -> None:
    """The same change, found by the same replay."""
    golden, today = prepare_all(prepare), prepare_all(partial(prepare, is_normalised=False))
    whole = [
        InputPair(sample=name, path="", expected=golden[name], actual=today[name], file=None, loader="image")
        for name in NAMES
    ]
    exact, *_ = explain_inputs(whole, has_time=lambda: True)
    points, *_ = explain(make_pairs(golden, today))
    assert points.cause is exact.cause
    assert points.confidence < exact.confidence


def test_a_difference_beside_the_points_is_not_overlooked() -> None:
    """Channels as a whole are held against their statistics: what fits the points alone is doubted."""
    golden, today = prepare_all(prepare), prepare_all(partial(prepare, is_normalised=False))
    for name, array in today.items():
        flat = array.reshape(3, -1)
        is_seen = np.isin(np.arange(flat.shape[1]), know(golden[name], name).places)
        flat[:, ~is_seen] *= np.float32(0.3)
    first, *_ = explain(make_pairs(golden, today))
    assert first.confidence <= 0.5
    assert "away from the points" in first.summary
    assert first.evidence["statistics"]["largest_gap"] > 0.05


def noise(seed: int, *shape: int) -> Array:
    """Return smooth random numbers, so that neighbours are alike."""
    found = np.random.default_rng(seed).normal(size=shape)
    for axis in range(found.ndim):
        found = found + np.roll(found, 1, axis)
    return found.astype(np.float32)


def pictures(n: int = 6, shape: tuple[int, ...] = (3, 40, 60)) -> dict[str, Array]:
    """Return pictures of which there are no files."""
    return {f"s{number}": noise(number, *shape) for number in range(n)}


def test_a_move_is_found_without_files() -> None:
    """A crop that is one pixel off: today's inputs show the golden's one pixel further down."""
    today = {name: np.roll(array, 1, axis=1) for name, array in pictures().items()}
    first, *_ = explain(make_pairs(pictures(), today))
    assert first.cause.value == "preprocess.geometry"
    assert "moved by 1 px down" in first.summary
    assert first.evidence["constants"] == {"down_px": 1, "right_px": 0}


def test_other_pictures_are_no_move() -> None:
    """Where nothing fits, nothing is named."""
    today = {name: noise(99 - number, 3, 40, 60) for number, name in enumerate(pictures())}
    (first,) = explain(make_pairs(pictures(), today))
    assert first.cause.value == "preprocess.other"
    assert first.evidence["hypothesis"] == "none"


def test_numbers_of_any_shape_are_followed() -> None:
    """An affine change of a long vector; the samples that do not differ are no part of it."""
    golden = pictures(4, (5000,))
    today = {name: array * 3 + 1 if name < "s2" else array for name, array in golden.items()}
    first, *_ = explain(make_pairs(golden, today))
    assert first.cause.value == "preprocess.normalization"
    assert first.evidence["samples"] == ["s0", "s1"]


def test_missing_values_are_told_apart_from_a_scale() -> None:
    """NaN that comes as zero, at points."""
    golden = pictures()
    for array in golden.values():
        array[:, ::3] = np.nan
    today = {name: np.nan_to_num(array) for name, array in golden.items()}
    first, *_ = explain(make_pairs(golden, today))
    assert first.evidence["hypothesis"] == "missing values"


def test_another_dtype_is_told() -> None:
    """Same values at all points."""
    today = {name: array.astype(np.float64) for name, array in pictures().items()}
    (first,) = explain(make_pairs(pictures(), today))
    assert first.evidence["hypothesis"] == "dtype"


def test_a_few_points_name_nothing() -> None:
    """What would follow anything is no evidence: another sample of the same is not enough either."""
    today = {"s0": pictures()["s0"] * 2}
    (first,) = explain(make_pairs({"s0": pictures()["s0"]}, today, 60))
    assert first.evidence["hypothesis"] == "none"


def test_short_inputs_are_known_as_a_whole() -> None:
    """Token ids: points are all of them, and everything can be asked."""
    golden = {f"s{number}": np.arange(5, 37) + number for number in range(6)}
    today = {name: np.concatenate([ids[:-8], np.zeros(8, ids.dtype)]) for name, ids in golden.items()}
    whole = [
        InputPair(sample=name, path="", expected=golden[name], actual=today[name], file=None, loader="text")
        for name in golden
    ]
    assert explain(make_pairs(golden, today)) == explain_inputs(whole, has_time=lambda: True)


def explain_with_others(golden: dict[str, Array], today: dict[str, Array], n_whole: int) -> CauseFinding:
    """Return the first cause, the first samples being kept whole and the others at points."""
    names = list(golden)
    whole = [
        InputPair(
            sample=name,
            path="",
            expected=golden[name],
            actual=today[name],
            file=PHOTOS / name if (PHOTOS / name).exists() else None,
            loader="image",
        )
        for name in names[:n_whole]
    ]
    rest = {name: golden[name] for name in names[n_whole:]}
    return explain_inputs(whole, has_time=lambda: True, others=make_pairs(rest, today))[0]


def test_an_explanation_is_held_against_other_samples() -> None:
    """A line that was found on whole inputs holds for two that are known at points, and not for a third."""
    golden = pictures()
    today = {name: array * 2 for name, array in golden.items()}
    today["s5"] = golden["s5"] * 3
    first = explain_with_others(golden, today, 3)
    assert first.evidence["confirmed"] == {"n_tried": 3, "n_held": 2, "not_held": ["s5"]}
    assert "at points of 3 other samples it holds for 2" in first.summary


def test_a_recipe_is_held_against_other_photos() -> None:
    """Their files are prepared by it, each read as it fits best."""
    first = explain_with_others(prepare_all(prepare), prepare_all(partial(prepare, kernel=NEAREST)), 3)
    assert first.cause.value == "preprocess.interpolation"
    assert first.evidence["confirmed"] == {"n_tried": 3, "n_held": 3, "not_held": []}


def test_photos_that_another_change_touches_too_are_told() -> None:
    """Today's of one photo follow another recipe than today's of the others."""
    today = prepare_all(partial(prepare, kernel=NEAREST))
    with Image.open(PHOTOS / NAMES[3]) as image:
        today[NAMES[3]] = prepare(image, kernel=NEAREST, short=150)
    first = explain_with_others(prepare_all(prepare), today, 3)
    assert first.evidence["confirmed"]["not_held"] == [NAMES[3]]


def test_an_explanation_that_holds_for_no_other_sample_is_doubted() -> None:
    """A line that fits three samples, and none of the three that it was not found on."""
    golden = pictures()
    today = {name: array * 2 for name, array in golden.items()}
    for name in ("s3", "s4", "s5"):
        today[name] = golden[name] * 3
    first = explain_with_others(golden, today, 3)
    assert first.evidence["confirmed"]["n_held"] == 0
    assert first.confidence <= 0.3


def test_an_explanation_must_leave_less_than_there_was() -> None:
    """Leaving as much as no explanation does is not holding."""
    golden = pictures()
    rng = np.random.default_rng(3)
    today = {name: array * 1.02 + rng.normal(0, 4e-3, array.shape) for name, array in golden.items()}
    for name in ("s3", "s4", "s5"):
        today[name] = golden[name] + rng.normal(0, 0.01, golden[name].shape)
    first = explain_with_others(golden, today, 3)
    assert first.evidence.get("confirmed", {"n_held": 0})["n_held"] == 0


CURVED: dict[str, Any] = {
    "gamma": swap(partial(prepare, is_normalised=False), lambda x: x ** np.float32(1.8)),
    "cut off": swap(partial(prepare, is_normalised=False), lambda x: np.minimum(1.3 * x, np.float32(1))),
}


@pytest.mark.parametrize("curve", CURVED)
def test_a_curve_is_found_at_points(curve: str) -> None:
    """Points of all samples together are enough to bend it."""
    golden = prepare_all(partial(prepare, is_normalised=False))
    first, *_ = explain(make_pairs(golden, prepare_all(CURVED[curve])))
    assert first.cause.value == "preprocess.value_range"
    assert first.evidence["hypothesis"] == "curve"
