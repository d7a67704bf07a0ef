"""What a suite file may say in this release, and what only a later one understands.

What belongs here: closed lists of words of a suite file, as data. To make something
supported, delete it from its ``*_NOT_YET`` list and add it where the models or the
list beside it name what exists. A word in such a list is refused, never ignored: a
suite that is silently half applied would be green with less compared than it says.
"""

from __future__ import annotations

from importlib.metadata import entry_points

FORMAT_VERSION = 1
"""The only value of ``modelreg`` that this release reads."""

LOADERS = ("image", "array", "text", "json", "bytes", "path")
"""Loaders known by name; every other one is written ``module:fn``."""

PER = ("sample", "batch", "ignore")
"""What the leading dimension of an output can be."""

CHECKPOINT_SUFFIXES = (".safetensors", ".pt", ".pth")
"""Files that hold weights."""

RUNTIME_OPTIONS: dict[str, frozenset[str]] = {"eager": frozenset()}
"""Built-in runtimes with the options each takes."""

RUNTIME_GROUP = "pytest_modelreg.runtimes"
"""Entry-point group of runtimes that other distributions add."""

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


def find_runtime_names() -> tuple[str, ...]:
    """List the runtimes of this installation: built in, then those of entry points.

    Walking every installed distribution costs milliseconds, so it is asked only for a
    name that is not built in.
    """
    added = sorted({entry.name for entry in entry_points(group=RUNTIME_GROUP)} - set(RUNTIME_OPTIONS))
    return (*RUNTIME_OPTIONS, *added)
