"""Exporting a model and looking at what came out.

What belongs here: the steps from a model to a file with its record, and what of the
graph is held against what the suite declares.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_modelreg.domain.errors import CaseError, ExportError
from pytest_modelreg.domain.listing import name_some
from pytest_modelreg.domain.observation import RuntimeFinding
from pytest_modelreg.runtimes.export_failure import describe_failure
from pytest_modelreg.runtimes.framework_calls import quiet_framework
from pytest_modelreg.runtimes.graph.axis_probe import probe_axes
from pytest_modelreg.runtimes.graph.dynamic_axes import copy_inputs, find_narrowing
from pytest_modelreg.runtimes.graph.export_record import ExportRecord, write_record
from pytest_modelreg.runtimes.graph.flat_model import run_untraced
from pytest_modelreg.runtimes.graph.graph_format import ExportedGraph, GraphFormat, GraphSession, GraphSource

_LISTED = 5


def export_graph(format: GraphFormat, source: GraphSource, file: Path, *, sizes: Mapping[str, int]) -> None:
    """Write a graph and its record.

    Parameters
    ----------
    sizes : mapping of str to int
        Sizes of the declared axes of the batch, by axis name; kept with the record.

    Raises
    ------
    ExportError
        The model cannot be exported, or what was exported does not run: operator and module
        are named where they are known.
    """
    import torch

    model = source.flat.model
    with quiet_framework(), torch.no_grad():
        try:
            exported: ExportedGraph = run_untraced(lambda: format.export(source, file), model)
        except CaseError:
            raise
        except Exception as error:  # whatever an exporter raises
            told = describe_failure(error, model, file)
            raise ExportError(f"{source.where}: the model cannot be exported: {told}") from error
        session = format.load(file)
        try:
            session(copy_inputs(source.inputs))
        except CaseError:
            raise
        except Exception as error:  # whatever an engine raises
            told = format.describe_run_failure(error, file)
            raise ExportError(f"{source.where}: what was exported does not run: {told}") from error
        findings = (
            *_find_modes(model),
            *_find_inputs(source, session),
            *_find_axes(source, exported, session),
        )
    write_record(file, ExportRecord(sizes=dict(sizes), facts=exported.facts, findings=findings))


def _find_modes(model: Any) -> list[RuntimeFinding]:
    training = [name or "(model)" for name, part in model.named_modules() if getattr(part, "training", False)]
    if not training:
        return []
    actual = f"train: {name_some(training, _LISTED)}"
    return [RuntimeFinding(subject="model", what="mode", expected="eval", actual=actual)]


def _find_inputs(source: GraphSource, session: GraphSession) -> list[RuntimeFinding]:
    findings = []
    present = session.list_inputs(tuple(source.inputs))
    for name, value in source.inputs.items():
        dtype = str(value.dtype).removeprefix("torch.")
        if name not in present:
            what, expected, actual = "name", "an input of the graph", "left out, because nothing reads it"
        elif present[name] != dtype:
            what, expected, actual = "dtype", dtype, present[name]
        else:
            continue
        findings.append(RuntimeFinding(subject=f"input {name}", what=what, expected=expected, actual=actual))
    return findings


def _find_axes(source: GraphSource, exported: ExportedGraph, session: GraphSession) -> list[RuntimeFinding]:
    import torch

    model = source.flat.model
    narrowed = {found.name: finding for found in exported.ranges if (finding := find_narrowing(found))}

    seeds = itertools.count()

    def run_model(inputs: Mapping[str, Any]) -> Sequence[Any]:
        def run() -> Sequence[Any]:
            # With the same numbers every time, a model that is random would not show it.
            torch.default_generator.manual_seed(next(seeds))
            outputs: Sequence[Any] = source.flat(*inputs.values())
            return outputs

        return run_untraced(run, model)

    def run_graph(inputs: Mapping[str, Any]) -> Sequence[Any]:
        return run_untraced(lambda: session(inputs), model)

    tried = probe_axes(
        source.inputs,
        source.declared,
        run_graph,
        run_model=run_model,
        output_names=source.output_names,
        known=frozenset(narrowed),
    )
    return [*narrowed.values(), *tried]
