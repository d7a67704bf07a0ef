"""Seeds of the generators that user code draws from, and whether it drew.

What belongs here: Python's, numpy's and torch's global generators. A generator that user
code makes itself is its own: what it draws shows as state (``habits``).
"""

from __future__ import annotations

import random
import sys
import zlib
from typing import Any

import numpy as np

SEED = 20_240_229
"""For every generator: before the model is built, before a sample is loaded, before a pass."""


def seed_of(sample_id: str, seed: int = SEED) -> int:
    """Return the seed under which a sample is prepared: its own, whatever comes before it.

    With one for all samples, a coin that an augmentation tosses would fall to the same side
    for every one of them, and a flip that was left in could pass for none.
    """
    return seed ^ zlib.crc32(sample_id.encode("utf-8", "surrogatepass"))


def seed_generators(seed: int = SEED) -> None:
    """Seed every global generator; torch's only when torch is imported.

    Once a sample: takes some 7 us, because nothing is drawn and no state is copied.
    """
    random.seed(seed)
    np.random.seed(seed)
    torch = sys.modules.get("torch")
    if torch is None:
        return
    # Not torch.manual_seed: it would leave a seed call waiting for the first use of CUDA.
    torch.default_generator.manual_seed(seed)
    if torch.cuda.is_initialized():
        torch.cuda.manual_seed_all(seed)


class DrawWatch:
    """Tells whether a generator was drawn from, or seeded otherwise, since it was seeded.

    Asking draws a number of each, so that it is asked last before they are seeded again.
    Reading their states would take ten times as long as drawing once more from the seed.
    """

    def __init__(self) -> None:
        self._scratch: Any = None

    def has_drawn(self, seed: int) -> bool:
        """Whether anything was drawn since :func:`seed_generators` with this seed."""
        drawn = self._draw()
        seed_generators(seed)
        return drawn != self._draw()

    def _draw(self) -> tuple[Any, ...]:
        own = (random.getrandbits(64), np.random.random_sample())
        torch = sys.modules.get("torch")
        if torch is None:
            return own
        if self._scratch is None:
            self._scratch = torch.empty(1, dtype=torch.int64, device="cpu")
        return (*own, self._scratch.random_(generator=torch.default_generator).item())
