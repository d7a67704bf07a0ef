"""Trials of an exported graph with other sizes than those it was exported with.

What belongs here: which sizes are tried, and what counts as failing. A bound that a
graph does not state (a batch size written into a reshape) shows only when it is run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from pytest_modelreg.domain.observation import RuntimeFinding
from pytest_modelreg.runtimes.graph.dynamic_axes import (
    DeclaredAxes,
    copy_inputs,
    list_axis_names,
    resize_inputs,
)

_MAX_CHARS = 200

Run = Callable[[Mapping[str, Any]], Sequence[Any]]
"""From inputs by name to outputs in order."""


def probe_axes(
    inputs: Mapping[str, Any],
    declared: DeclaredAxes,
    run: Run,
    *,
    run_model: Run | None,
    output_names: Sequence[str],
    known: frozenset[str] = frozenset(),
) -> Iterator[RuntimeFinding]:
    """Try a graph with other sizes of each declared axis, and yield what fails.

    Parameters
    ----------
    inputs : mapping of str to tensor or array
        Those it was exported with; resized along one axis name at a time.
    run : callable
        Runs the graph.
    run_model : callable or None
        Runs the model itself: the shapes that are expected. None: there is no model, and
        every output is expected to follow a batch axis with its own leading one.
    output_names : sequence of str
        For messages.
    known : frozenset of str
        Axis names that need no trial: they are known not to vary.
    """
    for meant, places in list_axis_names(declared).items():
        if meant in known:
            continue
        name, axis = places[0]
        size = inputs[name].shape[axis]
        is_batch = any(axis == 0 for _, axis in places)
        for tried in (size + 1, 1) if is_batch else (2 * size,):
            if tried == size or not size:
                continue
            probe = resize_inputs(inputs, places, tried)
            fault = _try_size(probe, tried, run, run_model, output_names, is_batch=is_batch)
            if fault is not None:
                names = list(dict.fromkeys(name for name, _ in places))
                yield RuntimeFinding(
                    subject=f"input{'s' if len(names) > 1 else ''} {', '.join(names)}",
                    what=f"axis {axis} ({meant})",
                    expected="any size",
                    actual=fault,
                )
                break


def _try_size(
    probe: Mapping[str, Any],
    size: int,
    run: Run,
    run_model: Run | None,
    output_names: Sequence[str],
    *,
    is_batch: bool,
) -> str | None:
    expected: list[list[int]] | None = None
    if run_model is not None:
        try:
            expected = [list(output.shape) for output in run_model(copy_inputs(probe))]
        except Exception as error:  # noqa: BLE001 - user code; what it means is decided below
            if not is_batch:
                return None  # whether the model takes this height is not ours to know
            return f"a size of {size} fails in the model itself: {_shorten(error)}"
    try:
        actual = [list(output.shape) for output in run(copy_inputs(probe))]
    except Exception as error:  # noqa: BLE001 - whatever the framework raises is the answer
        return f"a size of {size} fails: {_shorten(error)}"
    if expected is None:
        # Without the model only outputs that follow the batch can be told.
        expected = [[size, *shape[1:]] if shape and is_batch else shape for shape in actual]
    for name, wanted, got in zip(output_names, expected, actual, strict=False):
        if wanted != got:
            return f"a size of {size} gives output {name} of shape {got}, not {wanted}"
    return None


def _shorten(error: Exception) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= _MAX_CHARS else text[: _MAX_CHARS - 3] + "..."
