"""Compact facts kept for diagnosis: digests of named arrays, and sketches of long ones.

What belongs here: numpy-only computations whose result is small and kept with a
golden. To add one, add a module that takes arrays by an iterator, so that callers can
feed tensors one at a time. Nothing here reads or writes files.
"""

from __future__ import annotations

from pytest_modelreg.trace.digest import ArrayHasher, digest_arrays
from pytest_modelreg.trace.probe import count_columns, estimate_rel_l2, is_known, make_row
from pytest_modelreg.trace.sketch import CountSketch

__all__ = [
    "ArrayHasher",
    "CountSketch",
    "count_columns",
    "digest_arrays",
    "estimate_rel_l2",
    "is_known",
    "make_row",
]
