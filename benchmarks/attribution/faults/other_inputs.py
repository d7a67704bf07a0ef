"""Inputs fed otherwise for which there is no word: waveforms, rows of a table, tokens, curves."""

from __future__ import annotations

from benchmarks.attribution.fault import Fault
from benchmarks.attribution.faults.planting import edit_pipeline, replace_texts

KIND = "preprocess.other"
WAVEFORM = ("preprocess.value_range", "preprocess.normalization")
RESAMPLED = ("preprocess.interpolation", "preprocess.geometry")
ANY = (
    "preprocess.decode",
    "preprocess.channel_order",
    "preprocess.layout",
    "preprocess.value_range",
    "preprocess.normalization",
)
NO_WORD = "the vocabulary's words are of photos: any of preprocessing that fits the numbers is as right"
HALVED = "halved = np.stack([np.interp(places, np.arange(values.shape[1]), row) for row in values])\n"
MEAN_OFF = "    halved = halved - halved.mean(axis=1, keepdims=True)\n"


def _hear(name: str, *texts: str, also: tuple[str, ...]) -> Fault:
    return edit_pipeline(name, KIND, *texts, also=also, why=NO_WORD)


FAULTS = (
    _hear("audio-gain", "/ 32768.0", "/ 32768.0 * 1.2", also=WAVEFORM),
    _hear(
        "audio-peak-normalised",
        MEAN_OFF,
        MEAN_OFF + "    halved = halved / np.abs(halved).max()\n",
        also=WAVEFORM,
    ),
    _hear("audio-mean-kept", MEAN_OFF, "", also=WAVEFORM),
    _hear("audio-offset", MEAN_OFF, MEAN_OFF + "    halved = halved + 0.01\n", also=WAVEFORM),
    _hear("audio-decimated", HALVED, "halved = values[:, ::2].astype(np.float64)\n", also=RESAMPLED),
    _hear(
        "audio-nearest",
        HALVED,
        "halved = values[:, places.round().astype(int)].astype(np.float64)\n",
        also=RESAMPLED,
    ),
    _hear("audio-late", HALVED, HALVED.replace("interp(places", "interp(places + 3.0"), also=RESAMPLED),
    _hear(
        "audio-emphasised",
        MEAN_OFF,
        MEAN_OFF + "    halved[:, 1:] = halved[:, 1:] - 0.5 * halved[:, :-1]\n",
        also=WAVEFORM,
    ),
    _hear(
        "table-columns-sorted",
        "in zip(COLUMNS, MEAN, STD, strict=True)",
        "in sorted(zip(COLUMNS, MEAN, STD, strict=True))",
        also=ANY,
    ),
    _hear("table-two-columns-swapped", '"age", "height"', '"height", "age"', also=ANY),
    _hear("table-missing-is-zero", "value = mean", "value = 0.0", also=ANY),
    _hear("table-other-statistics", "MEAN = (41.0, 172.0, 71.0", "MEAN = (44.0, 169.0, 75.0", also=ANY),
    _hear(
        "table-logarithm",
        "value = row[column]\n",
        "value = row[column]\n"
        '        if column == "income" and value:\n'
        "            value = abs(value) ** 0.9\n",
        also=ANY,
    ),
    _hear("tokens-ids-shifted", "index + 2", "index + 3", also=ANY),
    _hear("tokens-unknown-is-pad", "PAD, UNKNOWN = 0, 1", "PAD, UNKNOWN = 0, 0", also=ANY),
    _hear(
        "tokens-truncated",
        "sentence.strip().lower().split()",
        "sentence.strip().lower().split()[:6]",
        also=ANY,
    ),
    edit_pipeline(
        "tensors-one-buffer",
        KIND,
        "def prepare(",
        "BUFFER = torch.zeros(3, SIDE_PX, SIDE_PX)\n\n\ndef prepare(",
        'return {"pixels": pixels}',
        'return {"pixels": BUFFER.copy_(pixels)}',
        also=("nondeterminism",),
        why="every sample of a batch is the last one's numbers: what is fed depends on what was "
        "prepared since",
    ),
    edit_pipeline(
        "staged-blurred",
        KIND,
        "Normalize, Resize",
        "GaussianBlur, Normalize, Resize",
        "        ToTensor(),\n",
        "        ToTensor(),\n        GaussianBlur(3, 0.6),\n",
        also=("preprocess.interpolation",),
        why="a blur is a low-pass, as another resize is one",
    ),
    edit_pipeline(
        "photos-gamma",
        KIND,
        "levels = np.asarray(image, dtype=np.float32)",
        "levels = 255 * (np.asarray(image, dtype=np.float32) / 255) ** np.float32(0.9)",
        also=("preprocess.value_range", "preprocess.decode"),
        why="a curve over the levels: no word of its own",
    ),
    edit_pipeline(
        "tensors-clamped",
        KIND,
        'return {"pixels": pixels}',
        'return {"pixels": pixels.clamp(-1, 1)}',
        also=("preprocess.value_range",),
        why="the numbers' range is cut",
    ),
    edit_pipeline(
        "audio-clipped",
        KIND,
        MEAN_OFF,
        MEAN_OFF + "    halved = halved.clip(-0.1, 0.1)\n",
        also=WAVEFORM,
        why=NO_WORD,
        before=replace_texts("pipeline.py", "/ 32768.0", "/ 16384.0"),
    ),
)
