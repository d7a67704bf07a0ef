"""Loaders: from one pinned file, or one row of it, to what ``preprocess`` is given.

What belongs here: one function a loader name, taking the file's path. To add one, add
it to :data:`LOADERS`. Every loader reads the whole file and leaves nothing open.
"""

from __future__ import annotations

import io
import json
import warnings
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from pytest_modelreg.domain.errors import SampleLoadError, SampleSetError
from pytest_modelreg.domain.sample import ROW_LOADER, Sample, SampleSet
from pytest_modelreg.observe.loader_advice import advise_on_file
from pytest_modelreg.observe.user_code import attributed
from pytest_modelreg.store import read_row

Loader = Callable[[Path], Any]
"""From a sample's file to what ``preprocess`` is given; of a row, from its file to itself."""

# What decoders raise on bytes that they do not understand.
_DECODE_ERRORS = (
    OSError,
    ValueError,  # json, unicode, numpy
    EOFError,
    KeyError,
    IndexError,
    SyntaxError,  # Pillow's PNG reader; numpy's header
    TypeError,
    OverflowError,
    MemoryError,
    ArithmeticError,
    zipfile.BadZipFile,
    zlib.error,
)


def load_sample(loader: Loader, file: Path, *, sample_id: str, name: str) -> Any:
    """Load one sample.

    Parameters
    ----------
    loader : callable
        From :data:`LOADERS`, or the suite's own.
    file : Path
        The sample's file.
    sample_id, name : str
        The sample's id and the loader's name, for messages.

    Raises
    ------
    SampleLoadError
        The file cannot be read or decoded, or the suite's own loader raised or
        returned None; the message names sample, file and what the decoder said.
    """
    what = f"sample {sample_id!r}: loader {name!r}: {file}"
    if name not in LOADERS:
        with attributed(SampleLoadError, what):
            loaded = loader(file)
        if loaded is None:
            raise SampleLoadError(f"{what} returned None: is a `return` missing?")
        return loaded
    try:
        return loader(file)
    except _DECODE_ERRORS as error:
        text = str(error) or type(error).__name__
        raise SampleLoadError(
            f"{what}: cannot be decoded: {text}; {advise_on_file(name, file.suffix)}"
        ) from error


def load_row(samples: SampleSet, sample: Sample) -> Any:
    """Load a sample that is a row of the set's file.

    Raises
    ------
    SampleLoadError
        The file cannot be read, or is not the one that was verified.
    """
    try:
        return read_row(samples, sample)
    except (OSError, ValueError, SampleSetError) as error:
        raise SampleLoadError(f"sample {sample.id!r}: {samples.place}: {error}") from error


def find_loader(name: str, found: Mapping[str, Any]) -> Loader:
    """Return the loader of a case.

    Parameters
    ----------
    name : str
        As the case has it.
    found : mapping
        The case's references, resolved: the suite's own loader is among them.
    """
    own: Loader | None = found.get("loader")
    return pass_path if name == ROW_LOADER else own or LOADERS[name]


def load_image(path: Path) -> Any:
    """Decode an image with Pillow, in the mode in which it is stored.

    No conversion, no EXIF rotation: both are the model owner's preprocessing. A
    truncated file raises, also where ``ImageFile.LOAD_TRUNCATED_IMAGES`` was switched
    on somewhere: half a photo in grey is not the sample that was pinned.

    Raises
    ------
    SampleLoadError
        Pillow is not installed.
    """
    try:
        from PIL import Image, ImageFile, UnidentifiedImageError
    except ModuleNotFoundError as error:
        raise SampleLoadError(
            "loader 'image' needs Pillow, which is not installed: pip install 'pytest-modelreg[vision]'"
        ) from error
    tolerant = ImageFile.LOAD_TRUNCATED_IMAGES
    ImageFile.LOAD_TRUNCATED_IMAGES = False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            # From memory, so that no file stays open and later frames can still be read.
            image = Image.open(io.BytesIO(path.read_bytes()))
            image.load()
            return image
    except UnidentifiedImageError as error:
        raise ValueError("no image format that Pillow knows") from error
    except (Image.DecompressionBombWarning, Image.DecompressionBombError) as error:
        raise ValueError(str(error)) from error
    finally:
        ImageFile.LOAD_TRUNCATED_IMAGES = tolerant


def load_array(path: Path) -> Any:
    """Read ``.npy``, or ``.npz``: its array when it holds one, else a dict of them."""
    # Opened here, because numpy leaves a damaged zip file open.
    with path.open("rb") as file:
        loaded = np.load(file, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            return loaded
        with loaded:
            arrays = {name: loaded[name] for name in loaded.files}
    if not arrays:
        raise ValueError("an .npz file without arrays")
    return next(iter(arrays.values())) if len(arrays) == 1 else arrays


def load_text(path: Path) -> str:
    """Read UTF-8 text, line ends untouched."""
    return path.read_bytes().decode("utf-8")


def load_json(path: Path) -> Any:
    """Read strict JSON: no NaN or Infinity, no key twice."""
    return json.loads(
        path.read_bytes().decode("utf-8"), parse_constant=_refuse_constant, object_pairs_hook=_build_object
    )


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _build_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    built = dict(pairs)
    if len(built) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"key {next(key for key in keys if keys.count(key) > 1)!r} occurs twice")
    return built


def load_bytes(path: Path) -> bytes:
    """Read the file's bytes."""
    return path.read_bytes()


def pass_path(path: Path) -> Path:
    """Hand on the path itself: preprocess opens the file."""
    return path


LOADERS: dict[str, Loader] = {
    "image": load_image,
    "array": load_array,
    "text": load_text,
    "json": load_json,
    "bytes": load_bytes,
    "path": pass_path,
}
"""Loaders by the name used in a suite file."""
