"""Words that a suite file keeps for later releases, and what it bounds itself.

What belongs here: closed lists of words of a suite file, as data. What this release
understands is told by the layers that carry it out (``observe.LOADERS``,
``runtimes.BUILTIN``, ``domain.check``). To make something supported, delete it from its
``*_NOT_YET`` list and add it there. A word in such a list is refused, never ignored: a
suite that is silently half applied would be green with less compared than it says.
"""

from __future__ import annotations

SUITE_FORMAT = 1
"""The only value of ``modelreg`` that this release reads."""

RUNTIMES_NOT_YET = frozenset({"torchscript", "callable"})
KINDS_NOT_YET = frozenset({"multilabel", "segmentation", "detection", "tokens"})
CHECKS_NOT_YET = frozenset({"pixel_agreement", "miou", "iou_match"})

RESERVED_NAMES = frozenset({"py"})
"""Suite names that would meet the goldens of Python tests in ``golden/py/``."""

RESERVED_CASES = frozenset({"reference"})
"""Names that no variant may have."""

MAX_CASES = 500
"""Most cases of a suite: a matrix grows by multiplication, and nobody means more than these."""

MAX_NAME_CHARS = 100
"""Longest name of a suite or a variant, in characters: it becomes part of file names and test ids."""
