"""What two environments differ in, most telling first, in words.

Here belongs which facts explain a drift better than others. To rank a new group of facts, add
its prefix to :data:`ORDER`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from pytest_modelreg.domain.environment import EnvironmentChange, FactValue

ORDER = ("torch.", "onnxruntime.", "torchvision.", "pillow.", "numpy.", "cpu.", "gpu.", "env.")
"""Groups of facts by prefix, lower case: what computes first, then what prepares, then what it runs on."""

THREADS = "threads"
"""Facts that end in it follow the groups: they change from machine to machine and rarely explain a drift."""

TORCH_VERSION = "torch.version"
RESTATEMENTS = frozenset({"torch.git_version", "torch.build", "torch.cuda_version", "torch.cudnn_version"})
"""Facts that change with every torch: next to its version they say nothing and would crowd others out."""

MAX_VALUE_LENGTH = 48
"""A longer value (all CPU flags, the build's text) is left to the table of changes; only its key is named."""


AXIS_FACTS = {"threads": frozenset({"torch.num_threads"})}
"""Facts that an axis sets, beside ``runtime.<axis>``."""

LOADING_AXES = frozenset({"runtime", "preprocess", "device"})
"""Axes by which other packages get loaded and other devices used, about which the reference knows nothing."""


def drop_declared(
    changes: Sequence[EnvironmentChange], axes: Collection[str]
) -> tuple[EnvironmentChange, ...]:
    """Leave out what follows from the axes that a variant declares to differ from the reference.

    Parameters
    ----------
    axes : collection of str
        Axes of the variant; the golden is the reference's.
    """
    return tuple(change for change in changes if not _is_declared(change, axes))


def _is_declared(change: EnvironmentChange, axes: Collection[str]) -> bool:
    group, _, name = change.key.partition(".")
    if group == "runtime" and ("runtime" in axes or name in axes):
        return True
    if any(change.key in AXIS_FACTS.get(axis, ()) for axis in axes):
        return True
    # A variable that is not set is known to be unset; a package that was not loaded is unknown.
    is_one_sided = (change.expected is None) != (change.actual is None)
    return is_one_sided and group != "env" and not LOADING_AXES.isdisjoint(axes)


def rank_changes(changes: Sequence[EnvironmentChange]) -> tuple[EnvironmentChange, ...]:
    """Return the changes, most telling first; changes of one group keep their order."""
    is_other_torch = any(change.key == TORCH_VERSION for change in changes)
    return tuple(sorted(changes, key=lambda change: _rank(change.key, is_other_torch=is_other_torch)))


def describe_changes(changes: Sequence[EnvironmentChange], *, n_named: int) -> str:
    """Return ``torch.version 2.13.0 -> 2.14.1, numpy.version 2.0 -> 2.4, 3 more``, in the order given."""
    clauses = [_describe_change(change) for change in changes[:n_named]]
    if len(changes) > n_named:
        clauses.append(f"{len(changes) - n_named} more")
    return ", ".join(clauses)


def _rank(key: str, *, is_other_torch: bool) -> int:
    if key == TORCH_VERSION:
        return -1
    n_groups = len(ORDER)
    if key.endswith(THREADS):
        return n_groups
    if is_other_torch and key in RESTATEMENTS:
        return n_groups + 2
    return next((rank for rank, prefix in enumerate(ORDER) if key.lower().startswith(prefix)), n_groups + 1)


def _describe_change(change: EnvironmentChange) -> str:
    sides = (change.expected, change.actual)
    values = [_format_fact(value) for value in sides]
    if any(len(value) > MAX_VALUE_LENGTH for value in values):
        return change.key
    if values[0] == values[1]:  # a setting that is called none, and one that this version does not have
        values = [text if value is not None else "unknown" for text, value in zip(values, sides, strict=True)]
    return f"{change.key} {values[0]} -> {values[1]}"


def _format_fact(value: FactValue) -> str:
    # A variable may hold line breaks; a message is one line.
    return "none" if value is None else " ".join(str(value).split())
