"""Answers that depend on what else is in the batch."""

from __future__ import annotations

from benchmarks.attribution.edits import Append, Change, Edit, Replace, Vary
from benchmarks.attribution.fault import Fault
from benchmarks.attribution.faults.planting import edit_network, edit_suite, plant, replace_texts

KIND = "batch_dependence"
RUN_SCALED = '''"""Feeds the network."""


def run(network, batch):
    """Answer for pixels that are scaled by the batch's largest."""
    return network(batch / batch.abs().max() * 2.0)
'''
UNTRACKED = (
    Replace("network.py", "nn.BatchNorm1d(16)", "nn.BatchNorm1d(16, track_running_stats=False)"),
    Change("drop", "weights.safetensors", (r"^norm1\.(running|num)",)),
)
UNTRACKED_PHOTOS = (
    Replace(
        "network.py",
        "    return network\n",
        "    network._bn1 = torch.nn.BatchNorm2d(1280, eps=1e-3, track_running_stats=False)\n"
        "    return network\n",
    ),
    Change("drop", "weights.pth", (r"^_bn1\.(running|num)",)),
)
MASK_IGNORED = replace_texts(
    "network.py", "        scores = scores.masked_fill(~mask[:, None, None, :], -1e4)\n", ""
)
POOLED_OVER_PADDING = replace_texts("network.py", "(words * kept).sum(1) / kept.sum(1)", "words.mean(1)")
CENTRED = replace_texts("network.py", "self.enter(rows)", "self.enter(rows - rows.mean(0))")


def _rebatch(name: str, before: tuple[Edit, ...], old: int, new: int) -> Fault:
    return edit_suite(name, KIND, f"batch_size: {old}", f"batch_size: {new}", before=before)


def _vary(name: str, before: tuple[Edit, ...], size: int) -> Fault:
    return plant(name, KIND, Vary(f"{{batch_size: {size}}}"), before=before, variant="changed")


FAULTS = (
    edit_network("table-batch-mean", KIND, "self.enter(rows)", "self.enter(rows - rows.mean(0))"),
    edit_network(
        "table-softmax-over-batch",
        KIND,
        "return self.out(self.drop(hidden))",
        "return self.out(self.drop(hidden * hidden.softmax(0)))",
    ),
    edit_network(
        "tensors-range-of-batch",
        KIND,
        "near = F.silu(",
        "pixels = (pixels - pixels.amin()) / (pixels.amax() - pixels.amin())\n        near = F.silu(",
    ),
    edit_network(
        "tokens-attention-over-batch",
        KIND,
        "words = self.norm1(words + ",
        "mixed = mixed + 0.1 * (mixed.transpose(0, 1) @ mixed.transpose(0, 1).transpose(1, "
        "2)).softmax(-1).matmul(mixed.transpose(0, 1)).transpose(0, 1)\n"
        "        words = self.norm1(words + ",
    ),
    edit_network(
        "staged-loudest-of-batch",
        KIND,
        "return self.head(",
        "features = features / features.amax(dim=0, keepdim=True).clamp(min=1e-3)\n        return self.head(",
    ),
    edit_suite(
        "staged-scaled-by-batch",
        KIND,
        "  batch_size: 6\n",
        "  batch_size: 6\n  forward: feeding:run\n",
        plant=(Append("feeding.py", RUN_SCALED),),
    ),
    _rebatch("audio-untracked-norm", UNTRACKED, 4, 3),
    _vary("audio-untracked-norm-variant", UNTRACKED, 6),
    _vary("tokens-mask-ignored", MASK_IGNORED, 1),
    _rebatch("tokens-pooled-over-padding", POOLED_OVER_PADDING, 4, 3),
    _vary("table-centred-variant", CENTRED, 16),
    _rebatch("table-centred-alone", CENTRED, 4, 2),
    _vary("photos-untracked-norm", UNTRACKED_PHOTOS, 7),
)
