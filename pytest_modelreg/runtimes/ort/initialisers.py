"""The element types in which an ONNX file keeps its weights.

What belongs here: counting them. What a runtime's answers owe to them is a diagnosis's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from math import prod
from pathlib import Path

_MOST_BYTES = 1 << 30  # protobuf holds no larger graph in one piece
_NUMPY_NAMES = {"float": "float32", "double": "float64"}
_MODEL_SUFFIX = ".onnx"


def count_element_types(file: Path) -> Mapping[str, int]:
    """Return how many initialisers of a graph are of each element type, as numpy names them.

    Initialisers of one element, constants of a computation, are left out, and so are those of subgraphs.
    Empty without the package onnx, and for a file that is no plain ONNX file or too large to be read.
    """
    try:
        import onnx
    except ModuleNotFoundError:
        return {}
    if file.suffix != _MODEL_SUFFIX or file.stat().st_size > _MOST_BYTES:
        return {}
    model = onnx.load(str(file), load_external_data=False)
    kinds = onnx.TensorProto.DataType
    names = (
        kinds.Name(tensor.data_type).lower() for tensor in model.graph.initializer if prod(tensor.dims) > 1
    )
    return Counter(_NUMPY_NAMES.get(name, name) for name in names)
