"""Which axes of a graph's inputs may vary: as declared, and as exported.

What belongs here: reading the option ``dynamic``, other sizes of an input, and what
a graph's own bounds say. Whether a graph really takes other sizes is ``axis_probe``'s.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pytest_modelreg.domain.errors import ExportError
from pytest_modelreg.domain.nearest import suggest
from pytest_modelreg.domain.observation import RuntimeFinding

BATCH = "batch"
DeclaredAxes = Mapping[str, Mapping[int, str]]
"""Names of axes that may vary, by input and axis."""


@dataclass(frozen=True, kw_only=True)
class AxisRange:
    """Sizes that an exported graph says it takes along one declared axis.

    Parameters
    ----------
    input, axis, name : str, int, str
        Which axis, and what the suite calls it.
    minimum, maximum : int, int or None
        Smallest and largest size, elements; None: no bound.
    rule : str
        What else must hold, as the exporter writes it; empty for nothing.
    """

    input: str
    axis: int
    name: str
    minimum: int = 0
    maximum: int | None = None
    rule: str = ""


def declare_axes(inputs: Mapping[str, Any], option: Mapping[str, Any] | None, case: str) -> DeclaredAxes:
    """Return the axes of a call's inputs that the suite declares as varying.

    Parameters
    ----------
    inputs : mapping of str to tensor or array
        By name.
    option : mapping or None
        The option ``dynamic``; empty: none. None: axis 0 of every input that is as long as the
        first one's, named ``batch``.

    Raises
    ------
    ExportError
        The option names inputs or axes that there are not, or one name for axes of
        several sizes; all faults at once.
    """
    if option is None:
        sizes = [value.shape[0] for value in inputs.values() if value.ndim]
        return {
            name: {0: BATCH} for name, value in inputs.items() if value.ndim and value.shape[0] == sizes[0]
        }
    declared = {
        name: {int(axis): str(meant) for axis, meant in axes.items()} for name, axes in option.items()
    }
    faults = []
    sizes_by_name: dict[str, dict[str, int]] = {}
    for name, axes in declared.items():
        if name not in inputs:
            known = ", ".join(inputs) or "none"
            faults.append(f"expected one of the model's inputs ({known}), got {name}{suggest(name, inputs)}")
            continue
        shape = list(inputs[name].shape)
        for axis, meant in axes.items():
            if axis >= len(shape):
                faults.append(f"{name}: expected an axis below {len(shape)}, got {axis} (shape {shape})")
            else:
                sizes_by_name.setdefault(meant, {})[f"axis {axis} of {name}"] = shape[axis]
    for meant, found in sizes_by_name.items():
        if len(set(found.values())) > 1:
            told = ", ".join(f"{size} ({where})" for where, size in found.items())
            faults.append(f"expected axes named {meant} to be of one size, got {told}; name them apart")
    if faults:
        raise ExportError(f"{case}: option 'dynamic': " + "; ".join(faults))
    return declared


def list_axis_names(declared: DeclaredAxes) -> dict[str, list[tuple[str, int]]]:
    """Return inputs and axes by the axis name they share, in order."""
    names: dict[str, list[tuple[str, int]]] = {}
    for name, axes in declared.items():
        for axis, meant in axes.items():
            names.setdefault(meant, []).append((name, axis))
    return names


def resize_inputs(inputs: Mapping[str, Any], axes: Iterable[tuple[str, int]], size: int) -> dict[str, Any]:
    """Return inputs cut, or repeated from their beginning, to another size along some axes."""
    resized = dict(inputs)
    for name, axis in axes:
        resized[name] = _resize(resized[name], axis, size)
    return resized


def copy_inputs(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return inputs in memory of their own: whoever is given them may write into them."""
    return {
        name: value.copy() if isinstance(value, np.ndarray) else value.clone()
        for name, value in inputs.items()
    }


def widen_inputs(inputs: Mapping[str, Any], declared: DeclaredAxes) -> dict[str, Any]:
    """Return inputs in which no declared axis has size 1.

    Exporters take a 1 for a constant that broadcasts: an example of one sample would
    freeze its batch axis.
    """
    widened = dict(inputs)
    for places in list_axis_names(declared).values():
        if any(inputs[name].shape[axis] == 1 for name, axis in places):
            widened = resize_inputs(widened, places, 2)
    return widened


def find_fixed_shape(shape: Iterable[int], axes: Mapping[int, str]) -> tuple[int | None, ...]:
    """Return an input's shape with None for every axis that may vary."""
    return tuple(None if axis in axes else int(size) for axis, size in enumerate(shape))


def find_narrowing(found: AxisRange) -> RuntimeFinding | None:
    """Return what is narrower than declared; None for an axis that takes any size.

    A lower bound of 2 counts for nothing: torch.export notes it for every axis, whether a
    single sample works or not, so that only a trial can tell.
    """
    if found.maximum is not None and found.maximum == found.minimum:
        actual = f"{found.minimum} only"
    elif found.maximum is not None:
        actual = f"{found.minimum} to {found.maximum}" if found.minimum > 2 else f"at most {found.maximum}"
    elif found.minimum > 2:
        actual = f"at least {found.minimum}"
    elif found.rule:
        actual = f"bound to {found.rule}"
    else:
        return None
    return RuntimeFinding(
        subject=f"input {found.input}",
        what=f"axis {found.axis} ({found.name})",
        expected="any size",
        actual=actual,
    )


def _resize(value: Any, axis: int, size: int) -> Any:
    positions = np.arange(size) % max(value.shape[axis], 1)
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        return value.index_select(axis, torch.as_tensor(positions, device=value.device))
    return np.take(value, positions, axis=axis)
