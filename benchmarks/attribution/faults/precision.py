"""Fewer bits, by a transform, a dtype, autocast, or in the file that ships."""

from __future__ import annotations

from benchmarks.attribution.edits import Append, Edit, Replace, Script, Vary
from benchmarks.attribution.fault import Fault
from benchmarks.attribution.faults.planting import plant

KIND = "runtime.precision"
DEPLOY = '''"""What is done to the network before it ships."""

import torch


def round_weights(network, dtype=torch.float16):
    """Round every weight to fewer bits and back."""
    with torch.no_grad():
        for tensor in [*network.parameters(), *network.buffers()]:
            if tensor.is_floating_point():
                tensor.copy_(tensor.to(dtype).to(tensor.dtype))
    return network


def round_to_bfloat16(network):
    """Round every weight to bfloat16 and back."""
    return round_weights(network, torch.bfloat16)


def fake_int8(network):
    """Round every matrix to 8 bits."""
    with torch.no_grad():
        for tensor in network.parameters():
            if tensor.dim() > 1:
                step = tensor.abs().max() / 127
                tensor.copy_((tensor / step).round() * step)
    return network


def quantise(network):
    """Quantise linear layers."""
    return torch.ao.quantization.quantize_dynamic(network, {torch.nn.Linear}, dtype=torch.qint8)


class Narrow(torch.nn.Module):
    """A network that computes in bfloat16 and answers in float32."""

    def __init__(self, network):
        super().__init__()
        self.network = network.to(torch.bfloat16)

    def forward(self, values):
        """Answer."""
        return self.network(values.to(torch.bfloat16)).float()


def narrow(network):
    """Compute in bfloat16."""
    return Narrow(network)
'''
HALF_FILE = """
import torch, network
names = ["x"], ["logits"]
axes = {"x": {0: "batch"}, "logits": {0: "batch"}}
from safetensors.torch import load_file
model = network.build()
model.load_state_dict(load_file("weights.safetensors"))
model.eval()
with torch.no_grad():
    for tensor in [*model.parameters(), *model.buffers()]:
        if tensor.is_floating_point():
            tensor.copy_(tensor.half().float())
example = (torch.zeros(2, 3, 96, 96),)
torch.onnx.export(model, example, "shipped.onnx", input_names=names[0], output_names=names[1],
    dynamic_axes=axes, dynamo=False)
"""
ROUNDED = "a transform that rounds weights: the weights that ran are others, because of their precision"


def _transform(name: str, function: str, **more: object) -> Fault:
    body = f'{{runtime: {{kind: eager, transform: "deploy:{function}"}}}}'
    return plant(name, KIND, Append("deploy.py", DEPLOY), Vary(body), variant="changed", **more)


def _vary(name: str, body: str, *before: Edit) -> Fault:
    return plant(name, KIND, Vary(body), before=before, variant="changed")


FAULTS = (
    _transform("photos-fake-int8", "fake_int8", also=("weights.changed",), why=ROUNDED),
    _transform("staged-half-weights", "round_weights", also=("weights.changed",), why=ROUNDED),
    _transform("audio-bfloat16-weights", "round_to_bfloat16", also=("weights.changed",), why=ROUNDED),
    _transform("table-quantised", "quantise"),
    _transform("tokens-quantised", "quantise"),
    _transform("audio-computes-narrow", "narrow"),
    _transform("staged-computes-narrow", "narrow"),
    _vary("table-bfloat16", "{dtype: bfloat16, checks: {rel_l2: 1e-4}}"),
    _vary("staged-float16", "{dtype: float16, checks: {rel_l2: 1e-5}}"),
    _vary("audio-autocast", "{autocast: bfloat16, checks: {rel_l2: 1e-4}}"),
    _vary("photos-autocast", "{autocast: bfloat16, checks: {rel_l2: 1e-3}}"),
    _vary(
        "table-overflow",
        "{dtype: float16}",
        Replace(
            "network.py",
            "return self.out(self.drop(hidden))",
            "return self.out(self.drop(hidden * 6e4)) / 6e4",
        ),
    ),
    plant(
        "staged-file-in-half",
        KIND,
        Script(HALF_FILE),
        Vary("{runtime: {kind: onnx-file, path: shipped.onnx}}"),
        variant="changed",
        also=("weights.changed", "runtime.export"),
        why="the file holds weights rounded to half when it was exported: precision, weights and "
        "export at once",
    ),
)
