"""``goldens.json`` in a run folder: which goldens of Python tests a whole run claimed.

What belongs here: what such a run knows, written and read back. What follows from it for a golden is
``values_orphans``'s. To let a run know one more thing, add it to :class:`Claims`, to the writing and to
the reading function.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pytest_modelreg.domain.errors import RunFolderError
from pytest_modelreg.engine.kept_run import RUN_NAME
from pytest_modelreg.store import replace_atomically
from pytest_modelreg.store.json_object import JsonObject
from pytest_modelreg.store.sealed_record import advising, open_sealed, seal_record

CLAIMS_FILE = "goldens.json"
"""The name of the file."""

SHARD_CLAIMS_FILE = "shard-goldens.json"
"""Its name where the run was a shard: nobody may take what one claims for what the whole run does."""

WHOLE_RUN = "pytest --modelreg"
"""The command whose run leaves one: with the whole project, and nothing deselected."""

CLAIMS_FORMAT = 2
"""1: names of collected files only, and no digest of its own. 2: their digests."""

_KEY = "modelreg_goldens"


@dataclass(frozen=True, kw_only=True)
class Claims:
    """What a whole run knows of goldens of Python tests; their paths are relative to ``golden/py``.

    Parameters
    ----------
    checked : frozenset of str
        Folders of the checks that were made.
    kept : frozenset of str
        Folders of tests that did not come to their end (skipped, expected to fail, in error):
        whatever is below them may be theirs.
    collected, doctested : mapping of str to str
        Files, relative to the project, all of whose tests or doctests were collected, with their sha256
        as it was then. Of any other file that is there the run knows nothing.
    conftests : mapping of str to str
        The same of the ``conftest.py`` files around them, which decide on parameters.
    commit : str or None
        The commit that the project was at; None outside of git.
    changed : mapping of str to str
        Tracked files, relative to the project, in which it differed from that commit, goldens left out,
        with their sha256; empty text for one that was gone.
    suites : frozenset of str
        Suite files that the run loaded, relative to the project: one in a hidden folder is
        found only by who names it.
    as_of : float or None
        When the run started, seconds since the epoch: of what was accepted later it knows nothing.
    """

    checked: frozenset[str] = frozenset()
    kept: frozenset[str] = frozenset()
    collected: Mapping[str, str] = field(default_factory=dict)
    doctested: Mapping[str, str] = field(default_factory=dict)
    conftests: Mapping[str, str] = field(default_factory=dict)
    commit: str | None = None
    changed: Mapping[str, str] = field(default_factory=dict)
    suites: frozenset[str] = frozenset()
    as_of: float | None = None

    def cover(self, place: str) -> bool:
        """Whether a golden at this place is claimed."""
        if place in self.checked:
            return True
        parts = place.split("/")
        return any("/".join(parts[:n]) in self.kept for n in range(1, len(parts) + 1))


def write_claims(run_folder: Path, claims: Claims, *, name: str = CLAIMS_FILE) -> None:
    """Keep what a whole run claimed; a run that was not whole has none to keep.

    Parameters
    ----------
    name : str
        Of the file: another one for a shard.

    Raises
    ------
    RunFolderError
        When the folder cannot be written.
    """
    path = run_folder / name
    fields = {
        "as_of": claims.as_of,
        "changed": dict(claims.changed),
        "checked": sorted(claims.checked),
        "collected": dict(claims.collected),
        "commit": claims.commit,
        "conftests": dict(claims.conftests),
        "doctested": dict(claims.doctested),
        "kept": sorted(claims.kept),
        "suites": sorted(claims.suites),
    }
    try:
        replace_atomically(path, seal_record(fields, key=_KEY, version=CLAIMS_FORMAT))
    except OSError as error:
        raise RunFolderError(f"{path}: cannot be written: {error.strerror or error}") from error


def read_last_claims(root: Path) -> tuple[str, Claims] | None:
    """Return id and claims of the last whole run of a project; None where no run is.

    A folder that is not named like a run, a downloaded one for example, is none of them.

    Raises
    ------
    GoldenError
        When its record cannot be read.
    """
    runs = root / ".modelreg" / "runs"
    found = sorted(
        path
        for path in runs.glob(f"*/{CLAIMS_FILE}")
        if path.is_file() and RUN_NAME.fullmatch(path.parent.name)
    )
    if not found:
        return None
    path = found[-1]
    return path.parent.name, read_claims(path)


def read_claims(path: Path) -> Claims:
    """Return the claims in a file that is there.

    Raises
    ------
    GoldenError
        When it cannot be read.
    """
    with advising(f"make a new one with: {WHOLE_RUN}"):
        fields = open_sealed(path.read_bytes(), path, key=_KEY, newest=CLAIMS_FORMAT)
        return _read_claims(fields, path.stat().st_mtime)


def unite_claims(parts: Sequence[Claims]) -> Claims:
    """Return what several runs of one state of a project claimed together.

    Files that some of them collected and others did not, or saw with other bytes, count as not collected.
    """
    first = parts[0]

    def agreed(each: Callable[[Claims], Mapping[str, str]]) -> dict[str, str]:
        return dict(set.intersection(*(set(each(part).items()) for part in parts)))

    moments = [part.as_of for part in parts if part.as_of is not None]
    return Claims(
        checked=frozenset().union(*(part.checked for part in parts)),
        kept=frozenset().union(*(part.kept for part in parts)),
        collected=agreed(lambda part: part.collected),
        doctested=agreed(lambda part: part.doctested),
        conftests=agreed(lambda part: part.conftests),
        commit=first.commit,
        # A file that only some of them saw changed is in nobody's state: any digest differs from this one.
        changed={name: "" for part in parts for name in part.changed} | agreed(lambda part: part.changed),
        suites=frozenset().union(*(part.suites for part in parts)),
        as_of=min(moments) if moments else None,
    )


def _read_claims(fields: JsonObject, written: float) -> Claims:
    as_of = fields.optional("as_of", fields.number)
    is_first_format = fields.integer(_KEY) == 1
    files = _read_names if is_first_format else _read_digests
    return Claims(
        checked=frozenset(fields.texts("checked")),
        kept=frozenset(fields.texts("kept")),
        collected=files(fields, "collected"),
        doctested=files(fields, "doctested"),
        conftests={} if is_first_format else _read_digests(fields, "conftests"),
        commit=fields.optional("commit", fields.text),
        changed={} if is_first_format else _read_digests(fields, "changed"),
        suites=frozenset(fields.optional("suites", fields.texts) or ()),
        as_of=written if as_of is None else as_of,
    )


def _read_digests(fields: JsonObject, key: str) -> dict[str, str]:
    found = fields.object(key)
    return {name: found.text(name) for name in fields.mapping(key)}


def _read_names(fields: JsonObject, key: str) -> dict[str, str]:
    """Return files without digests: nothing that is there now is known to be what was collected."""
    return dict.fromkeys(fields.optional(key, fields.texts) or (), "")
