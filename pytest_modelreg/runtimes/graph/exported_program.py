"""torch.export: tracing a model into a program, and the bounds that it found.

What belongs here: what the runtime ``export`` and the ONNX exporter built on it share.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pytest_modelreg.runtimes.graph.dynamic_axes import AxisRange
from pytest_modelreg.runtimes.graph.graph_format import GraphSource

MINIMUM_TORCH = (2, 6)
"""First release in which an axis can be declared without naming its bounds."""


def trace_program(source: GraphSource, *, strict: bool) -> Any:
    """Trace a model with the declared axes left open.

    ``Dim.AUTO`` and not ``Dim.DYNAMIC``: a model that freezes an axis is exported as far
    as it goes, and the axis becomes a finding instead of an exporter's error.
    """
    import torch
    from torch.export import Dim

    shapes = tuple(dict.fromkeys(source.declared.get(name, {}), Dim.AUTO) or None for name in source.inputs)
    return torch.export.export(
        source.flat, tuple(source.inputs.values()), dynamic_shapes=(shapes,), strict=strict
    )


def list_ranges(program: Any, source: GraphSource) -> Iterator[AxisRange]:
    """Yield the bounds of every declared axis, as the program's inputs and constraints have them."""
    user_inputs = program.graph_signature.user_inputs
    values = {node.name: node.meta.get("val") for node in program.graph.nodes if node.op == "placeholder"}
    for node_name, name in zip(user_inputs, source.inputs, strict=True):
        for axis, meant in source.declared.get(name, {}).items():
            size = values[node_name].shape[axis]
            if isinstance(size, int):
                yield AxisRange(input=name, axis=axis, name=meant, minimum=size, maximum=size)
                continue
            expression = size.node.expr
            if expression.is_Integer:
                yield AxisRange(
                    input=name, axis=axis, name=meant, minimum=int(expression), maximum=int(expression)
                )
                continue
            bounds = program.range_constraints.get(expression)
            if bounds is None:
                # Tied to another axis by a formula, such as 2*s0.
                rule = "" if expression.is_Symbol else str(expression)
                yield AxisRange(input=name, axis=axis, name=meant, rule=rule)
            else:
                yield AxisRange(
                    input=name,
                    axis=axis,
                    name=meant,
                    minimum=_to_int(bounds.lower) or 0,
                    maximum=_to_int(bounds.upper),
                )


def _to_int(bound: Any) -> int | None:
    """Return a bound as a number; None where it is infinite."""
    # torch writes some infinities as the largest index.
    return int(bound) if bound.is_Integer and int(bound) < 2**62 else None
