"""Faults of a model's output, gathered so that one cause is told once.

What belongs here: grouping by output path and cause, naming the samples of a group, which
declared outputs there are none of, and whose outputs they are.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Set
from dataclasses import dataclass

from pytest_modelreg.domain.listing import name_some
from pytest_modelreg.domain.output_path import is_pattern, matches


@dataclass(frozen=True, kw_only=True)
class Origin:
    """Where outputs come from, in the words of messages.

    Parameters
    ----------
    subject, verb, participle : str
        ``the model`` ``returned`` what is ``returned``.
    place : str
        Where to mend it, behind what to do; empty where that is plain.
    hint : str
        What may be behind an axis that is not there when there is one sample alone.
    """

    subject: str
    verb: str
    participle: str
    place: str = ""
    hint: str = ""


MODEL = Origin(
    subject="the model",
    verb="returned",
    participle="returned",
    place=" in forward",
    hint=" (does the model squeeze?)",
)
TEST = Origin(subject="the test", verb="gave", participle="given")

_LISTED_SAMPLES = 3
_LISTED_FAULTS = 20


class OutputFaults:
    """Why the outputs of a batch cannot be recorded, in the order in which it was found."""

    def __init__(self) -> None:
        self._texts: dict[tuple[str, Hashable], str] = {}
        self._samples: dict[tuple[str, Hashable], list[str]] = {}

    def __len__(self) -> int:
        return len(self._texts)

    def add(self, path: str, text: str, *, sample: str | None = None, cause: Hashable = None) -> None:
        """Note a fault.

        Parameters
        ----------
        path : str
            Output path.
        text : str
            What was expected, what was got, what to do.
        sample : str or None
            Id of the sample whose own result it is about; None for the batch's.
        cause : hashable
            What makes faults of several samples one; by default their text. The first
            sample's text stands for all.
        """
        key = (path, text if cause is None else cause)
        self._texts.setdefault(key, text)
        if sample is not None:
            self._samples.setdefault(key, []).append(sample)

    def describe(self) -> str:
        """Return one line a fault, at most 20 with the number of the others."""
        lines = [
            f"output {key[0]!r}{_list_samples(self._samples.get(key, []))}: {text}"
            for key, text in self._texts.items()
        ]
        more = [f"and {len(lines) - _LISTED_FAULTS} more faults"] if len(lines) > _LISTED_FAULTS else []
        return "\n".join(lines[:_LISTED_FAULTS] + more)


def list_absent(declared: Iterable[str], found: Set[str]) -> list[str]:
    """Return the declared paths that were not found, and the patterns that fit nothing."""
    return [
        path
        for path in declared
        if path not in found and not (is_pattern(path) and any(matches(path, each) for each in found))
    ]


def _list_samples(ids: list[str]) -> str:
    if not ids:
        return ""
    # An id occurs once a faulty leaf: two in one sample are still one sample.
    names = list(dict.fromkeys(ids))
    return f" of {name_some(map(repr, names), _LISTED_SAMPLES)}"
