"""Inputs that are the golden's in other places, on another scale or cut: told from the arrays alone."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from pytest_modelreg.diagnose.inputs import InputPair, explain_inputs

MEAN = np.array([0.485, 0.456, 0.406]).reshape(3, 1, 1)
STD = np.array([0.229, 0.224, 0.225]).reshape(3, 1, 1)


def draw_levels(seed: int, height: int = 64, width: int = 64) -> np.ndarray:
    """Return a picture of whole levels with coarse and fine structure, float64 (3, height, width)."""
    rng = np.random.default_rng(seed)
    coarse = rng.uniform(0, 255, (3, height // 8 + 1, width // 8 + 1))
    smooth = np.kron(coarse, np.ones((8, 8)))[:, :height, :width]
    shared = rng.normal(0, 20, (1, height, width))
    return np.clip(np.round(0.8 * smooth + 25 + shared + rng.normal(0, 5, smooth.shape)), 0, 255)


def explain(
    golden: Callable, today: Callable, *, n: int = 4, height: int = 64, width: int = 64, affected: int = 99
):
    """Return the findings for a few pictures, of which the first ones are prepared another way today."""
    levels = [draw_levels(seed, height, width) for seed in range(n)]
    return explain_inputs(
        [
            InputPair(
                sample=f"s{index}",
                path="",
                expected=np.asarray(golden(each), np.float32),
                actual=np.asarray((today if index < affected else golden)(each), np.float32),
                file=None,
                loader="array",
            )
            for index, each in enumerate(levels)
        ],
        has_time=lambda: True,
    )


def imagenet(levels: np.ndarray) -> np.ndarray:
    """Normalise by ImageNet's constants."""
    return (levels / 255 - MEAN) / STD


def lite(levels: np.ndarray) -> np.ndarray:
    """Normalise as EfficientNet-Lite does."""
    return (levels - 127) / 128


def unit(levels: np.ndarray) -> np.ndarray:
    """Scale to 0 to 1."""
    return levels / 255


def raw(levels: np.ndarray) -> np.ndarray:
    """Leave levels."""
    return levels


SCALINGS = {
    "missing": (imagenet, unit, "normalization", "ImageNet's mean and deviation", "0 to 1"),
    "missing, lite": (lite, unit, "normalization", "(x - 127) / 128", "0 to 1"),
    "added": (unit, imagenet, "normalization", "0 to 1", "ImageNet's mean and deviation"),
    "levels": (lite, raw, "value_range", "(x - 127) / 128", "0 to 255"),
    "levels for 0 to 1": (unit, raw, "value_range", "0 to 1", "0 to 255"),
    "0 to 1 for levels": (raw, unit, "value_range", "0 to 255", "0 to 1"),
    "twice": (lite, lambda x: lite(lite(x)), "normalization", "(x - 127) / 128", ", applied twice"),
    "imagenet twice": (
        imagenet,
        lambda x: (imagenet(x) - MEAN) / STD,
        "normalization",
        "ImageNet's mean and deviation",
        "ImageNet's mean and deviation, applied twice",
    ),
    "255 twice": (unit, lambda x: x / 255 / 255, "value_range", "0 to 1", "0 to 1/255"),
    "0.5 for imagenet": (
        imagenet,
        lambda x: (x / 255 - 0.5) / 0.5,
        "normalization",
        "ImageNet's mean and deviation",
        "-1 to 1",
    ),
    "blue first constants": (
        imagenet,
        lambda x: (x / 255 - MEAN[::-1]) / STD[::-1],
        "normalization",
        "ImageNet's mean and deviation",
        "ImageNet's mean and deviation, constants blue first",
    ),
    "mean and deviation swapped": (
        imagenet,
        lambda x: (x / 255 - STD) / MEAN,
        "normalization",
        "ImageNet's mean and deviation",
        "ImageNet's mean and deviation, mean and deviation swapped",
    ),
    "mean only": (
        imagenet,
        lambda x: x / 255 - MEAN,
        "normalization",
        "ImageNet's mean and deviation",
        "ImageNet's mean and deviation, mean only",
    ),
    "on levels": (
        imagenet,
        lambda x: (x - MEAN) / STD,
        "value_range",
        "ImageNet's mean and deviation",
        "ImageNet's mean and deviation, applied to 0 to 255",
    ),
    "own constants": (
        imagenet,
        lambda x: (x / 255 - 0.41) / 0.31,
        "normalization",
        "ImageNet's mean and deviation",
        "mean 0.41/0.41/0.41 and deviation 0.31/0.31/0.31",
    ),
    "from own constants": (
        lambda x: (x / 255 - 0.41) / 0.31,
        imagenet,
        "normalization",
        "mean 0.41/0.41/0.41 and deviation 0.31/0.31/0.31",
        "ImageNet's mean and deviation",
    ),
}


@pytest.mark.parametrize("size", [48, 96])
@pytest.mark.parametrize("case", SCALINGS)
def test_scaling_is_read_from_the_line_between_the_sides(case, size):
    """One line for each channel and all samples; its constants have names."""
    golden, today, cause, before, now = SCALINGS[case]
    (finding,) = explain(golden, today, height=size, width=size)
    assert finding.cause.value == f"preprocess.{cause}"
    assert finding.evidence["expected"] == before
    assert finding.evidence["actual"].endswith(now)
    assert finding.evidence["residual_after"] < 1e-5
    assert finding.confidence > 0.9


def test_constants_are_in_the_evidence():
    """expected = scale * actual + offset."""
    (finding,) = explain(lambda x: 2 * unit(x) + 1, unit)
    assert finding.evidence["constants"]["scale"] == pytest.approx([2, 2, 2], rel=1e-4)
    assert finding.evidence["constants"]["offset"] == pytest.approx([1, 1, 1], rel=1e-4)


@pytest.mark.parametrize("today", [lambda x: -lite(x), lambda x: 1 - unit(x)], ids=["negated", "inverted"])
def test_other_sign_is_a_change_of_range(today):
    """An inverted picture is no normalisation."""
    golden = unit if today(np.zeros(1))[0] == 1 else lite
    (finding,) = explain(golden, today)
    assert finding.cause.value == "preprocess.value_range"


def test_constants_of_each_sample_are_told_from_constants_for_all():
    """Normalised by its own mean and deviation, every sample lies on another line."""
    (finding,) = explain(imagenet, lambda x: (x - x.mean()) / x.std())
    assert finding.cause.value == "preprocess.normalization"
    assert finding.evidence["actual"] == "constants by sample"
    assert len(finding.evidence["constants"]["scale"]) == 4


ORDERS = {
    "after constants": (imagenet, lambda x: imagenet(x)[::-1], [2, 1, 0]),
    "before constants": (imagenet, lambda x: imagenet(x[::-1]), [2, 1, 0]),
    "before own constants": (
        lambda x: (x / 255 - MEAN * 0.9) / (STD * 1.1),
        lambda x: (x[::-1] / 255 - MEAN * 0.9) / (STD * 1.1),
        [2, 1, 0],
    ),
    "green first": (lite, lambda x: lite(x)[[1, 2, 0]], [2, 0, 1]),
}


@pytest.mark.parametrize("case", ORDERS)
def test_channel_order_is_one_cause_wherever_constants_come(case):
    """Constants by place after the swap leave a line, which is no second cause."""
    golden, today, order = ORDERS[case]
    (finding,) = explain(golden, today)
    assert finding.cause.value == "preprocess.channel_order"
    assert finding.evidence["actual"] == order
    assert finding.confidence > 0.9


def test_order_of_many_channels_is_matched():
    """Bands of a satellite, swapped: more than can be tried one by one."""
    rng = np.random.default_rng(0)
    bands = [rng.standard_normal((12, 40, 40)) for _ in range(3)]
    swapped = [3, 1, 2, 0, 4, 5, 6, 7, 8, 9, 11, 10]
    pairs = [
        InputPair(sample=str(i), path="", expected=x, actual=x[swapped], file=None, loader="array")
        for i, x in enumerate(bands)
    ]
    (finding,) = explain_inputs(pairs, has_time=lambda: True)
    assert finding.cause.value == "preprocess.channel_order"
    assert finding.evidence["actual"] == swapped


LAYOUTS = {
    "channel last": lambda x: lite(x).transpose(1, 2, 0),
    "transposed": lambda x: lite(x).transpose(0, 2, 1),
    "reshaped": lambda x: np.ascontiguousarray(lite(x).transpose(1, 2, 0)).reshape(x.shape),
    "batch axis": lambda x: lite(x)[np.newaxis],
}


@pytest.mark.parametrize("sizes", [(64, 64), (48, 80)], ids=["square", "oblong"])
@pytest.mark.parametrize("case", LAYOUTS)
def test_layout_is_named(case, sizes):
    """The same numbers along other axes, or read into the wrong ones."""
    findings = explain(lite, LAYOUTS[case], height=sizes[0], width=sizes[1])
    assert [finding.cause.value for finding in findings] == ["preprocess.layout"]
    assert findings[0].evidence["residual_after"] < 1e-6


def test_layout_and_scale_are_two_findings():
    """Channel last and not normalised."""
    findings = explain(imagenet, lambda x: unit(x).transpose(1, 2, 0))
    assert {finding.cause.value for finding in findings} == {"preprocess.layout", "preprocess.normalization"}


TURNS = {
    "mirrored left to right": lambda x: lite(x)[:, :, ::-1],
    "mirrored top to bottom": lambda x: lite(x)[:, ::-1],
    "turned by 180 degrees": lambda x: lite(x)[:, ::-1, ::-1],
    "turned by 90 degrees to the left": lambda x: np.rot90(lite(x), 1, (1, 2)),
    "turned by 90 degrees to the right": lambda x: np.rot90(lite(x), -1, (1, 2)),
}


@pytest.mark.parametrize("case", TURNS)
def test_mirrors_and_turns_are_geometry(case):
    """The way back is the evidence."""
    (finding,) = explain(lite, TURNS[case])
    assert finding.cause.value == "preprocess.geometry"
    assert finding.evidence["actual"] == case


def test_mirrors_of_single_samples_are_found_although_no_turn_fits_all():
    """A random flip left in: some samples one way, some another."""
    ways = iter([1, 2, 1, 2])
    (finding,) = explain(lite, lambda x: np.flip(lite(x), next(ways)))
    assert finding.cause.value == "preprocess.geometry"
    assert set(finding.evidence["constants"]["by_sample"].values()) == {
        "mirrored left to right",
        "mirrored top to bottom",
    }


@pytest.mark.parametrize(("down", "right"), [(1, 1), (0, 1), (-3, 2), (8, 0)])
def test_crop_off_by_pixels_is_measured(down, right):
    """Where the two overlap they agree, and the overlap lies off the place."""

    def cut(levels, y, x):
        return lite(levels)[:, 16 + y : 80 + y, 16 + x : 80 + x]

    (finding,) = explain(lambda x: cut(x, 0, 0), lambda x: cut(x, -down, -right), height=96, width=96)
    assert finding.cause.value == "preprocess.geometry"
    constants = finding.evidence["constants"]
    assert (constants["down_px"], constants["right_px"]) == (down, right)
    assert finding.evidence["residual_after"] < 1e-6


def test_missing_crop_and_padding_are_told_apart():
    """Both make inputs larger; a border of one value is padding."""
    (crop,) = explain(lambda x: lite(x)[:, 8:72, 8:72], lite, height=80, width=80)
    (padded,) = explain(lite, lambda x: np.pad(lite(x), ((0, 0), (8, 8), (8, 8)), constant_values=0.5))
    assert crop.cause.value == padded.cause.value == "preprocess.geometry"
    assert "are not cropped" in crop.summary
    assert "are padded with 0.5" in padded.summary


VALUES = {
    "clipped": (lite, lambda x: np.clip(lite(x), -0.5, 0.5), "clipped"),
    "rounded": (lite, lambda x: np.round(lite(x) * 16) / 16, "rounded to steps of 0.0625"),
    "cut off": (lambda x: x / 3, lambda x: np.trunc(x / 3), "cut off"),
    "wrapped": (lambda x: x * 2, lambda x: (x * 2).astype(np.uint8), "wrapped around"),
}


@pytest.mark.parametrize("case", VALUES)
def test_what_is_done_to_each_value_is_replayed(case):
    """What is lost cannot be undone, but it can be done to the golden's inputs."""
    golden, today, words = VALUES[case]
    (finding,) = explain(golden, today)
    assert finding.cause.value == "preprocess.value_range"
    assert words in finding.evidence["actual"]


def test_rounding_to_the_golden_s_own_grid_is_not_named():
    """One level up or down is on the same grid."""
    rng = np.random.default_rng(0)
    findings = explain(lite, lambda x: lite(np.clip(x + rng.integers(-1, 2, x.shape), 0, 255)))
    assert [finding.cause.value for finding in findings] == ["preprocess.other"]


def test_mixed_colours_are_a_change_of_decoding():
    """Grey in all channels, told by what it is mixed of."""

    def make_grey(levels):
        return np.repeat(np.tensordot([0.299, 0.587, 0.114], levels, 1)[np.newaxis], 3, axis=0)

    (finding,) = explain(lite, lambda x: lite(make_grey(x)))
    assert finding.cause.value == "preprocess.decode"
    assert (finding.evidence["expected"], finding.evidence["actual"]) == ("colours", "grey")


@pytest.mark.parametrize(
    "today",
    [
        lambda x: np.random.default_rng(1).standard_normal(x.shape),
        lambda x: lite(draw_levels(int(x.sum()) % 1000 + 50)),
    ],
    ids=["noise", "other pictures"],
)
def test_inputs_that_have_nothing_in_common_are_named_nothing(today):
    """A line fits anything a little."""
    (finding,) = explain(lite, today)
    assert finding.cause.value == "preprocess.other"
    assert finding.confidence < 0.5


def test_what_is_left_is_told_beside_what_is_explained():
    """A missing normalisation and noise that no replay makes."""
    rng = np.random.default_rng(0)
    first, rest = explain(imagenet, lambda x: unit(x) + rng.normal(0, 0.02, x.shape))
    assert first.cause.value == "preprocess.normalization"
    assert rest.cause.value == "preprocess.other"
    assert rest.summary.startswith("what is left")
    assert rest.confidence < first.confidence
    assert first.confidence < 0.99


def test_difference_at_the_border_is_told_so():
    """Pixels at the edges alone, which no hypothesis makes."""
    rng = np.random.default_rng(0)

    def spoil(levels):
        spoilt = lite(levels)
        spoilt[:, :2] += rng.normal(0, 1, spoilt[:, :2].shape)
        return spoilt

    (finding,) = explain(lite, spoil)
    assert finding.evidence["constants"]["where"] == "only at the border"


def test_samples_that_differ_are_listed():
    """Two of six: the ids and the numbers of both."""
    (finding,) = explain(lite, lambda x: lite(x)[::-1], n=6, affected=2)
    assert finding.evidence["samples"] == ["s0", "s1"]
    assert (finding.evidence["n_affected"], finding.evidence["n_samples"]) == (2, 6)


def test_what_leaves_more_than_a_third_is_a_hint_and_no_cause():
    """Half of the golden's and half of something else: the nearest replay is told as what came nearest."""
    rng = np.random.default_rng(0)
    (finding,) = explain(imagenet, lambda x: 0.4 * imagenet(x) + rng.normal(0, 0.1, x.shape))
    assert finding.cause.value == "preprocess.other"
    assert finding.confidence < 0.5
    assert finding.evidence["nearest"]["residual"] > 0.2
    assert "nearest to it came" in finding.summary


def test_constants_that_nobody_touched_are_not_told_as_changed():
    """Blue first, then the mean of another data set: the deviation is the golden's, place by place."""
    today = lambda x: (x[::-1] / 255 - 0.5) / STD  # noqa: E731 - a pipeline in one line, as its neighbours
    causes = {finding.cause.value: finding for finding in explain(imagenet, today)}
    assert set(causes) == {"preprocess.channel_order", "preprocess.normalization"}
    assert "deviation 0.229/0.224/0.225" in causes["preprocess.normalization"].summary


def test_samples_in_which_something_is_left_are_told_apart():
    """Another deviation everywhere, and two samples that are blurred beside it."""
    count = iter(range(99))

    def scale(levels):
        scaled = (levels / 255 - MEAN) / 0.3
        return 0.9 * scaled + 0.1 * np.roll(scaled, 3, axis=2) if next(count) >= 4 else scaled

    first, rest = explain(imagenet, scale, n=6)
    assert first.cause.value == "preprocess.normalization"
    assert rest.summary.startswith("what is left")
    assert rest.evidence["samples"] == ["s4", "s5"]
