"""A model whose code computes something else with the same weights."""

from __future__ import annotations

from benchmarks.attribution.faults.planting import edit_network

KIND = "model.code"
RETURN = "    return network\n"

FAULTS = (
    edit_network(
        "staged-norm-eps", KIND, "self.norm = nn.BatchNorm2d(16)", "self.norm = nn.BatchNorm2d(16, eps=1e-2)"
    ),
    edit_network(
        "staged-leaky",
        KIND,
        "self.norm = nn.BatchNorm2d(16)\n        self.act = nn.ReLU()",
        "self.norm = nn.BatchNorm2d(16)\n        self.act = nn.LeakyReLU(0.01)",
    ),
    edit_network("staged-residual-scaled", KIND, "features + inner", "features + 0.9 * inner"),
    edit_network("staged-max-pool", KIND, "nn.AdaptiveAvgPool2d(1)", "nn.AdaptiveMaxPool2d(1)"),
    edit_network(
        "staged-classes-turned",
        KIND,
        "return self.head(self.drop(self.pool(features).flatten(1)))",
        "return self.head(self.drop(self.pool(features).flatten(1))).flip(1)",
    ),
    edit_network(
        "staged-second-block-skipped", KIND, "self.block2(self.down(features))", "self.down(features)"
    ),
    edit_network("tensors-nearest-inside", KIND, 'mode="bilinear", align_corners=False', 'mode="nearest"'),
    edit_network("tensors-corners-inside", KIND, "align_corners=False", "align_corners=True"),
    edit_network(
        "tensors-heat-sharper",
        KIND,
        "torch.sigmoid(self.map(joined))",
        "torch.sigmoid(1.1 * self.map(joined))",
    ),
    edit_network(
        "tensors-classes-rolled", KIND, "joined.mean(dim=(2, 3)))", "joined.mean(dim=(2, 3))).roll(1, 1)"
    ),
    edit_network(
        "audio-tanh-gelu",
        KIND,
        "F.gelu(self.norm2(self.mix(frames)))",
        'F.gelu(self.norm2(self.mix(frames)), approximate="tanh")',
    ),
    edit_network("audio-reflect", KIND, 'padding_mode="zeros"', 'padding_mode="reflect"'),
    edit_network("audio-biased-deviation", KIND, "frames.std(-1)", "frames.std(-1, unbiased=False)"),
    edit_network("table-norm-eps", KIND, "nn.LayerNorm(32)", "nn.LayerNorm(32, eps=1e-2)"),
    edit_network("table-no-skip", KIND, "hidden = hidden + self.act", "hidden = self.act"),
    edit_network(
        "table-norm-after",
        KIND,
        "self.act(self.norm(self.enter(rows)))",
        "self.norm(self.act(self.enter(rows)))",
    ),
    edit_network("tokens-unscaled", KIND, " / (width // HEADS) ** 0.5", ""),
    edit_network(
        "tokens-places-shifted",
        KIND,
        "torch.arange(ids.shape[1], device=ids.device)",
        "torch.arange(ids.shape[1], device=ids.device) + 1",
    ),
    edit_network("tokens-one-head", KIND, "HEADS = 2", "HEADS = 1"),
    edit_network(
        "photos-norm-eps",
        KIND,
        RETURN,
        "    for part in network.modules():\n"
        "        if isinstance(part, torch.nn.BatchNorm2d):\n"
        "            part.eps = 1e-5\n" + RETURN,
    ),
    edit_network(
        "photos-classes-turned",
        KIND,
        RETURN,
        "    network.register_forward_hook(lambda module, inputs, logits: logits.flip(1))\n" + RETURN,
    ),
    edit_network(
        "photos-unbounded",
        KIND,
        RETURN,
        "    for part in (network, *network._blocks):\n        part._swish = torch.nn.ReLU()\n" + RETURN,
    ),
    edit_network(
        "photos-one-block-swish",
        KIND,
        RETURN,
        "    network._blocks[9]._swish = torch.nn.Hardswish()\n" + RETURN,
    ),
)
