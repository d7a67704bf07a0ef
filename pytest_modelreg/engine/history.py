"""The history of a golden: who accepted what, when and why, as its files and git tell it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from pytest_modelreg.domain.errors import GoldenError
from pytest_modelreg.domain.golden import Acceptance, Calibration, Golden
from pytest_modelreg.fingerprint import list_versions, read_version
from pytest_modelreg.store import decode_golden
from pytest_modelreg.store.golden_root import GOLDEN_FILE
from pytest_modelreg.store.golden_store import read_golden_bytes


@dataclass(frozen=True, kw_only=True)
class HistoryEntry:
    """One acceptance of a golden.

    Parameters
    ----------
    sha256 : str
        Of the ``golden.json`` that it is in.
    commit : str or None
        The commit that brought it; None for what is not committed yet.
    is_linked : bool
        Whether the entry after it (the newer one) names this file as the one it replaced.
    noise_floor : mapping of str to float
        What was kept with it, also since it was accepted, by output path.
    calibration : Calibration or None
        Where that comes from.
    """

    accepted: Acceptance
    sha256: str
    n_samples: int
    commit: str | None
    is_linked: bool = True
    noise_floor: Mapping[str, float] = field(default_factory=dict)
    calibration: Calibration | None = None


def read_history(folder: Path) -> list[HistoryEntry]:
    """Return the acceptances of a golden, the newest first; empty where there is none.

    What git does not know (no repository, a shallow clone) is missing at the end.

    Raises
    ------
    GoldenError
        When the golden of now cannot be read. Older ones that cannot be are left out.
    """
    entries: list[HistoryEntry] = []
    newer: Golden | None = None
    superseded: str | None = None
    wanted: str | None = None
    for data, commit in _list_files(folder):
        sha256 = hashlib.sha256(data).hexdigest()
        if entries and sha256 == entries[-1].sha256:
            entries[-1] = replace(entries[-1], commit=commit)
            continue
        try:
            golden = decode_golden(data, folder / GOLDEN_FILE)
        except GoldenError:
            if not entries:
                raise
            continue
        if newer is not None and _is_same_acceptance(newer, golden):
            # A noise floor was kept since: whichever of both files was there may be named as replaced.
            is_linked = entries[-1].is_linked or sha256 == wanted
            entries[-1] = replace(entries[-1], commit=commit, is_linked=is_linked)
            continue
        newer, wanted = golden, superseded
        entries.append(
            HistoryEntry(
                accepted=golden.accepted,
                sha256=sha256,
                n_samples=len(golden.observation.samples),
                commit=commit,
                is_linked=superseded in (None, sha256) if entries else True,
                noise_floor=golden.noise_floor,
                calibration=golden.calibration,
            )
        )
        superseded = golden.accepted.supersedes
    return entries


def _list_files(folder: Path) -> Iterator[tuple[bytes, str | None]]:
    """Yield the file of now, then its versions in git, the newest first."""
    data = read_golden_bytes(folder)
    if data is not None:
        yield data, None
    for commit in list_versions(folder / GOLDEN_FILE):
        version = read_version(folder / GOLDEN_FILE, commit)
        if version is not None:
            yield version, commit


def _is_same_acceptance(one: Golden, other: Golden) -> bool:
    """Whether two versions of a golden hold what was accepted at one time."""
    return one.accepted == other.accepted and one.observation == other.observation
