"""The checklist: what the pipeline feeds the model, read or measured, never guessed."""

from __future__ import annotations

import numpy as np
import pytest

from pytest_modelreg.observe.checklist import Survey
from pytest_modelreg.observe.checklist.entry import round_number
from pytest_modelreg.observe.checklist.input_statistics import guess_layout
from pytest_modelreg.observe.checklist.stage_settings import list_settings
from pytest_modelreg.observe.stages import split_pipeline

torch = pytest.importorskip("torch")
Image = pytest.importorskip("PIL.Image")


def photos(n: int = 8) -> list:
    """Return images of different colours, with some structure."""
    rng = np.random.default_rng(3)
    colours = rng.uniform(20, 230, (n, 1, 1, 3))
    noise = rng.normal(0, 15, (n, 40, 30, 3))
    return [Image.fromarray(pixels.astype(np.uint8)) for pixels in np.clip(colours + noise, 0, 255)]


def survey(samples, prepare, found=None, reference="m:f"):
    """Return the checklist of samples under a preprocess."""
    watch = Survey(len(samples))
    for position, sample in enumerate(samples):
        watch.look_at_loaded(position, sample)
        watch.look_at_prepared(position, prepare(sample))
    return watch.list_entries(split_pipeline(found), reference=reference)


def to_chw(image, order=(0, 1, 2)):
    """Return float32 channels first, normalised, in this order of colours."""
    pixels = np.asarray(image.convert("RGB"), np.float32)[..., list(order)]
    return torch.from_numpy((pixels / 255 - [0.485, 0.456, 0.406]) / [0.229, 0.224, 0.225]).permute(2, 0, 1)


def test_size_layout_and_dtype_are_measured():
    """Of what the model is fed, not of the photo."""
    entries = survey(photos(), to_chw)
    assert entries["size"] == {"value": [40, 30], "source": "measured"}
    assert entries["layout"]["value"] == "CHW"
    assert entries["dtype"]["value"] == "float64"
    entries = survey(photos(), np.asarray)
    assert (entries["layout"]["value"], entries["dtype"]["value"]) == ("HWC", "uint8")


def test_what_differs_between_samples_varies():
    """A letterbox that pads only one side shows in the height alone."""
    images = [Image.new("RGB", (8, height)) for height in (8, 9)]
    assert survey(images, np.asarray)["size"]["value"] == ["varies", 8]


@pytest.mark.parametrize(
    ("shape", "layout"),
    [
        ((3, 8, 8), "CHW"),
        ((8, 8, 3), "HWC"),
        ((2, 1, 8, 8), "CHW"),
        ((3, 8, 3), "CHW"),
        ((8, 8, 8), None),
        ((3,), None),
    ],
)
def test_layout_is_told_by_the_axis_of_colours(shape, layout):
    """An axis of length 1, 3 or 4 among the last three."""
    assert guess_layout(shape) == layout


def test_range_mean_and_deviation_show_the_scaling():
    """0 to 255, 0 to 1 and normalised are told apart; numbers have six digits."""
    raw = survey(photos(), np.asarray)
    scaled = survey(photos(), lambda image: np.asarray(image, np.float32) / 255)
    assert 200 < raw["range"]["value"][1] <= 255
    assert 0 <= scaled["range"]["value"][0] < scaled["range"]["value"][1] <= 1
    assert len(scaled["mean"]["value"]) == len(scaled["std"]["value"]) == 3
    expected = np.stack([np.asarray(photo) for photo in photos()]).mean(axis=(0, 1, 2)) / 255
    np.testing.assert_allclose(scaled["mean"]["value"], expected, atol=0.01)
    assert all(round_number(value) == value for value in scaled["mean"]["value"])


def test_rounding_keeps_six_digits_and_refuses_what_is_no_number():
    """JSON has no NaN."""
    assert round_number(1 / 3) == 0.333333
    assert round_number(123456789.0) == 123457000.0
    assert round_number(float("nan")) is None


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_channel_order_is_measured(order):
    """Planted: swapped channels are named, through normalisation and after a crop."""
    expected = "".join("RGB"[channel] for channel in order)
    entries = survey(photos(), lambda image: to_chw(image, order)[:, 4:30, 2:20])
    assert entries["channel_order"] == {"value": expected, "source": "measured"}
    entries = survey(photos(), lambda image: np.asarray(image)[..., list(order)])
    assert entries["channel_order"]["value"] == expected


def test_channel_order_needs_colour_and_samples():
    """Just inside: grey photos, three photos and arrays tell nothing, and the reason says so."""
    grey = [Image.new("RGB", (4, 4), (level, level, level)) for level in range(0, 250, 20)]
    for samples, reason in [(grey, "4 images with colour"), (photos(3), "got 3")]:
        entry = survey(samples, to_chw)["channel_order"]
        assert entry["value"] is None
        assert reason in entry["reason"]
    arrays = [np.asarray(photo) for photo in photos()]
    assert "no Pillow images" in survey(arrays, np.asarray)["channel_order"]["reason"]


def test_channel_order_is_not_guessed():
    """Samples that are all one hue, brighter or darker, do not tell channels apart."""
    one_hue = [Image.new("RGB", (4, 4), (level, level // 2, level // 3)) for level in range(60, 250, 20)]
    assert "do not tell" in survey(one_hue, to_chw)["channel_order"]["reason"]


def test_palette_images_count_by_their_colours():
    """The mean of palette indices would say nothing."""
    samples = [photo.quantize(16) for photo in photos()]
    assert survey(samples, to_chw)["channel_order"]["value"] == "RGB"


def test_settings_are_read_from_the_stages():
    """Interpolation, antialias, crop, normalisation and colour conversion of torchvision."""
    t = pytest.importorskip("torchvision.transforms")
    bicubic = t.InterpolationMode.BICUBIC
    stages = [
        t.Resize(32, interpolation=bicubic, antialias=True),
        t.CenterCrop(24),
        t.Grayscale(3),
        t.ToTensor(),
        t.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]),
    ]
    entries = list_settings(split_pipeline(stages), reference="m:f")
    assert entries["interpolation"] == {"value": "bicubic", "source": "read"}
    assert entries["antialias"]["value"] is True
    assert entries["crop"]["value"] == {"kind": "CenterCrop", "size": [24, 24]}
    assert entries["normalize_mean"]["value"] == [0.485, 0.456, 0.406]
    assert entries["normalize_std"]["value"] == [0.229, 0.224, 0.225]
    assert entries["colour_conversion"]["value"] == "Grayscale"


def test_second_generation_is_read_alike():
    """The same names in transforms.v2."""
    v2 = pytest.importorskip("torchvision.transforms.v2")
    stages = split_pipeline([v2.Resize(8), v2.CenterCrop(4), v2.Normalize([0.5], [0.25])])
    entries = list_settings(stages, reference="m:f")
    assert entries["interpolation"]["value"] == "bilinear"
    assert entries["crop"]["value"] == {"kind": "CenterCrop", "size": [4, 4]}
    assert entries["normalize_std"]["value"] == [0.25]


def test_two_normalisations_are_both_listed():
    """Doubled normalisation is seen at a glance."""
    t = pytest.importorskip("torchvision.transforms")
    stages = split_pipeline([t.Normalize([0.5], [0.5]), t.Normalize([0.1], [0.2])])
    assert list_settings(stages, reference="m:f")["normalize_mean"]["value"] == [[0.5], [0.1]]


def test_one_callable_and_no_preprocess_say_why_nothing_is_read():
    """An unknown entry has its reason."""
    assert "one callable" in list_settings((), reference="m:f")["crop"]["reason"]
    assert list_settings((), reference=None)["crop"] == {"value": None, "reason": "there is no preprocess"}
    assert "no stage crops" in list_settings(split_pipeline([float]), reference="m:f")["crop"]["reason"]


def test_inputs_that_are_no_images_are_measured_as_numbers():
    """A row of features has a range, a mean and a deviation, and says what it has not."""
    entries = survey([np.array([1.0, 3.0]), np.array([5.0, 7.0])], lambda x: x)
    assert entries["range"]["value"] == [1.0, 7.0]
    assert entries["mean"]["value"] == [4.0]
    assert entries["std"]["value"] == [pytest.approx(np.sqrt(5), rel=1e-5)]
    assert "no images" in entries["size"]["reason"]


def test_texts_alone_have_no_numbers():
    """Words are inputs without a dtype."""
    entries = survey(["a", "b"], lambda x: x)
    assert entries["dtype"]["value"] is None
    assert "no tensor" in entries["dtype"]["reason"]


def test_the_image_among_several_inputs_is_named():
    """A dictionary of tokens and pixels is measured by its pixels."""
    entries = survey(photos(), lambda image: {"ids": np.arange(9999), "pixels": to_chw(image)})
    assert entries["input"] == {"value": "pixels", "source": "measured"}
    assert entries["layout"]["value"] == "CHW"


def test_reduced_and_complex_numbers():
    """bfloat16 is widened; complex numbers have no range."""
    assert survey([1], lambda _: torch.tensor([0.5, 2.0], dtype=torch.bfloat16))["range"]["value"] == [
        0.5,
        2.0,
    ]
    assert survey([1], lambda _: np.array([1j]))["range"]["value"] is None


def test_no_number_at_all_is_not_a_number():
    """An empty input and NaN keep the checklist strict JSON."""
    assert survey([1], lambda _: np.empty((0,)))["range"]["value"] is None
    assert survey([1], lambda _: np.array([np.nan]))["mean"]["value"] == [None]


def test_checklist_of_a_case_is_on_record(toy_case):
    """Every entry has a value and its source, or a reason."""
    checklist = toy_case.observe().checklist
    assert checklist["dtype"] == {"value": "float32", "source": "measured"}
    assert all(("source" in entry) != ("reason" in entry) for entry in checklist.values())
    assert checklist == toy_case.observe(batch_size=1).checklist
