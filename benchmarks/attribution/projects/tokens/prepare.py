"""Make sentences of different lengths and draw the weights."""

from pathlib import Path

import network
import torch
from safetensors.torch import save_file
from vocabulary import WORDS

Path("samples").mkdir()
generator = torch.Generator().manual_seed(15)
for index in range(16):
    length = int(torch.randint(3, 15, (1,), generator=generator))
    places = torch.randint(0, len(WORDS), (length,), generator=generator).tolist()
    words = [WORDS[place] for place in places]
    if index % 6 == 2:
        words[1] = "Zanzibar"
    Path(f"samples/s{index:02d}.txt").write_text(" ".join(words) + "\n", encoding="utf-8")
torch.manual_seed(15)
save_file(network.build().state_dict(), "weights.safetensors")
