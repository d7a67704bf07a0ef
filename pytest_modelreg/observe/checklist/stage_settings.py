"""What the stages of a pipeline say about themselves: interpolation, antialias, crop, normalisation, colour.

What belongs here: attributes of torchvision's transforms, of both generations, found by name, so that
other libraries' stages with the same attributes are read too. To read one more setting, add a
function to :data:`_READERS`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from pytest_modelreg.observe.checklist.entry import Entry, read, round_numbers, unknown
from pytest_modelreg.observe.stages import PipelineStage

# Pillow's numbers, which older transforms take instead of names.
_PILLOW_FILTERS = ("nearest", "lanczos", "bilinear", "bicubic", "box", "hamming")


def list_settings(stages: Sequence[PipelineStage], *, reference: str | None) -> dict[str, Entry]:
    """Return what the stages say, by name.

    Parameters
    ----------
    stages : sequence of PipelineStage
        Empty for a single callable, whose settings cannot be read.
    reference : str or None
        Of the preprocess; None when there is none.
    """
    if not stages:
        one = f"preprocess {reference} is one callable, whose settings cannot be read"
        return dict.fromkeys(_READERS, unknown("there is no preprocess" if reference is None else one))
    return {name: reader([stage.call for stage in stages]) for name, reader in _READERS.items()}


def _read_interpolation(stages: list[Any]) -> Entry:
    return _join(
        [_name_interpolation(stage.interpolation) for stage in stages if hasattr(stage, "interpolation")],
        "no stage has an interpolation",
    )


def _name_interpolation(value: Any) -> Any:
    value = getattr(value, "value", value)
    if isinstance(value, int) and 0 <= value < len(_PILLOW_FILTERS):
        return _PILLOW_FILTERS[value]
    return value if isinstance(value, str) else str(value)


def _read_antialias(stages: list[Any]) -> Entry:
    found = [stage.antialias for stage in stages if hasattr(stage, "antialias")]
    if found and not all(isinstance(value, bool) for value in found):
        return unknown("left to the library's default")
    return _join(found, "no stage has an antialias setting")


def _read_crop(stages: list[Any]) -> Entry:
    found = [
        {"kind": type(stage).__name__, "size": _list_numbers(stage.size)}
        for stage in stages
        if "Crop" in type(stage).__name__ and hasattr(stage, "size")
    ]
    return _join(found, "no stage crops by name")


def _read_mean(stages: list[Any]) -> Entry:
    return _read_normalisation(stages, "mean")


def _read_std(stages: list[Any]) -> Entry:
    return _read_normalisation(stages, "std")


def _read_normalisation(stages: list[Any], name: str) -> Entry:
    found = [
        _list_numbers(getattr(stage, name))
        for stage in stages
        if hasattr(stage, "mean") and hasattr(stage, "std") and not callable(getattr(stage, name))
    ]
    return _join(found, "no stage has a mean and a std")


def _read_colour_conversion(stages: list[Any]) -> Entry:
    found = [
        type(stage).__name__ for stage in stages if type(stage).__name__ in ("Grayscale", "RGB", "ToRGB")
    ]
    return _join(found, "no stage converts colours by name")


def _join(found: Sequence[Any], otherwise: str) -> Entry:
    """Return one value as it is and several, such as two normalisations, as a list."""
    if not found:
        return unknown(otherwise)
    return read(found[0] if len(found) == 1 else list(found))


def _list_numbers(value: Any) -> list[Any]:
    if hasattr(value, "tolist"):
        value = value.tolist()
    numbers: Iterable[Any] = value if isinstance(value, (list, tuple)) else [value]
    return [
        number if isinstance(number, int) else round_numbers([number])[0]
        for number in numbers
        if isinstance(number, (int, float))
    ]


_READERS: dict[str, Callable[[list[Any]], Entry]] = {
    "interpolation": _read_interpolation,
    "antialias": _read_antialias,
    "crop": _read_crop,
    "normalize_mean": _read_mean,
    "normalize_std": _read_std,
    "colour_conversion": _read_colour_conversion,
}
