"""What a loader returned, copied before preprocessing, so that a change in place shows afterwards.

What belongs here: how the content of each kind of object is copied at a cost that every sample can
bear: copying and comparing bytes is several times cheaper than hashing them twice. To watch one more
kind of object, give it a branch in :func:`copy_content`.
"""

from __future__ import annotations

import marshal
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_modelreg.domain.errors import OutputError
from pytest_modelreg.observe.arrays import to_array
from pytest_modelreg.observe.output_tree import is_leaf
from pytest_modelreg.observe.value_digest import digest_value, is_decoded_image, is_pillow_image

WHOLE_BYTES = 1 << 20
"""Up to here all of an image or array is copied for every sample."""

_N_STRIPS = 64
_MOST_PARTS = 16
_UNCHANGEABLE = (str, bytes, int, float, complex, bool, type(None), os.PathLike, np.generic)
_MARSHAL_VERSION = 2
"""The last one without references: equal values give equal bytes."""


def copy_content(loaded: Any, *, is_whole: bool) -> Any:
    """Return what is equal to another such copy as long as the object was not changed.

    Parameters
    ----------
    loaded : Any
        What the loader returned.
    is_whole : bool
        Whether to look at all of it; otherwise of a large image or array only some rows, spread over
        the whole, and at an object of unknown kind not at all.

    Returns
    -------
    Any
        None for what cannot change, must not be looked into, or was not looked at.
    """
    if isinstance(loaded, _UNCHANGEABLE):
        return None
    try:
        return _copy(loaded, is_whole=is_whole)
    except (OSError, ValueError, RuntimeError, TypeError, AttributeError, OutputError):
        return None  # closed by preprocess, for one


def _copy(value: Any, *, is_whole: bool) -> Any:
    if is_pillow_image(value):
        # Decoding what a suite's own loader left undecoded takes draft() away from preprocess.
        return _copy_image(value, is_whole=is_whole) if is_decoded_image(value) else None
    if is_leaf(value):
        array, dtype = to_array(value)
        return dtype, array.shape, _copy_array(array, is_whole=is_whole)
    try:
        return marshal.dumps(value, _MARSHAL_VERSION)
    except ValueError:  # it holds more than Python's own plain values
        pass
    if type(value) is dict and len(value) <= _MOST_PARTS:
        return [(repr(key), copy_content(part, is_whole=is_whole)) for key, part in value.items()]
    if isinstance(value, (tuple, list)) and len(value) <= _MOST_PARTS:
        return [copy_content(part, is_whole=is_whole) for part in value]
    return digest_value(value) if is_whole else None


def _copy_image(image: Any, *, is_whole: bool) -> Any:
    width, height = image.size
    head = image.mode, image.size, image.getpalette() if image.mode in ("P", "PA") else None
    if is_whole or width * height * len(image.getbands()) <= WHOLE_BYTES:
        return head, image.tobytes()
    step = max(1, height // _N_STRIPS)
    return head, [image.crop((0, top, width, top + 1)).tobytes() for top in range(0, height, step)]


def _copy_array(array: NDArray[Any], *, is_whole: bool) -> bytes:
    if is_whole or array.nbytes <= WHOLE_BYTES or array.ndim == 0:
        return array.tobytes()
    longest = int(np.argmax(array.shape))
    rows = np.moveaxis(array, longest, 0)
    return rows[:: -(-array.nbytes // WHOLE_BYTES)].tobytes()
