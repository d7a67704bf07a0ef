"""Names that a suite file keeps for itself, and what it bounds.

What belongs here: closed lists and bounds of a suite file, as data. Which runtimes, loaders, kinds and
checks there are is told by the layers that carry them out.
"""

from __future__ import annotations

SUITE_FORMAT = 1
"""The only value of ``modelreg`` that this release reads."""

RESERVED_NAMES = frozenset({"py"})
"""Suite names that would meet the goldens of Python tests in ``golden/py/``."""

RESERVED_CASES = frozenset({"reference"})
"""Names that no variant may have."""

MAX_CASES = 500
"""Most cases of a suite: a matrix grows by multiplication, and nobody means more than these."""

MAX_NAME_CHARS = 100
"""Longest name of a suite or a variant, in characters: it becomes part of file names and test ids."""
