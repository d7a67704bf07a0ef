"""A model that trains while it is judged: modes that ``eval()`` does not reach, and functional forms."""

from __future__ import annotations

from benchmarks.attribution.edits import Append
from benchmarks.attribution.faults.planting import edit_network, edit_suite

KIND = "model.mode"
DEAF = '''class Deaf({base}):
    """A part that keeps training."""

    def train(self, mode: bool = True) -> "Deaf":
        """Ignore the mode."""
        return super().train(True)


class Network('''
RANDOM = "dropout that no module's mode shows: it draws at random in every pass, and is train mode's doing"
RUN_TRAINING = '''"""Feeds the network."""


def run(network, batch):
    """Answer, in train mode."""
    network.train()
    return network(batch)
'''
FROM_BATCH = (
    "statistics of the batch in use without a module in train mode: an answer depends on its neighbours"
)

FAULTS = (
    edit_network(
        "staged-deaf-norm",
        KIND,
        "class Network(",
        DEAF.format(base="nn.BatchNorm2d"),
        "self.norm = nn.BatchNorm2d(16)",
        "self.norm = Deaf(16)",
    ),
    edit_network(
        "staged-train-in-forward",
        KIND,
        "        features = self.block1(",
        "        self.train()\n        features = self.block1(",
    ),
    edit_network(
        "staged-block-trains",
        KIND,
        "        features = self.block2(",
        "        self.block2.train()\n        features = self.block2(",
    ),
    edit_network(
        "audio-functional-dropout",
        KIND,
        "self.drop(pooled)",
        "F.dropout(pooled, 0.1)",
        also=("nondeterminism",),
        why=RANDOM,
    ),
    edit_network(
        "audio-deaf-to-eval",
        KIND,
        "class Network(",
        DEAF.format(base="nn.BatchNorm1d"),
        "self.norm2 = nn.BatchNorm1d(32)",
        "self.norm2 = Deaf(32)",
    ),
    edit_network(
        "tokens-dropout-trains",
        KIND,
        "        batch, length, width = words.shape\n",
        "        self.drop.train()\n        batch, length, width = words.shape\n",
    ),
    edit_network(
        "tokens-functional-dropout",
        KIND,
        "self.drop(self.project(mixed))",
        "nn.functional.dropout(self.project(mixed), 0.1, training=True)",
        also=("nondeterminism",),
        why=RANDOM,
    ),
    edit_network(
        "tensors-functional-norm",
        KIND,
        "self.norm(self.enter(pixels))",
        "F.batch_norm(self.enter(pixels), None, None, self.norm.weight, self.norm.bias, training=True)",
        also=("batch_dependence",),
        why=FROM_BATCH,
    ),
    edit_network(
        "table-eval-overridden",
        KIND,
        "    def forward(",
        '    def eval(self):\n        """Stay as it is."""\n        return self\n\n    def forward(',
    ),
    edit_network(
        "table-train-overridden",
        KIND,
        "    def forward(",
        "    def train(self, mode=True):\n"
        '        """Keep the norm\'s statistics up to date."""\n'
        "        super().train(mode)\n"
        "        self.bn.train(True)\n"
        "        return self\n"
        "\n"
        "    def forward(",
    ),
    edit_network(
        "table-drop-only",
        KIND,
        "        return self.out(self.drop(hidden))",
        "        self.drop.train(True)\n        return self.out(self.drop(hidden))",
    ),
    edit_network(
        "photos-norms-train",
        KIND,
        "    return network\n",
        "    for part in network.modules():\n"
        "        if isinstance(part, torch.nn.BatchNorm2d):\n"
        "            part.train = lambda mode=True, part=part: part\n"
        "    return network\n",
    ),
    edit_suite(
        "photos-forward-trains",
        KIND,
        "  batch_size: 5\n",
        "  batch_size: 5\n  forward: feeding:run\n",
        plant=(Append("feeding.py", RUN_TRAINING),),
    ),
    edit_suite(
        "staged-forward-trains",
        KIND,
        "  batch_size: 6\n",
        "  batch_size: 6\n  forward: feeding:run\n",
        plant=(Append("feeding.py", RUN_TRAINING),),
    ),
    edit_network(
        "photos-last-norm-trains",
        KIND,
        "    return network\n",
        "    norm = network._bn1\n"
        "    network.train = lambda mode=True: [torch.nn.Module.train(network, mode), "
        "norm.train(True), network][-1]\n"
        "    return network\n",
    ),
)
