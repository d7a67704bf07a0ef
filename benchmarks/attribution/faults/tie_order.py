"""Equal scores in another order: nothing else differs."""

from __future__ import annotations

from benchmarks.attribution.edits import Replace
from benchmarks.attribution.faults.planting import edit_network

KIND = "tie_order"
SORTED = "ordered, places = torch.sort(scores, dim=1, descending=True, stable=True)"
WORDS = (
    Replace(
        "network.py",
        "        return self.out((words * kept).sum(1) / kept.sum(1))",
        "        embedding = self.out((words * kept).sum(1) / kept.sum(1))\n"
        "        scores, best = torch.sort(embedding.round(), dim=1, descending=True, "
        "stable=True)\n"
        '        return {"scores": scores, "best": best}',
    ),
    Replace(
        "modelreg.yaml", "  embedding: {kind: embedding}", "  scores: {kind: tensor}\n  best: {kind: tensor}"
    ),
)
TABLE = (
    Replace(
        "network.py",
        "        return self.out(self.drop(hidden))",
        "        ranks = torch.sort(self.out(self.drop(hidden)).round(), dim=1, "
        "descending=True, stable=True)\n"
        '        return {"values": ranks.values, "columns": ranks.indices}',
    ),
    Replace(
        "modelreg.yaml",
        "  estimate: {kind: regression}",
        "  values: {kind: tensor}\n  columns: {kind: tensor}",
    ),
)

FAULTS = (
    edit_network(
        "ranking-last-first",
        KIND,
        SORTED,
        "ordered, places = torch.sort(scores.flip(1), dim=1, descending=True, stable=True)\n"
        "        places = 11 - places",
    ),
    edit_network(
        "ranking-turned-ascending",
        KIND,
        SORTED,
        "ordered, places = torch.sort(scores, dim=1, stable=True)\n"
        "        ordered, places = ordered.flip(1), places.flip(1)",
    ),
    edit_network(
        "ranking-shards-merged",
        KIND,
        SORTED,
        "order = torch.tensor([6, 7, 8, 9, 10, 11, 0, 1, 2, 3, 4, 5])\n"
        "        ordered, places = torch.sort(scores[:, order], dim=1, descending=True, "
        "stable=True)\n"
        "        places = order[places]",
    ),
    edit_network(
        "ranking-by-price",
        KIND,
        SORTED,
        "order = torch.tensor([3, 9, 7, 1, 11, 4, 0, 8, 2, 10, 5, 6])\n"
        "        ordered, places = torch.sort(scores[:, order], dim=1, descending=True, "
        "stable=True)\n"
        "        places = order[places]",
    ),
    edit_network(
        "tokens-ties-turned",
        KIND,
        "torch.sort(embedding.round(), dim=1, descending=True, stable=True)",
        "torch.sort(embedding.round().flip(1), dim=1, descending=True, stable=True)\n"
        "        best = embedding.shape[1] - 1 - best",
        before=WORDS,
    ),
    edit_network(
        "table-ties-turned",
        KIND,
        '"columns": ranks.indices',
        '"columns": 5 - torch.sort(self.out(self.drop(hidden)).round().flip(1), dim=1, '
        "descending=True, stable=True).indices",
        before=TABLE,
    ),
)
