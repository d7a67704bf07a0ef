"""Which golden a case is held against where a suite keeps several, one an environment.

What belongs here: the folder of an environment's golden, and the best match among those that
are there. ``golden_per: [device, machine]`` puts a golden into a folder named after the facts,
``device=cpu,machine=x86_64``, below the case's own; the first fact weighs most.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_modelreg.store import list_golden_folders, safe_component


@dataclass(frozen=True, kw_only=True)
class GoldenChoice:
    """Where a case's golden is read from and written to.

    Parameters
    ----------
    own : Path
        The folder of this environment's golden, whether it is there or not: what is
        recorded goes there.
    found : Path
        The folder to read: ``own``, or another environment's.
    note : str
        Which golden was chosen and why it is not this environment's; empty where it is.
    others : tuple of str
        Environments that have a golden.
    """

    own: Path
    found: Path
    note: str = ""
    others: tuple[str, ...] = ()

    @property
    def is_fallback(self) -> bool:
        """Whether the golden is another environment's."""
        return self.found != self.own


def choose_golden(folder: Path, environment: Mapping[str, str]) -> GoldenChoice:
    """Return the best golden of a case for an environment.

    Parameters
    ----------
    folder : Path
        The case's golden folder.
    environment : mapping of str to str
        Facts that tell environments apart, the most telling first; empty: there is one
        golden, in the folder itself.
    """
    if not environment:
        return GoldenChoice(own=folder, found=folder)
    wanted = {key: safe_component(value) for key, value in environment.items()}
    own = folder / name_environment(wanted)
    there = {
        path: read_environment(path.name) for path in list_golden_folders(folder) if path.parent == folder
    }
    others = tuple(path.name for path in there)
    if own in there or not there:
        return GoldenChoice(own=own, found=own, others=others)
    best = max(there, key=lambda path: [there[path].get(key) == value for key, value in wanted.items()])
    if not any(there[best].get(key) == value for key, value in wanted.items()):
        return GoldenChoice(
            own=own, found=own, others=others
        )  # nothing in common: no golden to be held against
    note = f"held against the golden of {best.name}: there is none for {own.name}"
    return GoldenChoice(own=own, found=best, note=note, others=others)


def name_environment(environment: Mapping[str, str]) -> str:
    """Return the name of an environment's folder: ``device=cpu,machine=x86_64``."""
    return ",".join(f"{key}={value}" for key, value in environment.items())


def list_possible_facts(names: Sequence[str], *, device: str | None) -> dict[str, str | None]:
    """Return the facts that tell a suite's environments apart, with the one value that a fact can have.

    None where it can have any: on another machine, or of whichever GPU there is.
    """
    fixed = None if device is not None and device.startswith("cuda") else safe_component(device or "cpu")
    return {name: fixed if name == "device" else None for name in names}


def can_be_chosen(name: str, facts: Mapping[str, str | None]) -> bool:
    """Whether :func:`choose_golden` reads a folder of this name in some environment with these facts."""
    named = read_environment(name)
    return any(key in named and value in (None, named[key]) for key, value in facts.items())


def read_environment(name: str) -> dict[str, str]:
    """Return the facts that a folder is named after; empty for any other name."""
    parts = [part.partition("=") for part in name.split(",")]
    if not all(separator for _, separator, _ in parts):
        return {}
    return {key: value for key, _, value in parts}
