"""What may happen to a whole photo before it is resized: made grey, compressed again, blurred.

What belongs here: one :class:`Treatment` for each operation on an RGB image, with the cause that it stands
for. To add one, add a line to ``TREATMENTS``. Pillow is imported inside the functions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from typing import Any

from pytest_modelreg.domain.cause import Cause

NONE = "nothing"


@dataclass(frozen=True, kw_only=True)
class Treatment:
    """One operation.

    Parameters
    ----------
    name : str
        As a sentence takes it after "photos are".
    cause : Cause
        What it is a sign of.
    apply : callable
        From a Pillow image of mode RGB to one of the same size and mode.
    """

    name: str
    cause: Cause
    apply: Callable[[Any], Any]


def _keep(image: Any) -> Any:
    return image


def _make_grey(image: Any) -> Any:
    return image.convert("L").convert("RGB")


def _compress(image: Any, quality: int) -> Any:
    from PIL import Image

    buffer = BytesIO()
    image.save(buffer, "JPEG", quality=quality)
    return Image.open(buffer).convert("RGB")


def _blur(image: Any, radius: float) -> Any:
    from PIL import ImageFilter

    return image.filter(ImageFilter.GaussianBlur(radius))


def _sharpen(image: Any) -> Any:
    from PIL import ImageFilter

    return image.filter(ImageFilter.SHARPEN)


def _stretch(image: Any) -> Any:
    from PIL import ImageOps

    return ImageOps.autocontrast(image)


def _equalise(image: Any) -> Any:
    from PIL import ImageOps

    return ImageOps.equalize(image)


TREATMENTS: dict[str, Treatment] = {
    each.name: each
    for each in (
        Treatment(name=NONE, cause=Cause.PREPROCESS_OTHER, apply=_keep),
        Treatment(name="made grey", cause=Cause.PREPROCESS_DECODE, apply=_make_grey),
        *(
            Treatment(
                name=f"compressed as JPEG of quality {quality}",
                cause=Cause.PREPROCESS_DECODE,
                apply=partial(_compress, quality=quality),
            )
            for quality in (95, 90, 85, 80, 75, 70, 60, 50, 30)
        ),
        *(
            Treatment(
                name=f"blurred with radius {radius:g}",
                cause=Cause.PREPROCESS_OTHER,
                apply=partial(_blur, radius=radius),
            )
            for radius in (0.5, 1.0, 1.5, 2.0, 3.0)
        ),
        Treatment(name="sharpened", cause=Cause.PREPROCESS_OTHER, apply=_sharpen),
        Treatment(name="stretched in contrast", cause=Cause.PREPROCESS_OTHER, apply=_stretch),
        Treatment(name="equalised", cause=Cause.PREPROCESS_OTHER, apply=_equalise),
    )
}
"""By name; the first does nothing."""
