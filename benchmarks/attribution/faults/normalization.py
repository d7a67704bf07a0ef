"""Mean and deviation missing, applied twice, swapped, or others."""

from __future__ import annotations

from benchmarks.attribution.faults.planting import edit_pipeline

KIND = "preprocess.normalization"
PHOTOS = "(levels - 127.0) / 128.0"
TENSORS = "    pixels = (pixels - MEAN) / STD\n"
STAGED = "        Normalize(MEAN, STD),\n"
IMAGENET = "(levels / 255 - np.float32([0.485, 0.456, 0.406])) / np.float32([0.229, 0.224, 0.225])"

FAULTS = (
    edit_pipeline("photos-imagenet-constants", KIND, PHOTOS, IMAGENET),
    edit_pipeline(
        "photos-not-normalised",
        KIND,
        PHOTOS,
        "levels / 255.0",
        also=("preprocess.value_range",),
        why="one step scales and centres at once: leaving it out is both",
    ),
    edit_pipeline("photos-normalised-twice", KIND, PHOTOS, "((levels - 127.0) / 128.0 - 127.0) / 128.0"),
    edit_pipeline("photos-127-5", KIND, PHOTOS, "(levels - 127.5) / 127.5"),
    edit_pipeline("photos-no-mean", KIND, PHOTOS, "levels / 128.0"),
    edit_pipeline(
        "photos-no-deviation",
        KIND,
        PHOTOS,
        "levels - 127.0",
        also=("preprocess.value_range",),
        why="the deviation of 128 is the scale of the range",
    ),
    edit_pipeline("tensors-not-normalised", KIND, TENSORS, ""),
    edit_pipeline("tensors-normalised-twice", KIND, TENSORS, TENSORS + TENSORS),
    edit_pipeline(
        "tensors-mean-and-deviation-swapped", KIND, "(pixels - MEAN) / STD", "(pixels - STD) / MEAN"
    ),
    edit_pipeline("tensors-half", KIND, "(pixels - MEAN) / STD", "(pixels - 0.5) / 0.5"),
    edit_pipeline("tensors-deviation-only", KIND, "(pixels - MEAN) / STD", "pixels / STD"),
    edit_pipeline("tensors-mean-only", KIND, "(pixels - MEAN) / STD", "pixels - MEAN"),
    edit_pipeline(
        "tensors-constants-turned",
        KIND,
        "[0.52, 0.46, 0.38]",
        "[0.38, 0.46, 0.52]",
        "[0.25, 0.23, 0.21]",
        "[0.21, 0.23, 0.25]",
    ),
    edit_pipeline(
        "tensors-per-photo",
        KIND,
        "(pixels - MEAN) / STD",
        "(pixels - pixels.mean((1, 2), keepdim=True)) / pixels.std((1, 2), keepdim=True).clamp(min=1e-3)",
    ),
    edit_pipeline("staged-not-normalised", KIND, STAGED, ""),
    edit_pipeline("staged-normalised-twice", KIND, STAGED, STAGED + STAGED),
    edit_pipeline("staged-swapped", KIND, "Normalize(MEAN, STD)", "Normalize(STD, MEAN)"),
    edit_pipeline("staged-half", KIND, "Normalize(MEAN, STD)", "Normalize((0.5,) * 3, (0.5,) * 3)"),
    edit_pipeline("staged-rounded-constants", KIND, "(0.229, 0.224, 0.225)", "(0.23, 0.22, 0.23)"),
    edit_pipeline("staged-no-mean", KIND, "Normalize(MEAN, STD)", "Normalize((0.0,) * 3, STD)"),
)
