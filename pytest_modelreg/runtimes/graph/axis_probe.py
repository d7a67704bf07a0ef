"""Trials of an exported graph with other sizes than those it was exported with.

What belongs here: which sizes are tried, and what counts as failing. A bound that a
graph does not state (a batch size written into a reshape, or into the divisor of a mean)
shows only when it is run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pytest_modelreg.domain.observation import RuntimeFinding
from pytest_modelreg.runtimes.graph.dynamic_axes import (
    DeclaredAxes,
    copy_inputs,
    list_axis_names,
    resize_inputs,
)
from pytest_modelreg.runtimes.graph.output_distance import measure_distances

_MAX_CHARS = 200
_CONTRAST = 10.0
"""By how much a size must make a difference larger, for the size to be what makes it."""

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
        Runs the model itself: the shapes and values that are expected; a model that is random draws
        other numbers every time. None: there is no model, and an output that is as long as the batch is
        expected not to stay so.
    output_names : sequence of str
        For messages.
    known : frozenset of str
        Axis names that need no trial: they are known not to vary.
    """
    trials = _Trials(inputs=inputs, run=run, run_model=run_model, output_names=output_names)
    for meant, places in list_axis_names(declared).items():
        if meant in known:
            continue
        name, axis = places[0]
        size = inputs[name].shape[axis]
        is_batch = any(axis == 0 for _, axis in places)
        for tried in (size + 1, 1) if is_batch else (2 * size,):
            if tried == size or not size:
                continue
            fault = trials.try_size(places, size, tried, is_batch=is_batch)
            if fault is not None:
                names = list(dict.fromkeys(name for name, _ in places))
                yield RuntimeFinding(
                    subject=f"input{'s' if len(names) > 1 else ''} {', '.join(names)}",
                    what=f"axis {axis} ({meant})",
                    expected="any size",
                    actual=fault,
                )
                break


@dataclass(frozen=True, kw_only=True)
class _Trials:
    inputs: Mapping[str, Any]
    run: Run
    run_model: Run | None
    output_names: Sequence[str]

    def try_size(
        self, places: Sequence[tuple[str, int]], size: int, tried: int, *, is_batch: bool
    ) -> str | None:
        """Return what is wrong at another size of some axes, None where nothing is."""
        probe = resize_inputs(self.inputs, places, tried)
        expected: Sequence[Any] | None = None
        if self.run_model is not None:
            try:
                expected = self.run_model(copy_inputs(probe))
            except Exception as error:  # noqa: BLE001 - user code; what it means is decided below
                if not is_batch:
                    return None  # whether the model takes this height is not ours to know
                return f"a size of {tried} fails in the model itself: {_shorten(error)}"
        try:
            actual = self.run(copy_inputs(probe))
        except Exception as error:  # noqa: BLE001 - whatever the framework raises is the answer
            return f"a size of {tried} fails: {_shorten(error)}"
        if expected is None:
            return self._find_unmoved(actual, size, tried) if is_batch and size > 1 else None
        for name, wanted, got in zip(self.output_names, expected, actual, strict=False):
            if _shape(wanted) != _shape(got):
                return f"a size of {tried} gives output {name} of shape {_shape(got)}, not {_shape(wanted)}"
        return self._find_other_values(probe, places, size, tried, expected, actual, in_order=is_batch)

    @cached_property
    def _own_shapes(self) -> list[list[int] | None]:
        return _list_shapes(self.run(copy_inputs(self.inputs)))

    def _find_unmoved(self, actual: Sequence[Any], size: int, tried: int) -> str | None:
        """Return which output is as long as the batch was and stays so.

        Others may have any length: detections of all samples, a table of anchors.
        """
        for name, before, after in zip(self.output_names, self._own_shapes, actual, strict=False):
            shape = _shape(after)
            if shape and shape == before and shape[0] == size:
                return f"a size of {tried} gives output {name} of shape {shape}, not {[tried, *shape[1:]]}"
        return None

    def _find_other_values(
        self,
        probe: Mapping[str, Any],
        places: Sequence[tuple[str, int]],
        size: int,
        tried: int,
        expected: Sequence[Any],
        actual: Sequence[Any],
        *,
        in_order: bool,
    ) -> str | None:
        """Return which output the graph computes otherwise than the model because of the size.

        What differs for another reason is no matter of the size: a branch that this content takes,
        precision, random numbers, state. So graph and model must agree on the same content at the size
        of the export, also on what was added to it, and the model must repeat what it said.
        """
        distances = measure_distances(expected, actual, expected, in_order=in_order)
        if self.run_model is None or max(distances, default=0.0) <= 1:
            return None
        first = resize_inputs(self.inputs, places, 1)
        controls = [resize_inputs(content, places, size) for content in (probe, first)]
        try:
            usual = self.run_model(copy_inputs(self.inputs))
            pairs = [(self.run_model(copy_inputs(one)), self.run(copy_inputs(one))) for one in controls]
            pairs.append((expected, self.run_model(copy_inputs(probe))))
        except Exception:  # noqa: BLE001 - user code that does not take this content: nothing is known
            return None
        if any(_list_shapes(one) != _list_shapes(other) for one, other in pairs):
            return None
        noise = [measure_distances(*pair, usual, in_order=in_order) for pair in pairs]
        distances = measure_distances(expected, actual, usual, in_order=in_order)
        for name, distance, *background in zip(self.output_names, distances, *noise, strict=False):
            if distance > 1 and distance > _CONTRAST * max(background):
                return f"a size of {tried} gives other values of output {name} than the model does"
        return None


def _shape(output: Any) -> list[int] | None:
    """Return an output's shape; None for a sequence or a map, which some files return."""
    shape = getattr(output, "shape", None)
    return None if shape is None else list(shape)


def _list_shapes(outputs: Sequence[Any]) -> list[list[int] | None]:
    return [_shape(output) for output in outputs]


def _shorten(error: Exception) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= _MAX_CHARS else text[: _MAX_CHARS - 3] + "..."
