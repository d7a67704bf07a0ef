"""A model as exporters like it: tensors in, a tuple of tensors out.

What belongs here: the module around the user's. Its graph is the same for every
exporter, and neither dictionaries nor dataclasses nor flags are left for them to lose.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from pytest_modelreg.runtimes.graph.captured_call import HollowCall
from pytest_modelreg.runtimes.graph.output_structure import OutputStructure

_Result = TypeVar("_Result")

MODEL_ATTRIBUTE = "model"
"""Where the user's model sits: the first part of module names in a graph."""


def make_flat_model(model: Any, call: HollowCall, outputs: OutputStructure) -> Any:
    """Return a module that calls ``model`` as ``call`` did, with other tensors.

    Its mode and that of the model's parts stay as they are.
    """
    import torch

    class FlatModel(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, *tensors: Any) -> tuple[Any, ...]:
            args, kwargs = call.fill(tensors)
            return outputs.flatten(self.model(*args, **kwargs))

    flat = FlatModel()
    flat.training = bool(getattr(model, "training", False))
    return flat


def run_untraced(run: Callable[[], _Result], model: Any) -> _Result:
    """Run the model itself once and leave it, and the generators, as they were.

    A model that keeps state in its buffers must be exported as it was loaded.
    """
    import torch

    cuda: Any = torch.cuda
    buffers = [(buffer, buffer._version, buffer.clone()) for buffer in model.buffers()]
    n_devices = cuda.device_count() if cuda.is_initialized() else 0
    try:
        with torch.random.fork_rng(devices=range(n_devices)), torch.no_grad():
            return run()
    finally:
        with torch.no_grad():
            for buffer, version, before in buffers:
                if buffer._version != version:
                    buffer.copy_(before)
