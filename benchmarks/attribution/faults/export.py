"""Exports that froze or lost something of the model."""

from __future__ import annotations

from benchmarks.attribution.edits import Edit, Replace, Script, Vary
from benchmarks.attribution.fault import Fault
from benchmarks.attribution.faults.planting import plant, replace_texts

KIND = "runtime.export"
TRACED = "{runtime: {kind: onnx, exporter: torchscript}}"
ONE_BY_ONE = Replace("modelreg.yaml", "batch_size: 4", "batch_size: 1")
TABLE_HEAD = "return self.out(self.drop(hidden))"
OTHER_CODE = """
import torch, network
from torch.nn import functional as F
from safetensors.torch import load_file
model = network.build()
model.load_state_dict(load_file("weights.safetensors"))
model.eval()
{change}
torch.onnx.export(model, {example}, "shipped.onnx", input_names=["x"], output_names=["{output}"],
    dynamic_axes={{"x": {{0: "batch"}}, "{output}": {{0: "batch"}}}}, dynamo=False)
"""
SHIPPED = "{runtime: {kind: onnx-file, path: shipped.onnx}}"
BY_OTHER_CODE = "the file was exported from other code: both the export and the model it is of are others"


def _export(name: str, before: tuple[Edit, ...], body: str, *edits: Edit) -> Fault:
    return plant(name, KIND, *edits, Vary(body), before=before, variant="changed")


def _ship(name: str, change: str, example: str, output: str) -> Fault:
    code = OTHER_CODE.format(change=change, example=example, output=output)
    return plant(
        name, KIND, Script(code), Vary(SHIPPED), variant="changed", also=("model.code",), why=BY_OTHER_CODE
    )


FAULTS = (
    _export(
        "table-branch-traced",
        (
            ONE_BY_ONE,
            *replace_texts(
                "network.py",
                TABLE_HEAD,
                f"if rows[0, 0] > 0:\n            hidden = -hidden\n        {TABLE_HEAD}",
            ),
        ),
        TRACED,
    ),
    _export(
        "tensors-largest-traced",
        (
            ONE_BY_ONE,
            Replace(
                "network.py",
                "near = F.silu(",
                "pixels = pixels / float(pixels.abs().max())\n        near = F.silu(",
            ),
        ),
        TRACED,
    ),
    _export(
        "tokens-length-traced",
        (
            Replace(
                "network.py",
                "kept = mask",
                "words = words * (0.5 + 1.0 / float(ids.shape[1]))\n        kept = mask",
            ),
        ),
        "{runtime: {kind: onnx, exporter: torchscript, dynamic: {ids: {0: batch, 1: "
        "position}, mask: {0: batch, 1: position}}}}",
    ),
    _export(
        "staged-view-traced",
        (
            Replace("modelreg.yaml", "batch_size: 6", "batch_size: 7"),
            Replace(
                "network.py",
                "self.pool(features).flatten(1)",
                "self.pool(features).view(int(pixels.shape[0]), 32)",
            ),
        ),
        TRACED,
    ),
    _export(
        "table-narrowed",
        (
            Replace(
                "network.py",
                "        hidden = self.act(self.norm(",
                "        if rows.shape[0] > 8:\n"
                "            raise ValueError('at most eight rows')\n"
                "        hidden = self.act(self.norm(",
            ),
        ),
        "{runtime: onnx}",
    ),
    _export(
        "audio-otherwise-in-export",
        (),
        TRACED,
        Replace(
            "network.py",
            "F.gelu(self.norm2(self.mix(frames)))",
            'F.gelu(self.norm2(self.mix(frames)), approximate="tanh" if '
            'torch.onnx.is_in_onnx_export() else "none")',
        ),
    ),
    _export(
        "table-otherwise-when-compiled",
        (),
        "{runtime: export}",
        Replace(
            "network.py",
            TABLE_HEAD,
            "if torch.compiler.is_compiling():\n            hidden = hidden.clamp(max=1.0)\n        "
            + TABLE_HEAD,
        ),
    ),
    _export(
        "photos-otherwise-when-traced",
        (),
        TRACED,
        Replace(
            "network.py",
            "    return network\n",
            "    network.register_forward_hook(\n"
            "        lambda module, inputs, logits: logits.round(decimals=1) if "
            "torch.jit.is_tracing() else logits\n"
            "    )\n"
            "    return network\n",
        ),
    ),
    _export(
        "staged-otherwise-by-dynamo",
        (),
        "{runtime: onnx}",
        Replace(
            "network.py",
            "return self.head(",
            "if torch.compiler.is_exporting():\n"
            "            features = features.clamp(max=1.0)\n"
            "        return self.head(",
        ),
    ),
    _export(
        "table-mean-traced",
        (ONE_BY_ONE, Replace("network.py", "self.enter(rows)", "self.enter(rows - float(rows.mean()))")),
        TRACED,
    ),
    _ship(
        "audio-file-of-other-code",
        'model.wave.padding_mode = "reflect"; model.norm1.eps = 0.01',
        "(torch.zeros(2, 2, 4000),)",
        "embedding",
    ),
    _ship(
        "staged-file-of-other-code",
        "model.act = torch.nn.LeakyReLU(0.05)",
        "(torch.zeros(2, 3, 96, 96),)",
        "logits",
    ),
)
