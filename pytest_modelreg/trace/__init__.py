"""Compact facts kept for diagnosis: so far, digests of named arrays.

What belongs here: numpy-only computations whose result is small and kept with a
golden. To add one, add a module that takes arrays by an iterator, so that callers can
feed tensors one at a time. Nothing here reads or writes files.
"""

from __future__ import annotations

from pytest_modelreg.trace.digest import ArrayHasher, digest_arrays

__all__ = ["ArrayHasher", "digest_arrays"]
