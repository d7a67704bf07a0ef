"""Seeds of the generators that user code draws from, and whether it drew.

What belongs here: Python's, numpy's and torch's global generators. A generator that user
code makes itself is its own: what it draws shows as state (``habits``).
"""

from __future__ import annotations

import random
import sys
from typing import Any

import numpy as np

SEED = 20_240_229
"""For every generator: before the model is built, before a sample is loaded, before a pass."""


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

    Asking draws a number of each, so that it is asked last before they are seeded again:
    the first number after a seed is known. Reading their states would take ten times as long.
    """

    def __init__(self) -> None:
        self._scratch: Any = None
        self._expected: tuple[Any, ...] = ()
        self._knows_torch = False

    def has_drawn(self) -> bool:
        """Whether anything was drawn since :func:`seed_generators` with the usual seed."""
        knows_torch = "torch" in sys.modules
        drawn = self._draw()
        if not self._expected or knows_torch != self._knows_torch:
            seed_generators()
            self._knows_torch = knows_torch
            self._expected = self._draw()
        return drawn != self._expected

    def _draw(self) -> tuple[Any, ...]:
        own = (random.getrandbits(64), np.random.random_sample())
        torch = sys.modules.get("torch")
        if torch is None:
            return own
        if self._scratch is None:
            self._scratch = torch.empty(1, dtype=torch.int64, device="cpu")
        return (*own, self._scratch.random_(generator=torch.default_generator).item())
