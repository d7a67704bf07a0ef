"""What the samples of a suite are, for people: a thumbnail, or a few words.

What belongs here: one branch a loader. Whatever cannot be shown has a face without picture and text.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from pytest_modelreg.domain.errors import ModelRegError
from pytest_modelreg.domain.exhibit import SampleFace
from pytest_modelreg.domain.sample import ROW_LOADER, Sample, SampleSet
from pytest_modelreg.observe.thumbnail import draw_thumbnail, has_pictures
from pytest_modelreg.store import read_row

_LARGEST_PX = 120
_MOST_CHARACTERS = 280
_READ_BYTES = 4096
_PICTURES = (".png", ".jpg", ".jpeg", ".webp", ".bmp", ".gif", ".tif", ".tiff", ".ppm", ".pgm")
"""Endings of files that may be pictures, whatever a suite's own loader makes of them."""


def read_faces(samples: SampleSet, loader: str, shown: Iterable[str]) -> dict[str, SampleFace]:
    """Return the faces of samples by id; of those that are not shown, with label and tags alone.

    Parameters
    ----------
    loader : str
        As the case has it: the name of a loader, or the suite's own.
    shown : iterable of str
        Ids of samples worth a picture.
    """
    wanted = set(shown)
    can_draw = has_pictures()
    return {
        sample.id: _read_face(samples, sample, loader, can_draw=can_draw, is_shown=sample.id in wanted)
        for sample in samples.samples
    }


def _read_face(
    samples: SampleSet, sample: Sample, loader: str, *, can_draw: bool, is_shown: bool
) -> SampleFace:
    file = Path(samples.folder, sample.file)
    picture, size, text = None, None, ""
    if is_shown:
        may_be_drawn = loader == "image" or (loader != ROW_LOADER and file.suffix.lower() in _PICTURES)
        drawn = draw_thumbnail(file, largest_px=_LARGEST_PX) if can_draw and may_be_drawn else None
        if drawn is not None:
            picture, size = drawn
        else:
            text = _shorten(_describe(samples, sample, loader, file))
    return SampleFace(
        picture=picture, stored_size=size, text=text, label=sample.label or "", tags=sample.tags
    )


def _describe(samples: SampleSet, sample: Sample, loader: str, file: Path) -> str:
    try:
        if loader == ROW_LOADER or sample.row is not None:
            return _as_text(read_row(samples, sample))
        if loader in ("text", "json"):
            with file.open("rb") as stream:
                return stream.read(_READ_BYTES).decode("utf-8", "replace")
        if loader == "array":
            return _describe_arrays(file)
        return f"{file.name}, {file.stat().st_size} bytes"
    except (OSError, ValueError, TypeError, EOFError, zipfile.BadZipFile, ModelRegError):
        return ""


def _describe_arrays(file: Path) -> str:
    loaded = np.load(file, allow_pickle=False)
    if isinstance(loaded, np.ndarray):
        return _describe_array(loaded)
    with loaded:
        return "; ".join(f"{name}: {_describe_array(loaded[name])}" for name in loaded.files[:4])


def _describe_array(array: Any) -> str:
    values = ", ".join(
        f"{value:.4g}" for value in array.reshape(-1)[:6].tolist() if isinstance(value, (int, float))
    )
    shape = " x ".join(map(str, array.shape)) or "one number"
    return f"{array.dtype} {shape}" + (f": {values}{', …' if array.size > 6 else ''}" if values else "")


def _as_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return f"{len(value)} bytes"
    if isinstance(value, np.ndarray):
        return _describe_array(value)
    if isinstance(value, dict):
        return ", ".join(f"{key}: {_as_text(each)}" for key, each in list(value.items())[:12])
    return json.dumps(value, ensure_ascii=False, default=str)


def _shorten(text: str) -> str:
    """Return the beginning of a text in one line."""
    words = " ".join(text.split())
    return words if len(words) <= _MOST_CHARACTERS else f"{words[: _MOST_CHARACTERS - 1]}…"
