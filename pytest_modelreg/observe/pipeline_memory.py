"""What earlier cases of a session saw of the same preprocessing, for the later ones.

What belongs here: one pipeline that prepared the same samples twice. A variant that is fed what the
reference is fed repeats the reference's whole pass, which shows more than any few repetitions do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pytest_modelreg.domain.observation import UNREPEATABLE, ObservedSample, PreprocessHabit
from pytest_modelreg.observe.input_source import InputFacts

_LISTED = 20


@dataclass(frozen=True, kw_only=True)
class _Pass:
    digests: tuple[str | None, ...]
    habits: tuple[PreprocessHabit, ...]


class PipelineMemory:
    """Remembers of every pipeline what it made first, and its habits."""

    def __init__(self) -> None:
        self._passes: dict[str, _Pass] = {}

    def forget(self) -> None:
        """Forget everything: the code was edited."""
        self._passes.clear()

    def compare(self, pipeline: str, samples: Sequence[ObservedSample], facts: InputFacts) -> InputFacts:
        """Return the facts of a pass, with habits that only show beside earlier passes.

        Parameters
        ----------
        pipeline : str
            What all that inputs depend on comes to: equal for two passes that must make the same.
        samples : sequence of ObservedSample
            What this pass made.
        """
        digests = tuple(sample.input_digest for sample in samples)
        before = self._passes.get(pipeline)
        if before is None or len(before.digests) != len(digests):
            self._passes[pipeline] = _Pass(digests=digests, habits=facts.habits)
            return facts
        known = {habit.habit: habit for habit in (*before.habits, *facts.habits)}
        if before.digests != digests and not UNREPEATABLE & known.keys():
            known["stateful"] = _describe(before.digests, samples)
        habits = tuple(known.values())
        self._passes[pipeline] = replace(before, habits=habits)
        return replace(facts, habits=habits)


def _describe(before: tuple[str | None, ...], samples: Sequence[ObservedSample]) -> PreprocessHabit:
    pairs = zip(before, samples, strict=True)
    differing = [sample.id for digest, sample in pairs if digest != sample.input_digest]
    return PreprocessHabit(
        habit="stateful",
        samples=tuple(differing[:_LISTED]),
        summary=f"prepared again for another case of this run, {differing[0]!r} gave another input "
        f"({len(differing)} of {len(samples)} do): preprocessing keeps state between samples, or draws from "
        "a generator that no global seed reaches",
    )
