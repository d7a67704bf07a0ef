"""Samples that are other ones than those the golden was recorded with, accepted by ``modelreg pin``."""

from __future__ import annotations

from benchmarks.attribution.edits import Change, Edit, Pin, Replace
from benchmarks.attribution.fault import Fault
from benchmarks.attribution.faults.planting import plant

KIND = "samples.content"


def _swap(name: str, *edits: Edit) -> Fault:
    return plant(name, KIND, *edits, Pin(), verdicts=("stale", "drift"))


FAULTS = (
    _swap("photos-recompressed", Change("recompress", "samples/sk-coffee.jpg", (60,))),
    _swap("photos-replaced", Change("copy_from", "samples/mpl-grace-hopper.jpg", ("sk-coffee.jpg",))),
    _swap("photos-added", Change("copy_from", "samples/new.jpg", ("sk-coffee.jpg",))),
    _swap("staged-removed", Change("remove", "samples/edge-cmyk.jpg")),
    _swap("staged-shrunk", Change("shrink", "samples/std-airplane-from-above.jpg", (0.5,))),
    _swap(
        "tensors-two-exchanged",
        Change("copy_from", "samples/x.jpg", ("sk-coffee.jpg",)),
        Change("copy_from", "samples/sk-coffee.jpg", ("mpl-grace-hopper.jpg",)),
        Change("copy_from", "samples/mpl-grace-hopper.jpg", ("x.jpg",)),
        Change("remove", "samples/x.jpg"),
    ),
    _swap("audio-cut", Change("cut", "samples/w03.npy", (160,))),
    _swap("table-edited", Change("set_field", "samples/r04.json", ("income", 99.0))),
    _swap("table-row-gone", Change("remove", "samples/r00.json")),
    _swap("tokens-edited", Replace("samples/s00.txt", "\n", " today\n")),
    _swap("tokens-id-changed", Change("rename", "samples/s05.txt", ("s99.txt",))),
)
