"""The port between running an exported model and what it is exported to.

What belongs here: the two protocols of a format and the values that cross them. To add
a format (another exporter, another engine), implement :class:`GraphFormat` and open it
with :class:`~.exported_runner.ExportedRunner`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from pytest_modelreg.domain.environment import FactValue
from pytest_modelreg.runtimes.graph.dynamic_axes import AxisRange, DeclaredAxes


@dataclass(frozen=True, kw_only=True, eq=False)
class GraphSource:
    """What a graph is made of.

    Parameters
    ----------
    flat : torch.nn.Module
        Takes the inputs in order and returns a tuple of tensors.
    inputs : mapping of str to torch.Tensor
        An example, by input name; no declared axis has size 1.
    declared : mapping
        Axes that may vary.
    output_names : tuple of str
        Names of the outputs in order.
    where : str
        Case and runtime, for messages.
    """

    flat: Any
    inputs: Mapping[str, Any]
    declared: DeclaredAxes
    output_names: tuple[str, ...]
    where: str


@dataclass(frozen=True, kw_only=True)
class ExportedGraph:
    """What an exporter says of what it wrote.

    Parameters
    ----------
    ranges : tuple of AxisRange
        Sizes that the graph states for declared axes; an exporter that states none leaves
        it empty.
    facts : mapping of str to scalar
        For the fingerprint.
    """

    ranges: tuple[AxisRange, ...] = ()
    facts: Mapping[str, FactValue] = field(default_factory=dict)


class GraphSession(Protocol):
    """A graph that is loaded, ready to run."""

    def list_inputs(self, names: Sequence[str]) -> Mapping[str, str]:
        """Return names and dtypes of the inputs that the graph has.

        Parameters
        ----------
        names : sequence of str
            Those of the source, in order: for a graph that knows its inputs by position.
        """

    def __call__(self, inputs: Mapping[str, Any]) -> Sequence[Any]:
        """Run it on tensors or arrays by input name; outputs are tensors, in order."""


class GraphFormat(Protocol):
    """How a model becomes a file, and the file runs."""

    @property
    def runtime(self) -> str:
        """The runtime's name, for messages and keys."""

    @property
    def file_name(self) -> str:
        """Name of the file that is written."""

    def describe(self) -> Mapping[str, Any]:
        """Return the options that enter the file: it is kept under them and the model's identity."""

    def export(self, source: GraphSource, file: Path) -> ExportedGraph:
        """Write the graph; whatever it raises is told as a failed export."""

    def load(self, file: Path) -> GraphSession:
        """Load the graph; raises ExportError with operator and module."""

    def describe_run_failure(self, error: Exception, file: Path) -> str:
        """Return what failed in a run of the graph, on one line."""
