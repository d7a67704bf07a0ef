"""In which order the model gets red, green and blue, measured.

What belongs here: holding the channel means of the inputs against those of the decoded images.
Over a few samples whose colours differ, every input channel follows one colour, whatever was
scaled or normalised; the order that explains the inputs clearly best is the pipeline's.

What "clearly" means: with Gaussian residuals the log likelihood ratio of two orders is n/2 times the
difference of their summed log(1 - r^2). On photos under a crop, a letterbox and a squash, orders that
were wrong stayed below 8.5 (5 photos) and below 2 (23 photos); the limit is 10.
"""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_modelreg.observe.checklist.entry import Entry, measured, unknown
from pytest_modelreg.observe.value_digest import is_decoded_image

MIN_SAMPLES = 4
"""Samples with colour that it takes."""

_COLOURS = "RGB"
_THUMBNAIL_PX = 16
_MIN_CHROMA = 2.0  # difference of two channel means that counts as colour, in steps of 255
_MIN_LOG_RATIO = 10.0
_LEAST_UNEXPLAINED = 1e-3  # below it, rounding to 8 bits would decide


class ChannelOrder:
    """Pairs of channel means, one a sample with colour."""

    def __init__(self) -> None:
        self._decoded: list[NDArray[np.float64]] = []
        self._inputs: list[NDArray[np.float64]] = []
        self._saw_image = False

    def measure_image(self, loaded: Any) -> NDArray[np.float64] | None:
        """Return the mean red, green and blue of a decoded image, 0 to 255; None without colour.

        Asked before preprocess gets the image, which may change it.
        """
        if not is_decoded_image(loaded):
            return None
        self._saw_image = True
        if loaded.mode not in ("RGB", "RGBA", "P", "CMYK", "YCbCr"):
            return None
        # The nearest pixels alone, so that a large photo costs no more than a small one.
        size = (min(_THUMBNAIL_PX, loaded.width), min(_THUMBNAIL_PX, loaded.height))
        thumbnail = loaded.resize(size, 0)
        if "transparency" in thumbnail.info:
            del thumbnail.info["transparency"]  # Pillow warns about it, and it is no colour
        pixels = np.asarray(thumbnail.convert("RGB"), np.float64)
        means: NDArray[np.float64] = pixels.mean(axis=(0, 1))
        return means if float(np.ptp(means)) >= _MIN_CHROMA else None

    def add(self, decoded: NDArray[np.float64] | None, inputs: NDArray[np.float64] | None) -> None:
        """Add one sample's means, decoded and as the model gets them."""
        if decoded is not None and inputs is not None and inputs.size == len(_COLOURS):
            self._decoded.append(decoded)
            self._inputs.append(inputs)

    def make_entry(self) -> Entry:
        """Return the order as ``RGB`` or ``BGR``, or why it cannot be told."""
        if not self._saw_image:
            return unknown("the loader returned no Pillow images to compare with")
        if len(self._decoded) < MIN_SAMPLES:
            return unknown(
                f"needs {MIN_SAMPLES} images with colour and inputs of three channels, "
                f"got {len(self._decoded)}"
            )
        unexplained = _correlate(np.array(self._inputs), np.array(self._decoded))
        logs = np.log(np.maximum(unexplained, _LEAST_UNEXPLAINED))
        totals = sorted(
            (float(sum(logs[channel, colour] for channel, colour in enumerate(order))), order)
            for order in permutations(range(len(_COLOURS)))
        )
        (best, order), (second, _) = totals[:2]
        if len(self._inputs) / 2 * (second - best) < _MIN_LOG_RATIO:
            return unknown("the colours of the samples do not tell the channels of the inputs apart")
        return measured("".join(_COLOURS[colour] for colour in order))


def _correlate(inputs: NDArray[np.float64], decoded: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return 1 - r^2 for every input channel (row) and colour (column) over samples (axis 0)."""
    inputs, decoded = inputs - inputs.mean(axis=0), decoded - decoded.mean(axis=0)
    norms = np.linalg.norm(inputs, axis=0)[:, np.newaxis] * np.linalg.norm(decoded, axis=0)
    with np.errstate(all="ignore"):
        correlation = np.nan_to_num(inputs.T @ decoded / norms)
    unexplained: NDArray[np.float64] = 1.0 - correlation * correlation
    return unexplained
