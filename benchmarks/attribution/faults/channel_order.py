"""Channels in another order."""

from __future__ import annotations

from benchmarks.attribution.faults.planting import add_stage, edit_pipeline, replace_texts

KIND = "preprocess.channel_order"
SWAP_PHOTO = '''def stage(image: Image.Image) -> Image.Image:
    """Return the bands as OpenCV orders them."""
    red, green, blue = image.split()
    return Image.merge("RGB", (blue, green, red))'''
SWAP_TENSOR = '''def stage(pixels):
    """Return the channels in the opposite order."""
    return pixels.flip(0)'''
NORMALISED = "pixels = (pixels - MEAN) / STD\n"

FAULTS = (
    edit_pipeline("photos-bgr", KIND, "(levels - 127.0)", "(levels[..., ::-1] - 127.0)"),
    edit_pipeline("photos-gbr", KIND, "(levels - 127.0)", "(levels[..., [1, 2, 0]] - 127.0)"),
    edit_pipeline("photos-grb", KIND, "transpose(2, 0, 1)", "transpose(2, 0, 1)[[1, 0, 2]]"),
    edit_pipeline("tensors-bgr-before-constants", KIND, "levels.float()", "levels.flip(0).float()"),
    edit_pipeline(
        "tensors-bgr-after-constants", KIND, NORMALISED, NORMALISED + "    pixels = pixels.flip(0)\n"
    ),
    edit_pipeline("staged-bgr-photo", KIND, *add_stage(SWAP_PHOTO, "CenterCrop(96)")),
    edit_pipeline("staged-bgr-tensor", KIND, *add_stage(SWAP_TENSOR, "Normalize(MEAN, STD)")),
    edit_pipeline(
        "staged-bgr-decoded",
        KIND,
        'return image.convert("RGB")',
        'red, green, blue = image.convert("RGB").split()\n    return Image.merge("RGB", (blue, green, red))',
    ),
    edit_pipeline("audio-sides-swapped", KIND, "for row in values]", "for row in values[::-1]]"),
    edit_pipeline(
        "photos-rgb-for-bgr",
        KIND,
        "(levels[..., ::-1] - 127.0)",
        "(levels - 127.0)",
        before=replace_texts("pipeline.py", "(levels - 127.0)", "(levels[..., ::-1] - 127.0)"),
    ),
)
