"""Numbers of another range: grey levels where 0 to 1 was meant, divided twice, other full scales."""

from __future__ import annotations

from benchmarks.attribution.faults.planting import add_stage, edit_pipeline, replace_texts

KIND = "preprocess.value_range"
ONE_STEP = "one step scales and centres at once: leaving it out is both"
ONE_FACTOR = "one factor that no convention has: seen from outside, a range and a mean and deviation alike"
NO_CONSTANTS = replace_texts("pipeline.py", "    pixels = (pixels - MEAN) / STD\n", "")
DIVIDE = '''def stage(pixels):
    """Divide once more."""
    return pixels / 255.0'''

FAULTS = (
    edit_pipeline(
        "photos-grey-levels",
        KIND,
        "(levels - 127.0) / 128.0",
        "levels",
        also=("preprocess.normalization",),
        why=ONE_STEP,
    ),
    edit_pipeline(
        "photos-scaled-before",
        KIND,
        "levels = np.asarray(image, dtype=np.float32)",
        "levels = np.asarray(image, dtype=np.float32) / 255",
    ),
    edit_pipeline("tensors-not-scaled", KIND, "levels.float() / 255.0", "levels.float()"),
    edit_pipeline("tensors-scaled-twice", KIND, "levels.float() / 255.0", "levels.float() / 255.0 / 255.0"),
    edit_pipeline(
        "tensors-256", KIND, "/ 255.0", "/ 256.0", also=("preprocess.normalization",), why=ONE_FACTOR
    ),
    edit_pipeline(
        "tensors-hundred", KIND, "/ 255.0", "/ 2.55", also=("preprocess.normalization",), why=ONE_FACTOR
    ),
    edit_pipeline(
        "tensors-both-signs",
        KIND,
        "levels.float() / 255.0",
        "levels.float() / 127.5 - 1.0",
        before=NO_CONSTANTS,
        also=("preprocess.normalization",),
        why="-1 to 1 for 0 to 1 is a range, and a mean and deviation of 0.5",
    ),
    edit_pipeline(
        "tensors-plain-not-scaled", KIND, "levels.float() / 255.0", "levels.float()", before=NO_CONSTANTS
    ),
    edit_pipeline(
        "staged-not-scaled",
        KIND,
        "Resize, ToTensor",
        "PILToTensor, Resize",
        "pipeline = Compose(",
        "def to_levels(image):\n"
        '    """Return 0 to 255 as float32."""\n'
        "    return PILToTensor()(image).float()\n"
        "\n"
        "\n"
        "pipeline = Compose(",
        "ToTensor(),",
        "to_levels,",
    ),
    edit_pipeline("staged-scaled-twice", KIND, *add_stage(DIVIDE, "Normalize(MEAN, STD)")),
    edit_pipeline(
        "staged-halved",
        KIND,
        *add_stage(DIVIDE.replace("255.0", "2.0"), "Normalize(MEAN, STD)"),
        also=("preprocess.normalization",),
        why=ONE_FACTOR,
    ),
    edit_pipeline(
        "audio-integers",
        KIND,
        "wave.astype(np.float32) / 32768.0",
        "wave.astype(np.float32)",
        also=("preprocess.normalization",),
        why="a factor on one waveform is a range and a gain",
    ),
    edit_pipeline(
        "audio-scaled-twice",
        KIND,
        "/ 32768.0",
        "/ 32768.0 / 32768.0",
        also=("preprocess.normalization",),
        why="a factor on one waveform is a range and a gain",
    ),
)
