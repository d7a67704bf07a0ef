"""Graphs that ONNX Runtime answers otherwise once it has optimised them.

Planted by a convolution of one pixel that adds thousands, a step that is fused into it, and a
subtraction that brings the numbers back: unoptimised, every step rounds as in the model, to
the last bit; fused, the constants are multiplied or added beforehand and round otherwise, by
parts in ten million of thousands.
"""

from __future__ import annotations

from benchmarks.attribution.edits import Edit, Replace, Vary
from benchmarks.attribution.fault import Fault
from benchmarks.attribution.faults.planting import plant

KIND = "runtime.optimization"
SHIFT = '''class Shift(nn.Module):
    """Adds thousands and takes them off again."""

    def __init__(self) -> None:
        super().__init__()
        for name, value in (("ones", 1.0), ("factor", 0.7), ("more", 2000.123)):
            constant = torch.full({shape}, value)
            self.register_buffer(name, constant, persistent=False)
        self.register_buffer("far", torch.full(({width},), 3000.37), persistent=False)

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        """Return about what came."""
        moved = nn.functional.conv{dims}d(values, self.ones, self.far, groups={width})
        return {back}


class Network('''
MULTIPLIED = "moved * self.factor.transpose(0, 1) - 2100.259"
ADDED = "(moved + self.more.transpose(0, 1)) - 5000.493"
PLACES = {
    "audio": (2, 1, "self.wave = nn", "self.wave(wave)", "self.wave(self.shift(wave))"),
    "staged": (3, 2, "self.stem = nn", "self.stem(pixels)", "self.stem(self.shift(pixels))"),
    "tensors": (3, 2, "self.enter = nn", "self.enter(pixels)", "self.enter(self.shift(pixels))"),
}


def _fuse(name: str, back: str, level: str) -> Fault:
    width, dims, member, call, shifted = PLACES[name.split("-")[0]]
    code = SHIFT.format(shape=(width, 1) + dims * (1,), width=width, dims=dims, back=back)
    before: tuple[Edit, ...] = (
        Replace("network.py", "class Network(", code),
        Replace("network.py", member, f"self.shift = Shift()\n        {member}"),
        Replace("network.py", call, shifted),
    )
    body = f"{{runtime: {{kind: onnx, exporter: torchscript, optimization: {level}}}}}"
    return plant(name, KIND, Vary(body), before=before, variant="changed")


FAULTS = (
    _fuse("audio-product-fused", MULTIPLIED, "basic"),
    _fuse("audio-sum-fused", ADDED, "all"),
    _fuse("staged-product-fused", MULTIPLIED, "all"),
    _fuse("staged-sum-fused", ADDED, "extended"),
    _fuse("tensors-sum-fused", ADDED, "all"),
)
