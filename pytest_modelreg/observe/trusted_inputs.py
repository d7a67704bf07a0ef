"""Kept inputs, replayed once the first sample has shown that this case would prepare the same.

What belongs here: when a replay is trusted. A factory may change what preprocessing sees (a size in
a module that both import), and a replay would then judge the model on another case's inputs.
"""

from __future__ import annotations

from collections.abc import Sequence

from pytest_modelreg.observe.input_source import InputFacts, InputSource, PreparedSample
from pytest_modelreg.observe.kept_inputs import KeptInputs, ReplayedInputs


class TrustedInputs:
    """Replays kept inputs, or prepares all afresh; see :class:`~.input_source.InputSource`.

    Parameters
    ----------
    kept : KeptInputs
        What an earlier case prepared.
    fresh : InputSource
        Prepares the inputs of this case. Asked for the first sample only, unless that is another one.
    """

    def __init__(self, kept: KeptInputs, fresh: InputSource) -> None:
        self._first_digest = kept.samples[0].observed.input_digest if kept.samples else None
        self._replayed = ReplayedInputs(kept)
        self._fresh = fresh
        self._is_decided = False
        self._source: InputSource = self._replayed

    def read(self, start: int, stop: int) -> list[PreparedSample]:
        """Return samples; the first call decides where all of them come from."""
        if self._is_decided or start == stop:
            return self._source.read(start, stop)
        self._is_decided = True
        first = self._fresh.read(start, start + 1)
        if first[0].observed.input_digest == self._first_digest:
            return self._source.read(start, stop)
        self._source = self._fresh
        return [*first, *self._fresh.read(start + 1, stop)]

    def note_overwritten(self, sample_ids: Sequence[str]) -> None:
        """Pass on."""
        self._source.note_overwritten(sample_ids)

    def conclude(self) -> InputFacts:
        """Return the facts of the source that was chosen."""
        return self._source.conclude()

    def close(self) -> None:
        """Close both sources."""
        self._replayed.close()
        self._fresh.close()
