"""One digest over named arrays: equal digests mean bit-equal arrays.

What belongs here: the canonical byte stream of an array. To let the digest cover one
more fact of an array, add it to the header that :class:`ArrayHasher` feeds and raise
``_STREAM``, because every stored digest changes with it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

_STREAM = b"modelreg arrays 1\n"
_BLOCK_BYTES = 1 << 20


class ArrayHasher:
    """A hash that is fed one named array at a time.

    Parameters
    ----------
    algorithm : str
        A name that ``hashlib`` knows. ``sha1`` takes half the time of ``sha256``, and is enough
        where nobody gains from two inputs of one digest.

    Notes
    -----
    Bit-equal semantics: -0.0 differs from 0.0, and NaNs with different payloads
    differ. Memory layout, byte order and chunking do not matter. Every header field
    is length-prefixed, so that no two different sequences share a byte stream.

    Examples
    --------
    >>> hasher = ArrayHasher()
    >>> hasher.add("weight", "float32", np.zeros((2, 3), np.float32))
    >>> len(hasher.hexdigest())
    64
    """

    def __init__(self, algorithm: str = "sha256") -> None:
        self._sha = hashlib.new(algorithm, _STREAM, usedforsecurity=False)

    def add(self, name: str, dtype: str, array: NDArray[Any]) -> None:
        """Feed one array.

        Parameters
        ----------
        name : str
            What the array is: a parameter's name, an input's path.
        dtype : str
            True dtype by its common name; ``bfloat16`` for values that arrive as
            uint16.
        array : numpy.ndarray
            Any axes, any layout, either byte order; at most one block of it is copied.
        """
        self._add_header(name, dtype, array.shape)
        little = array.dtype.newbyteorder("<")
        if array.flags.c_contiguous and array.dtype == little:
            if array.size:
                self._sha.update(array.reshape(-1).view(np.uint8).data)
            return
        blocks = np.nditer(
            array,
            flags=["external_loop", "buffered", "zerosize_ok"],
            op_flags=["readonly"],
            op_dtypes=little,
            order="C",
            casting="equiv",
            buffersize=max(1, _BLOCK_BYTES // max(1, array.dtype.itemsize)),
        )
        with blocks:
            for block in blocks:
                # A block may be a strided window where nditer saw no need to buffer.
                self._sha.update(np.ascontiguousarray(block).view(np.uint8).data)

    def add_blocks(self, name: str, dtype: str, n_bytes: int, blocks: Iterable[bytes]) -> None:
        """Feed bytes that are never in memory at once, as :meth:`add` feeds them as one array of uint8.

        Parameters
        ----------
        name, dtype : str
            As :meth:`add` takes them.
        n_bytes : int
            Length of all blocks together.
        blocks : iterable of bytes
            In order, of any lengths.
        """
        self._add_header(name, dtype, (n_bytes,))
        for block in blocks:
            self._sha.update(block)

    def hexdigest(self) -> str:
        """Return the hash of everything fed so far: 64 hex digits of sha256, 40 of sha1."""
        return self._sha.hexdigest()

    def _add_header(self, name: str, dtype: str, shape: tuple[int, ...]) -> None:
        for text in (name, dtype, ",".join(map(str, shape))):
            field = text.encode("utf-8", "surrogatepass")
            self._sha.update(b"%d:%s" % (len(field), field))


def digest_arrays(arrays: Iterable[tuple[str, str, NDArray[Any]]], *, algorithm: str = "sha256") -> str:
    """Return one hash over (name, dtype, array) triples, in their order.

    Parameters
    ----------
    arrays : iterable of (str, str, numpy.ndarray)
        Consumed lazily: a generator that converts one tensor at a time keeps memory
        at one tensor.
    algorithm : str
        As :class:`ArrayHasher` takes it.

    Returns
    -------
    str
        64 hex digits of sha256, 40 of sha1.
    """
    hasher = ArrayHasher(algorithm)
    for name, dtype, array in arrays:
        hasher.add(name, dtype, array)
    return hasher.hexdigest()
