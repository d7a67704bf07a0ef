"""Which axes of a file's inputs may vary: as the suite says, or as its batches lie; and whether they do.

What belongs here: what can be said of a file without its model. What other sizes do to it, ``axis_probe``
tries.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pytest_modelreg.domain.observation import RuntimeFinding
from pytest_modelreg.runtimes.graph.axis_probe import Run, probe_axes
from pytest_modelreg.runtimes.graph.dynamic_axes import (
    BATCH,
    AxisRange,
    DeclaredAxes,
    declare_axes,
    find_narrowing,
)

Shapes = Mapping[str, Sequence[Any]]
"""Shapes by input name as a file has them: an int is fixed, text is the name of an axis."""

_PRESUMED = "any size (dynamic: off says that one is meant)"


def find_frozen_axes(
    feeds: Mapping[str, Any],
    shapes: Shapes,
    option: Mapping[str, Any] | None,
    run: Run,
    *,
    output_names: Sequence[str],
    case: str,
) -> Iterator[RuntimeFinding]:
    """Yield where a file does not leave open what may vary, by its shapes and by trial.

    Parameters
    ----------
    feeds : mapping of str to numpy.ndarray
        Inputs of a batch that the file runs on.
    option : mapping or None
        The option ``dynamic``; None: the batch's axis, see :func:`presume_batch_axes`.
    run : callable
        Runs the file.

    Raises
    ------
    ExportError
        The option names inputs or axes that there are not.
    """
    declared = presume_batch_axes(feeds, shapes) if option is None else declare_axes(feeds, option, case)
    narrowed: dict[str, RuntimeFinding] = {}
    for name, axes in declared.items():
        for axis, meant in axes.items():
            size = shapes[name][axis]
            if isinstance(size, int):
                found = find_narrowing(
                    AxisRange(input=name, axis=axis, name=meant, minimum=size, maximum=size)
                )
                if found is not None:
                    narrowed.setdefault(meant, found)
    tried = probe_axes(
        feeds, declared, run, run_model=None, output_names=output_names, known=frozenset(narrowed)
    )
    for finding in (*narrowed.values(), *tried):
        yield replace(finding, expected=_PRESUMED) if option is None else finding


def presume_batch_axes(feeds: Mapping[str, Any], shapes: Shapes) -> DeclaredAxes:
    """Return the axes along which samples must lie, where the suite says nothing of them.

    The axes that the file names as it names the first axis of some input (a recurrent network's state has
    its batch second), otherwise the first of every input. They must all be of one size in the batch;
    where they are not, which of them is the batch's is not ours to tell, and nothing is presumed.
    """
    with_axes = {name: shapes[name] for name, value in feeds.items() if value.ndim}
    names = {shape[0] for shape in with_axes.values() if isinstance(shape[0], str)}
    axes = {
        name: [axis for axis, meant in enumerate(shape) if meant in names] or [0]
        for name, shape in with_axes.items()
    }
    sizes = {feeds[name].shape[axis] for name, found in axes.items() for axis in found}
    if len(sizes) != 1:
        return {}
    return {name: dict.fromkeys(found, BATCH) for name, found in axes.items()}
