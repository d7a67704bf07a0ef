"""Weights that are other ones: of one layer, of all, in numbers of fewer bits, of another epoch."""

from __future__ import annotations

from typing import Any

from benchmarks.attribution.edits import Change, Script, Vary
from benchmarks.attribution.fault import Fault
from benchmarks.attribution.faults.planting import edit_network, plant

KIND = "weights.changed"
FILES = {
    "photos": "weights.pth",
    "staged": "weights.safetensors",
    "tensors": "weights.pt",
    "audio": "weights.safetensors",
    "table": "weights.pt",
    "tokens": "weights.safetensors",
}
LOADED = "network.load_state_dict(torch.load(WEIGHTS, weights_only=True))\n"
STRAY_PASS = """    network.train()
    with torch.no_grad():
        network({input})
    return network.eval()
"""
STALE_FILE = """
import torch, network
from safetensors.torch import load_file
model = network.build()
model.load_state_dict(load_file("weights.safetensors"))
model.eval()
with torch.no_grad():
    model.{layer}.weight.mul_(1.03)
torch.onnx.export(model, {example}, "shipped.onnx", input_names=["x"], output_names=["{output}"],
    dynamic_axes={{"x": {{0: "batch"}}, "{output}": {{0: "batch"}}}}, dynamo=False)
"""
SHIPPED = "{runtime: {kind: onnx-file, path: shipped.onnx}}"
BY_FILE = "the file was exported from other weights: both its weights and the export are out of step"


def _change(name: str, function: str, *arguments: Any) -> Fault:
    file = FILES[name.split("-")[0]]
    return plant(name, KIND, Change(function, file, arguments))


def _ship(name: str, layer: str, example: str, output: str) -> Fault:
    code = STALE_FILE.format(layer=layer, example=example, output=output)
    return plant(
        name, KIND, Script(code), Vary(SHIPPED), variant="changed", also=("runtime.export",), why=BY_FILE
    )


FAULTS = (
    _change("photos-one-layer", "scale", "_blocks.7._project_conv.weight", 1.01),
    _change("photos-half-precision", "round_to", "float16"),
    _change("photos-noise", "add_noise", 1e-3),
    _change("photos-statistics-moved", "move_statistics", 0.01),
    _change("photos-head-only", "add_noise", 0.02, "_fc.weight"),
    _change("staged-other-epoch", "add_noise", 0.05),
    _change("staged-eight-bits", "quantise", 127),
    _change("staged-bias-gone", "scale", "head.bias", 0.0),
    _change("staged-statistics-moved", "move_statistics", 0.1),
    _change("tensors-bfloat16", "round_to", "bfloat16"),
    _change("tensors-pruned", "prune", 0.2),
    _change("tensors-map-head", "shift", "map.bias", 0.01),
    _change("audio-layer-rescaled", "scale", "mix.weight", 0.98),
    _change("audio-noise", "add_noise", 1e-3),
    _change("table-two-norms-swapped", "swap", "norm.weight", "bn.weight"),
    _change("table-half-precision", "round_to", "float16"),
    _change("tokens-one-word", "set_row", "words.weight", 6),
    _change("tokens-other-seed", "add_noise", 1.5),
    _change("tokens-eight-bits", "quantise", 127),
    edit_network(
        "table-stray-pass",
        KIND,
        LOADED + "    return network\n",
        LOADED + STRAY_PASS.format(input="torch.randn(16, 8)"),
    ),
    edit_network(
        "table-stray-passes",
        KIND,
        LOADED + "    return network\n",
        LOADED + STRAY_PASS.format(input="3.0 + torch.randn(64, 8)"),
    ),
    _ship("audio-file-of-older-weights", "mix", "(torch.zeros(2, 2, 4000),)", "embedding"),
    _ship("staged-file-of-older-weights", "down", "(torch.zeros(2, 3, 96, 96),)", "logits"),
)
