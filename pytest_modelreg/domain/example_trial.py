"""A trial of an export: what of a graph depends on the example input that it was exported with.

What belongs here: values only. Who tries it is ``observe``'s, and what it proves is ``diagnose``'s.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class GraphPlace:
    """Where two graphs of one model part.

    Parameters
    ----------
    module : str
        Path of the module that the node came from; empty where the graph does not say.
    node : str
        Operator and name of the node in the first graph.
    first, second : str
        What both have there: a constant, or another node.
    """

    module: str
    node: str
    first: str
    second: str


@dataclass(frozen=True, kw_only=True)
class ExampleTrial:
    """A model exported once more with another example, and both graphs held against the model itself.

    Every sample is run as a batch of copies of it, as long as the batch that the case exported with, so
    that the size of the batch is no difference.

    Parameters
    ----------
    example : str
        Id of the sample that the second export had for its example.
    own, again : mapping of str to float
        Relative error of the case's own graph, and of the second one, against the model, by sample.
    places : tuple of GraphPlace
        Where the two graphs part, in the order of the graph.
    size_places : tuple of GraphPlace
        Where two graphs part whose examples differ in size.
    warnings : tuple of str
        What the tracer warned of meanwhile, with file and line.
    """

    example: str
    own: Mapping[str, float] = field(default_factory=dict)
    again: Mapping[str, float] = field(default_factory=dict)
    places: tuple[GraphPlace, ...] = ()
    size_places: tuple[GraphPlace, ...] = ()
    warnings: tuple[str, ...] = ()
