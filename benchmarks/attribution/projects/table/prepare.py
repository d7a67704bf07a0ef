"""Make rows, a few with a number missing, and draw the weights."""

import json
from pathlib import Path

import network
import numpy as np
import pipeline
import torch

torch.manual_seed(14)
Path("samples").mkdir()
rng = np.random.default_rng(14)
rows = []
for index in range(16):
    values = rng.normal(pipeline.MEAN, pipeline.STD).round(2)
    row = dict(zip(pipeline.COLUMNS, map(float, values), strict=True))
    if index % 5 == 1:
        row[pipeline.COLUMNS[index % 8]] = None
    rows.append(pipeline.prepare(row))
    Path(f"samples/r{index:02d}.json").write_text(json.dumps(row), encoding="utf-8")
model = network.Network()
for norm in (model.norm, model.bn):
    torch.nn.init.uniform_(norm.weight, 0.6, 1.4)
    torch.nn.init.normal_(norm.bias, std=0.2)
model.train()
with torch.no_grad():
    for _ in range(40):
        model(torch.stack(rows))
torch.save(model.state_dict(), "weights.pt")
