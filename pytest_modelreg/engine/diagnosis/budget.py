"""How long explaining drifts may take.

What belongs here: the modes of ``--modelreg-diagnose`` and their times.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from pytest_modelreg.domain.cause import CauseFinding

DIAGNOSE_MODES = ("auto", "off", "full")
"""``auto``: within a time a case and a time a run; ``off``: nothing is replayed; ``full``: without limit."""

CASE_S = 60.0
"""Time after which no further step is begun for one case, in mode ``auto``, seconds."""

RUN_S = 300.0
"""Time after which the drifts of a run are no longer explained, in mode ``auto``, seconds."""


class DiagnosisBudget:
    """Time for the diagnoses of one run.

    Parameters
    ----------
    mode : str
        One of :data:`DIAGNOSE_MODES`.

    Attributes
    ----------
    explained : dict
        What was found out about inputs, by digests of both sides: cases that are fed the same share it.
    """

    def __init__(self, mode: str) -> None:
        self.mode = mode
        self.explained: dict[tuple[str, str], tuple[CauseFinding, ...]] = {}
        self._left_s = math.inf if mode == "full" else RUN_S
        self._case_s = math.inf if mode == "full" else CASE_S

    @property
    def is_open(self) -> bool:
        """Whether another drift may be explained."""
        return self.mode != "off" and self._left_s > 0

    @property
    def case_s(self) -> float:
        """Time that a case which begins now may take, seconds."""
        return min(self._case_s, self._left_s)

    def start_case(self) -> Callable[[], bool]:
        """Return what says whether there is time left for the case that begins now."""
        end = time.monotonic() + self.case_s
        return lambda: time.monotonic() < end

    def spend(self, duration_s: float) -> None:
        """Note what a case took."""
        self._left_s -= duration_s
