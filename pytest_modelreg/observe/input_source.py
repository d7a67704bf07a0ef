"""Where the inputs of a case come from: the port that preprocessing afresh and replaying share.

What belongs here: what a batch source is given, and what is said of the inputs after the last one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from pytest_modelreg.domain.observation import InputProbes, ObservedSample, PreprocessHabit, Stage
from pytest_modelreg.domain.trace import InputPoints


@dataclass(frozen=True, kw_only=True)
class PreparedSample:
    """One sample, ready to be collated.

    Parameters
    ----------
    observed : ObservedSample
        Which sample, with the digest of ``value``.
    value : Any
        As ``convert_sample`` returned it. Nobody else may hold it and change it.
    """

    observed: ObservedSample
    value: Any


@dataclass(frozen=True, kw_only=True)
class InputFacts:
    """What is recorded of the inputs of a whole case; see :class:`~.Observation`."""

    stages: tuple[Stage, ...] = ()
    checklist: Mapping[str, Any] = field(default_factory=dict)
    habits: tuple[PreprocessHabit, ...] = ()
    probes: InputProbes | None = None
    points: InputPoints | None = None


class InputSource(Protocol):
    """Gives the prepared samples of a case, once, in order."""

    def read(self, start: int, stop: int) -> list[PreparedSample]:
        """Return the samples at these positions; ``start`` is where the last call stopped.

        Raises
        ------
        SampleLoadError
            Samples cannot be loaded: one message names all of them, also later ones.
        PreprocessError
            Preprocess raised, or returned what can be no model input.
        """

    def note_overwritten(self, sample_ids: Sequence[str]) -> None:
        """Be told of samples whose inputs changed while the rest of their batch was prepared."""

    def conclude(self) -> InputFacts:
        """Return the facts; asked once, after the last sample."""

    def close(self) -> None:
        """Release what is held; called once, also after an error."""
