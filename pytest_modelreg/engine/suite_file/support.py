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

SUITE_KEYS_NOT_YET = frozenset({"variants", "matrix"})
AXES_NOT_YET = frozenset({"device", "dtype", "autocast", "memory_format", "environment"})
RUNTIMES_NOT_YET = frozenset({"compile", "export", "torchscript", "onnx", "onnx-file", "callable"})
RUNTIME_KEYS_NOT_YET = frozenset({"transform"})
KINDS_NOT_YET = frozenset({"multilabel", "embedding", "segmentation", "detection", "tokens"})
CHECKS_NOT_YET = frozenset(
    {
        "snr_db",
        "kl",
        "negative_flips",
        "accuracy_drop",
        "pixel_agreement",
        "miou",
        "iou_match",
        "rank_overlap",
    }
)
CHECK_KEYS_NOT_YET = frozenset({"max_change"})

RESERVED_NAMES = frozenset({"py"})
"""Suite names that would meet the goldens of Python tests in ``golden/py/``."""

MAX_NAME_CHARS = 100
"""Longest suite name, in characters: it becomes part of file names and test ids."""
