"""Make rows."""

import json
from pathlib import Path

import numpy as np

Path("samples").mkdir()
for index, row in enumerate(np.random.default_rng(16).standard_normal((14, 6)).round(3)):
    Path(f"samples/q{index:02d}.json").write_text(json.dumps(row.tolist()), encoding="utf-8")
