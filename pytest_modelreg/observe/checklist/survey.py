"""One pass over a case's samples, from which its checklist is made.

What belongs here: which samples are looked at, and the order of the entries.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytest_modelreg.observe.checklist.channel_order import ChannelOrder
from pytest_modelreg.observe.checklist.entry import Entry
from pytest_modelreg.observe.checklist.input_statistics import InputStatistics
from pytest_modelreg.observe.checklist.stage_settings import list_settings
from pytest_modelreg.observe.stages import PipelineStage

MAX_SAMPLES = 32
"""Samples whose values are looked at, spread over the set; forms are looked at on all."""


class Survey:
    """Gathers the checklist of one case, sample by sample.

    Parameters
    ----------
    n_samples : int
        Samples in all.
    """

    def __init__(self, n_samples: int) -> None:
        self._step = -(-n_samples // MAX_SAMPLES)
        self._order = ChannelOrder()
        self._statistics = InputStatistics()
        self._colours: Any = None

    def look_at_loaded(self, position: int, loaded: Any) -> None:
        """Look at what the loader returned, before preprocess gets it."""
        self._colours = self._order.measure_image(loaded) if position % self._step == 0 else None

    def look_at_prepared(self, position: int, prepared: Any) -> None:
        """Look at what the model will be fed for the sample that was loaded last."""
        chosen = self._statistics.look_at_form(prepared)
        if chosen is not None and position % self._step == 0:
            _, leaf, layout = chosen
            self._order.add(self._colours, self._statistics.look_at_values(leaf, layout))

    def list_entries(self, stages: Sequence[PipelineStage], *, reference: str | None) -> dict[str, Entry]:
        """Return the checklist by name: what was measured, then what the stages say."""
        return {
            **self._statistics.list_entries(),
            "channel_order": self._order.make_entry(),
            **list_settings(stages, reference=reference),
        }
