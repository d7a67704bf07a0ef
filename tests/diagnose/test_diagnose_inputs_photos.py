"""Changes of a preprocessing of photos, planted and named with the photos' files at hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageChops, ImageFilter, ImageOps

from pytest_modelreg.diagnose.inputs import InputPair, explain_inputs

PHOTOS = Path(__file__).parents[2] / "fixtures" / "photos"
PLAIN = ("sk-chelsea.jpg", "std-acanthus-mollis.jpg", "jxl-room.jpg", "sk-astronaut.jpg", "edge-gray-L.png")
SPECIAL = (
    "edge-16bit-gray.png",
    "edge-exif-orient6.jpg",
    "edge-palette-trns.png",
    "edge-cmyk.jpg",
    "edge-rgba.png",
)
MEAN = np.array([0.485, 0.456, 0.406], np.float32).reshape(3, 1, 1)
STD = np.array([0.229, 0.224, 0.225], np.float32).reshape(3, 1, 1)
NEAREST, LANCZOS, BILINEAR, BICUBIC, BOX, HAMMING = 0, 1, 2, 3, 4, 5


def keep(image: Image.Image) -> Image.Image:
    """Leave an image as it is."""
    return image


def to_8_bits(image: Image.Image) -> Image.Image:
    """Keep the upper byte of 16-bit grey levels."""
    if not image.mode.startswith("I;16"):
        return image
    return Image.fromarray((np.asarray(image) >> 8).astype(np.uint8))


def to_rgb(image: Image.Image) -> Image.Image:
    """Return RGB, the colour below transparent parts too."""
    return (image.convert("RGBA") if "transparency" in image.info else image).convert("RGB")


def over(image: Image.Image, colour: str) -> Image.Image:
    """Return RGB with transparent parts of one colour."""
    if image.mode in ("LA", "RGBA") or "transparency" in image.info:
        layer = image.convert("RGBA")
        return Image.alpha_composite(Image.new("RGBA", layer.size, colour), layer).convert("RGB")
    return to_rgb(image)


def squash(image: Image.Image, size: int = 224, kernel: int = BICUBIC) -> Image.Image:
    """Resize both sides."""
    return image.resize((size, size), kernel)


def crop(
    image: Image.Image, short: int, size: int, kernel: int = BILINEAR, shift: tuple[int, int] = (0, 0)
) -> Image.Image:
    """Resize the short side, cut out the centre."""
    width, height = image.size
    resized = (
        (short, int(short * height / width)) if width <= height else (int(short * width / height), short)
    )
    left = round((resized[0] - size) / 2) + shift[1]
    top = round((resized[1] - size) / 2) + shift[0]
    return image.resize(resized, kernel).crop((left, top, left + size, top + size))


def letterbox(
    image: Image.Image, size: int = 224, pad: int = 0, kernel: int = BICUBIC, *, in_corner: bool = False
) -> Image.Image:
    """Resize to fit inside a padded square."""
    scale = min(size / image.width, size / image.height)
    inner = (round(image.width * scale), round(image.height * scale))
    paper = Image.new("RGB", (size, size), (pad, pad, pad))
    place = (0, 0) if in_corner else (round((size - inner[0]) / 2), round((size - inner[1]) / 2))
    paper.paste(image.resize(inner, kernel), place)
    return paper


def cut_square(image: Image.Image, size: int) -> Image.Image:
    """Cut out the central square, then resize it."""
    side = min(image.size)
    left, top = (image.width - side) // 2, (image.height - side) // 2
    return image.crop((left, top, left + side, top + side)).resize((size, size), BICUBIC)


def imagenet(levels: np.ndarray) -> np.ndarray:
    """Normalise by ImageNet's constants."""
    return (levels / 255 - MEAN) / STD


def lite(levels: np.ndarray) -> np.ndarray:
    """Normalise as EfficientNet-Lite does."""
    return (levels - 127) / 128


def flip_channels(levels: np.ndarray) -> np.ndarray:
    """Put blue first."""
    return levels[::-1]


@dataclass(frozen=True, kw_only=True)
class Pipeline:
    """From a decoded photo to what a model is fed."""

    turn: Callable = keep
    depth: Callable = to_8_bits
    colour: Callable = to_rgb
    resize: Callable = squash
    levels: Callable = keep
    scale: Callable = lite
    finish: Callable = keep

    def __call__(self, name: str) -> np.ndarray:
        """Prepare one photo: float32 (channel, height, width)."""
        with Image.open(PHOTOS / name) as file:
            image = self.resize(self.colour(self.depth(self.turn(file))))
        levels = np.asarray(image, np.float32)
        planes = self.levels(np.moveaxis(levels, 2, 0))
        return np.ascontiguousarray(self.finish(self.scale(planes).astype(np.float32)))


REFERENCE = Pipeline()
TORCHVISION = Pipeline(resize=partial(crop, short=256, size=224), scale=imagenet)
SMALL = Pipeline(resize=partial(squash, size=96), scale=imagenet)
LARGE = Pipeline(resize=partial(squash, size=260))


def explain(golden: Callable, today: Callable, names: tuple[str, ...] = PLAIN, *, with_files: bool = True):
    """Return the findings for photos prepared by two pipelines."""
    return explain_inputs(
        [
            InputPair(
                sample=name,
                path="",
                expected=golden(name),
                actual=today(name),
                file=PHOTOS / name if with_files else None,
                loader="image",
            )
            for name in names
        ],
        has_time=lambda: True,
    )


INTERPOLATIONS = {
    "nearest for bicubic": (REFERENCE, squash, {"kernel": NEAREST}, "bicubic", "nearest"),
    "bilinear for bicubic": (REFERENCE, squash, {"kernel": BILINEAR}, "bicubic", "bilinear"),
    "bilinear for bicubic, 96 px": (SMALL, squash, {"size": 96, "kernel": BILINEAR}, "bicubic", "bilinear"),
    "lanczos for bicubic, 260 px": (LARGE, squash, {"size": 260, "kernel": LANCZOS}, "bicubic", "lanczos"),
    "box for bicubic": (REFERENCE, squash, {"kernel": BOX}, "bicubic", "box"),
    "hamming for bicubic": (REFERENCE, squash, {"kernel": HAMMING}, "bicubic", "hamming"),
    "bicubic for bilinear, cropped": (
        TORCHVISION,
        crop,
        {"short": 256, "size": 224, "kernel": BICUBIC},
        "bilinear",
        "bicubic",
    ),
}


@pytest.mark.parametrize("case", INTERPOLATIONS)
def test_interpolation_is_named_on_both_sides(case):
    """The replayed kernels make both sides' inputs exactly, and the evidence says which."""
    golden, resize, settings, before, now = INTERPOLATIONS[case]
    (finding,) = explain(golden, replace(golden, resize=partial(resize, **settings)))
    assert finding.cause.value == "preprocess.interpolation"
    assert (finding.evidence["expected"], finding.evidence["actual"]) == (before, now)
    assert finding.evidence["residual_after"] < 1e-4 < finding.evidence["residual_before"]
    assert finding.confidence > 0.9


def test_summary_is_the_sentence_of_a_colleague():
    """What changed, on what it was replayed, how closely both sides come out."""
    (finding,) = explain(REFERENCE, replace(REFERENCE, resize=partial(squash, kernel=NEAREST)))
    assert finding.summary == (
        "preprocess resizes with nearest instead of bicubic: replayed on 5 photos, "
        "bicubic gives the golden's inputs exactly, nearest gives today's exactly"
    )


def resize_tensor(name: str, *, antialias: bool, of_floats: bool, mode: str = "bicubic") -> np.ndarray:
    """Prepare a photo as a tensor is resized."""
    import torch
    from torchvision.transforms.v2 import InterpolationMode
    from torchvision.transforms.v2 import functional as resizing

    with Image.open(PHOTOS / name) as file:
        levels = torch.from_numpy(np.array(to_rgb(file))).permute(2, 0, 1)
    if of_floats:
        levels = levels.float()
    resized = resizing.resize(levels, [224, 224], InterpolationMode(mode), antialias=antialias)
    return np.asarray(lite(resized.numpy().astype(np.float32)), np.float32)


@pytest.mark.parametrize(
    ("today", "name"),
    [
        (partial(resize_tensor, antialias=True, of_floats=False), "bicubic on a uint8 tensor"),
        (partial(resize_tensor, antialias=True, of_floats=True), "bicubic on a float tensor"),
        (partial(resize_tensor, antialias=False, of_floats=True), "bicubic without antialias"),
        (
            partial(resize_tensor, antialias=False, of_floats=True, mode="bilinear"),
            "bilinear without antialias",
        ),
    ],
    ids=["uint8", "float", "no antialias", "bilinear, no antialias"],
)
def test_tensor_resize_is_told_from_pillow_s(today, name):
    """The mildest drift of all: bicubic of a uint8 tensor is a grey level off in one pixel of 300."""
    (finding,) = explain(REFERENCE, today)
    assert finding.cause.value == "preprocess.interpolation"
    assert finding.evidence["actual"] == name
    assert finding.confidence > 0.9


TENSOR_GRIDS = {
    "nearest exact": {"mode": "nearest-exact"},
    "bilinear without antialias, corners aligned": {"mode": "bilinear", "align_corners": True},
}


@pytest.mark.parametrize("name", TENSOR_GRIDS)
def test_grid_of_a_tensor_resize_is_named(name):
    """Where pixels are taken from is as much a setting as what they are weighed by."""
    import torch

    def prepare(photo):
        with Image.open(PHOTOS / photo) as file:
            levels = torch.from_numpy(np.array(to_rgb(file))).permute(2, 0, 1)[None].float()
        resized = torch.nn.functional.interpolate(levels, (224, 224), **TENSOR_GRIDS[name])
        return np.asarray(lite(resized[0].numpy()), np.float32)

    (finding,) = explain(REFERENCE, prepare)
    assert finding.cause.value == "preprocess.interpolation"
    assert finding.evidence["actual"] == name
    assert finding.evidence["residual_after"] < 1e-4


def test_reducing_gap_is_named():
    """Pillow makes a large photo smaller by whole steps first: faster, and other numbers."""
    names = ("std-acanthus-mollis.jpg", "jxl-room.jpg", "sk-astronaut.jpg")
    small = partial(squash, size=64)

    def reduce(image: Image.Image) -> Image.Image:
        return image.resize((64, 64), BICUBIC, reducing_gap=2.0)

    golden = Pipeline(resize=small)
    (finding,) = explain(golden, replace(golden, resize=reduce), names)
    assert finding.cause.value == "preprocess.interpolation"
    assert finding.evidence["actual"] == "bicubic with a reducing gap of 2"


GEOMETRIES = {
    "letterbox for squash": (REFERENCE, letterbox, {}, "both sides squashed to size", "letterbox, centred"),
    "letterbox for squash, 96 px": (
        SMALL,
        letterbox,
        {"size": 96, "pad": 114},
        "both sides squashed to size",
        "letterbox, centred",
    ),
    "letterbox in the corner": (
        Pipeline(resize=partial(letterbox, pad=114)),
        letterbox,
        {"pad": 114, "in_corner": True},
        "letterbox, centred",
        "letterbox, padded right and below",
    ),
    "short side to 232": (
        TORCHVISION,
        crop,
        {"short": 232, "size": 224},
        "short side to 256, centre crop",
        "short side to 232, centre crop",
    ),
    "squash for crop": (
        TORCHVISION,
        squash,
        {"kernel": BILINEAR},
        "short side to 256, centre crop",
        "both sides squashed to size",
    ),
    "cut before the resize": (
        Pipeline(resize=partial(crop, short=260, size=260, kernel=BICUBIC)),
        cut_square,
        {"size": 260},
        "short side to 260, centre crop",
        "centre crop to the shape, then resized",
    ),
}


@pytest.mark.parametrize("case", GEOMETRIES)
def test_geometry_is_named_on_both_sides(case):
    """The rules are told apart by photos that are not square."""
    golden, resize, settings, before, now = GEOMETRIES[case]
    (finding,) = explain(golden, replace(golden, resize=partial(resize, **settings)))
    assert finding.cause.value == "preprocess.geometry"
    assert finding.evidence["expected"].startswith(before)
    assert finding.evidence["actual"].startswith(now)
    assert finding.confidence > 0.9


def test_pad_value_is_measured_in_levels():
    """Grey bars for black ones, whatever normalisation came after."""
    golden = replace(TORCHVISION, resize=partial(letterbox, pad=114))
    (finding,) = explain(golden, replace(golden, resize=letterbox))
    assert finding.cause.value == "preprocess.geometry"
    assert (finding.evidence["expected"], finding.evidence["actual"]) == (
        "padding of level 114",
        "padding of level 0",
    )


@pytest.mark.parametrize("size", [96, 224])
def test_size_comes_with_both_sizes(size):
    """Inputs of another size: the rule may be the same, the sizes are not."""
    golden = replace(REFERENCE, resize=partial(squash, size=size))
    (finding,) = explain(golden, replace(golden, resize=partial(squash, size=size + 32)))
    assert finding.cause.value == "preprocess.geometry"
    assert f"({size + 32} x {size + 32} px) instead of" in finding.summary


@pytest.mark.parametrize("golden", [REFERENCE, SMALL, TORCHVISION], ids=["224", "96", "cropped"])
def test_exif_orientation_is_found_from_the_one_photo_that_has_one(golden):
    """Nine of ten photos are as before: what they lack is the cause."""
    (finding,) = explain(replace(golden, turn=ImageOps.exif_transpose), golden, PLAIN + SPECIAL)
    assert finding.cause.value == "preprocess.decode"
    assert finding.evidence["samples"] == ["edge-exif-orient6.jpg"]
    assert finding.evidence["trait"] == "an EXIF orientation other than upright"
    assert finding.evidence["expected"] == "EXIF orientation applied"
    assert finding.evidence["actual"] == "EXIF orientation ignored"


def resize_as_stored(image: Image.Image) -> Image.Image:
    """Resize in the stored mode, then convert."""
    return to_rgb(squash(image))


DECODINGS = {
    "palette": (
        REFERENCE,
        {"colour": lambda image: to_rgb(squash(image) if image.mode == "P" else image)},
        ["edge-palette-trns.png"],
        "resized in the stored mode, then converted",
    ),
    "every mode resized as stored": (
        REFERENCE,
        {"colour": keep, "resize": resize_as_stored},
        ["edge-palette-trns.png", "edge-cmyk.jpg", "edge-rgba.png"],
        "resized in the stored mode, then converted",
    ),
    "16 bits clipped": (
        REFERENCE,
        {
            "depth": lambda image: (
                Image.fromarray(np.minimum(np.asarray(image), 255).astype(np.uint8))
                if image.mode.startswith("I;16")
                else image
            )
        },
        ["edge-16bit-gray.png"],
        "clipped at 255 of 65535",
    ),
    "white below transparency": (
        SMALL,
        {"colour": partial(over, colour="white")},
        ["edge-palette-trns.png", "edge-rgba.png"],
        "composed over white",
    ),
    "black below transparency": (
        TORCHVISION,
        {"colour": partial(over, colour="black")},
        ["edge-palette-trns.png", "edge-rgba.png"],
        "composed over black",
    ),
    "inks inverted": (
        LARGE,
        {"colour": lambda image: to_rgb(ImageChops.invert(image) if image.mode == "CMYK" else image)},
        ["edge-cmyk.jpg"],
        "read with inverted inks",
    ),
}


@pytest.mark.parametrize("case", DECODINGS)
def test_decoding_is_named_for_the_photos_of_one_kind(case):
    """Only photos of the mode differ, and the file says which mode that is."""
    golden, change, samples, now = DECODINGS[case]
    (finding,) = explain(golden, replace(golden, **change), PLAIN + SPECIAL)
    assert finding.cause.value == "preprocess.decode"
    assert finding.evidence["samples"] == samples
    assert finding.evidence["actual"] == now
    assert finding.confidence > 0.9


def decode_smaller(name: str, least_px: int, **changes) -> np.ndarray:
    """Prepare a photo of which libjpeg decodes fewer pixels, as Pillow's draft mode asks for it."""
    with Image.open(PHOTOS / name) as file:
        file.draft("RGB", (least_px, least_px))
        image = squash(to_rgb(ImageOps.exif_transpose(file)), 96)
    return imagenet(np.moveaxis(np.asarray(image, np.float32), 2, 0)).astype(np.float32)


def test_photos_that_are_decoded_smaller_are_named():
    """A faster decoder: JPEG only, each as many times smaller as its size allows."""
    golden = replace(SMALL, turn=ImageOps.exif_transpose)
    names = (*PLAIN, "edge-exif-orient6.jpg")
    (finding,) = explain(golden, partial(decode_smaller, least_px=128), names)
    assert finding.cause.value == "preprocess.decode"
    assert "times smaller, then resized" in finding.evidence["actual"]
    assert "edge-gray-L.png" not in finding.evidence["samples"]
    assert finding.evidence["residual_after"] < 1e-4


def test_photos_that_are_decoded_smaller_are_found_beside_another_scale():
    """A normalisation explains nearly all of it, and hides the rest."""
    golden = replace(SMALL, turn=ImageOps.exif_transpose)
    findings = explain(golden, lambda name: decode_smaller(name, 128) * np.float32(0.9))
    assert {finding.cause.value for finding in findings} == {"preprocess.decode", "preprocess.normalization"}


def test_deep_grey_is_resized_before_it_is_clipped():
    """Resized as stored, 16-bit grey is clipped after the resize: other numbers where it is bright."""

    def clip(image: Image.Image) -> Image.Image:
        return Image.fromarray(np.minimum(np.asarray(image), 255).astype(np.uint8))

    golden = replace(REFERENCE, depth=lambda image: clip(image) if image.mode == "I;16" else image)
    today = replace(
        REFERENCE,
        depth=keep,
        colour=lambda image: image if image.mode == "I;16" else to_rgb(image),
        resize=lambda image: to_rgb(clip(squash(image)) if image.mode == "I;16" else squash(image)),
    )
    (finding,) = explain(golden, today, PLAIN + SPECIAL)
    assert finding.evidence["samples"] == ["edge-16bit-gray.png"]
    assert finding.evidence["actual"] == "resized in the stored mode, then clipped at 255"


@pytest.mark.parametrize("quality", [50, 75, 90])
def test_second_compression_is_named_with_its_quality(quality, tmp_path):
    """A cache of photos as JPEG changes every photo a little."""

    def compress(image: Image.Image) -> Image.Image:
        to_rgb(image).save(tmp_path / "cached.jpg", quality=quality)
        return Image.open(tmp_path / "cached.jpg").convert("RGB")

    (finding,) = explain(REFERENCE, replace(REFERENCE, colour=compress))
    assert finding.cause.value == "preprocess.decode"
    assert finding.evidence["actual"] == f"compressed as JPEG of quality {quality}"


def test_grey_photos_are_a_change_of_decoding():
    """Colours that are gone cannot be brought back, but the file has them."""
    today = replace(TORCHVISION, colour=lambda image: to_rgb(image).convert("L").convert("RGB"))
    (finding,) = explain(TORCHVISION, today)
    assert finding.cause.value == "preprocess.decode"
    assert finding.evidence["actual"] == "made grey"


def test_blur_is_named_and_not_taken_for_another_kernel():
    """A step that is not decoding, resizing or scaling has no name of its own."""
    blurred = replace(REFERENCE, colour=lambda image: to_rgb(image).filter(ImageFilter.GaussianBlur(1.5)))
    (finding,) = explain(REFERENCE, blurred)
    assert finding.cause.value == "preprocess.other"
    assert finding.evidence["actual"] == "blurred with radius 1.5"


COMPOUNDS = {
    "nearest and blue first": (
        REFERENCE,
        {"resize": partial(squash, kernel=NEAREST), "levels": flip_channels},
        {"preprocess.interpolation", "preprocess.channel_order"},
    ),
    "nearest and another scale": (
        REFERENCE,
        {"resize": partial(squash, kernel=NEAREST), "scale": imagenet},
        {"preprocess.interpolation", "preprocess.normalization"},
    ),
    "letterbox and 0 to 1": (
        TORCHVISION,
        {"resize": letterbox, "scale": lambda levels: levels / 255},
        {"preprocess.geometry", "preprocess.interpolation", "preprocess.normalization"},
    ),
    "blue first before ImageNet's constants, and bicubic": (
        TORCHVISION,
        {"resize": partial(crop, short=256, size=224, kernel=BICUBIC), "levels": flip_channels},
        {"preprocess.interpolation", "preprocess.channel_order"},
    ),
}


@pytest.mark.parametrize("case", COMPOUNDS)
def test_two_changes_are_two_findings(case):
    """Each is named, and nothing beside them."""
    golden, change, causes = COMPOUNDS[case]
    findings = explain(golden, replace(golden, **change))
    assert {finding.cause.value for finding in findings} == causes
    assert len(findings) == len(causes)


def test_exif_beside_another_kernel_is_found_too():
    """A change of all photos does not hide one of a single photo."""
    today = replace(REFERENCE, turn=ImageOps.exif_transpose, resize=partial(squash, kernel=BILINEAR))
    findings = explain(REFERENCE, today, PLAIN + SPECIAL)
    assert [finding.cause.value for finding in findings] == [
        "preprocess.interpolation",
        "preprocess.decode",
    ]
    assert findings[1].evidence["samples"] == ["edge-exif-orient6.jpg"]


@pytest.mark.parametrize("golden", [REFERENCE, SMALL, TORCHVISION, LARGE])
def test_equal_inputs_have_no_cause(golden):
    """The same pipeline twice."""
    assert explain(golden, golden, PLAIN + SPECIAL) == ()


def test_rounding_of_floats_has_no_cause():
    """The same formula in other words is 1e-7 off."""
    refactored = replace(
        REFERENCE, scale=lambda levels: (levels.astype(np.float64) - 127) * 2.0**-7 * (1 + 1e-7)
    )
    assert explain(REFERENCE, refactored) == ()


def test_another_decoder_s_grey_level_is_no_interpolation():
    """One level up or down, everywhere: said with little confidence."""
    rng = np.random.default_rng(0)
    noisy = replace(
        REFERENCE, levels=lambda levels: np.clip(levels + rng.integers(-1, 2, levels.shape), 0, 255)
    )
    (finding,) = explain(REFERENCE, noisy)
    assert finding.cause.value == "preprocess.decode"
    assert finding.confidence < 0.5
    assert "one grey level" in finding.summary


def test_noise_is_named_nothing():
    """What no replay makes is described, not guessed."""
    rng = np.random.default_rng(0)
    noisy = replace(REFERENCE, finish=lambda values: values + 0.05 * rng.standard_normal(values.shape))
    (finding,) = explain(REFERENCE, noisy)
    assert finding.cause.value == "preprocess.other"
    assert finding.confidence < 0.5


def test_without_files_fine_detail_is_the_most_that_is_said():
    """No photo to replay: the difference lies along edges, which a resize makes, and other things too."""
    (finding,) = explain(
        REFERENCE, replace(REFERENCE, resize=partial(squash, kernel=BILINEAR)), with_files=False
    )
    assert finding.cause.value == "preprocess.interpolation"
    assert finding.confidence < 0.5


def test_no_time_leaves_the_plain_facts():
    """A budget that is used up before it starts still gets an answer."""
    pairs = [
        InputPair(
            sample=name,
            path="",
            expected=REFERENCE(name),
            actual=LARGE(name),
            file=PHOTOS / name,
            loader="image",
        )
        for name in PLAIN[:2]
    ]
    (finding,) = explain_inputs(pairs, has_time=lambda: False)
    assert finding.cause.value == "preprocess.other"
    assert finding.evidence["samples"] == list(PLAIN[:2])


def test_same_pairs_give_the_same_findings():
    """Nothing is drawn at random."""
    today = replace(REFERENCE, resize=letterbox, levels=flip_channels)
    assert explain(REFERENCE, today) == explain(REFERENCE, today)


def crop_by_hand(
    image: Image.Image, short: int = 256, size: int = 224, kernel: int = BILINEAR, *, in_corner: bool = False
) -> Image.Image:
    """Resize the short side and cut, as people write it themselves: sizes rounded, offsets rounded down."""
    width, height = image.size
    scale = short / min(width, height)
    resized = image.resize((round(width * scale), round(height * scale)), kernel)
    left, top = ((resized.width - size) // 2, (resized.height - size) // 2) if not in_corner else (0, 0)
    return resized.crop((left, top, left + size, top + size))


BY_HAND = Pipeline(resize=crop_by_hand, scale=imagenet)


@pytest.mark.parametrize(
    ("change", "cause", "words"),
    [
        ({"kernel": NEAREST}, "preprocess.interpolation", "nearest instead of bilinear"),
        ({"kernel": BICUBIC}, "preprocess.interpolation", "bicubic instead of bilinear"),
        ({"in_corner": True}, "preprocess.geometry", "are moved by 16 px down and 80 px right"),
        ({"short": 232}, "preprocess.geometry", "short side to 232"),
    ],
    ids=["nearest", "bicubic", "corner", "size"],
)
def test_pipelines_written_by_hand_are_followed(change, cause, words):
    """Their long side is rounded to the nearest pixel, where torchvision's is rounded down."""
    findings = explain(BY_HAND, Pipeline(resize=partial(crop_by_hand, **change), scale=imagenet))
    assert findings[0].cause.value == cause
    assert words in findings[0].summary


def test_rounding_that_is_the_same_is_not_told_as_changed():
    """Another size, cut by the same formula: only the size is told."""
    (finding,) = explain(
        BY_HAND, replace(BY_HAND, resize=partial(crop_by_hand, short=300)), PLAIN + SPECIAL[1:]
    )
    assert (finding.evidence["expected"], finding.evidence["actual"]) == (
        "short side to 256, centre crop",
        "short side to 300, centre crop",
    )
    assert finding.evidence["residual_after"] < 1e-4
