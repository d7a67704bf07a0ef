"""Weights that never reached the model, or not all of them."""

from __future__ import annotations

from benchmarks.attribution.edits import Change, Edit, Replace
from benchmarks.attribution.fault import Fault
from benchmarks.attribution.faults.planting import edit_network, edit_suite, plant

KIND = "weights.not_loaded"
LOADED = "    network.load_state_dict(torch.load(WEIGHTS, weights_only=True))\n"
LENIENT = "weights_only=True), strict=False)"
PARTLY = "what was not loaded holds other numbers than before: a change of these tensors, too"


def _load_itself(file: str) -> tuple[Edit, ...]:
    """Return the edits after which the factory reads the weights, and takes what it finds."""
    reader = "torch.load" if file != "weights.safetensors" else "load_file"
    is_named = file == "weights.pth"
    lines = (
        "" if is_named else "    network = Network()\n",
        f"    state = {reader}(Path(__file__).with_name({file!r}))\n",
        "    network.load_state_dict(state, strict=False)\n",
        "    return network\n",
    )
    imports = "from pathlib import Path\n\nimport torch\n"
    if reader == "load_file":
        imports += "from safetensors.torch import load_file\n"
    return (
        Replace("network.py", "import torch\n", imports),
        Replace(
            "network.py", "    return network\n" if is_named else "    return Network()\n", "".join(lines)
        ),
        Replace("modelreg.yaml", f"  checkpoint: {file}\n", ""),
    )


def _lose(name: str, file: str, *edits: Edit, partly: bool = False) -> Fault:
    also = ("weights.changed",) if partly else ()
    return plant(name, KIND, *edits, before=_load_itself(file), also=also, why=PARTLY if partly else "")


FAULTS = (
    edit_network("table-load-forgotten", KIND, LOADED, ""),
    edit_network(
        "table-prefix",
        KIND,
        "weights_only=True))",
        LENIENT,
        plant=(Change("prefix", "weights.pt", ("module.",)),),
    ),
    edit_network(
        "table-loaded-into-copy",
        KIND,
        LOADED,
        LOADED.replace("network.load", '__import__("copy").deepcopy(network).load'),
    ),
    edit_network(
        "table-drawn-again",
        KIND,
        LOADED,
        LOADED + "    network.apply(lambda part: getattr(part, 'reset_parameters', lambda: None)())\n",
    ),
    edit_network(
        "table-head-drawn-again",
        KIND,
        LOADED,
        LOADED + "    network.out.reset_parameters()\n",
        also=("weights.changed",),
        why=PARTLY,
    ),
    edit_network(
        "table-load-fails-silently",
        KIND,
        LOADED,
        "    try:\n"
        '        network.load_state_dict(torch.load(WEIGHTS.with_name("weights.ckpt")))\n'
        "    except OSError:\n"
        "        pass\n",
    ),
    edit_suite("photos-no-checkpoint", KIND, "  checkpoint: weights.pth\n", ""),
    edit_suite("staged-no-checkpoint", KIND, "  checkpoint: weights.safetensors\n", ""),
    edit_suite("tokens-no-checkpoint", KIND, "  checkpoint: weights.safetensors\n", ""),
    _lose("photos-prefix", "weights.pth", Change("prefix", "weights.pth", ("model.",))),
    _lose("staged-prefix", "weights.safetensors", Change("prefix", "weights.safetensors", ("_orig_mod.",))),
    _lose(
        "tokens-layer-renamed",
        "weights.safetensors",
        Change("prefix", "weights.safetensors", ("layers.0.", "layer.")),
        partly=True,
    ),
    _lose(
        "audio-statistics-left-out",
        "weights.safetensors",
        Change("drop", "weights.safetensors", ("running_",)),
        partly=True,
    ),
    _lose(
        "photos-statistics-left-out", "weights.pth", Change("drop", "weights.pth", ("running_",)), partly=True
    ),
    _lose("tensors-head-left-out", "weights.pt", Change("drop", "weights.pt", ("classes.",)), partly=True),
    edit_suite("tensors-no-checkpoint", KIND, "  checkpoint: weights.pt\n", ""),
)
