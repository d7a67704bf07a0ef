"""Whether some runs are all shards of one run: complete, each once, and of one state of the project.

What belongs here: everything that can be wrong with them, said at once. To look for one more fault, add it
to :func:`list_faults`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from pytest_modelreg.domain.errors import UsageFault
from pytest_modelreg.engine.sharding.part import Part

ALL_SKIPPED = "every case was skipped, so nothing was compared"
"""Why a run fails of which no case drifted, and none was compared either."""

_MAX_NAMED = 10


def require_whole(parts: Sequence[Part]) -> None:
    """Refuse runs that are not one run together.

    Raises
    ------
    UsageFault
        With every fault.
    """
    faults = list_faults(parts)
    if faults:
        raise UsageFault("\n".join(faults))


def list_faults(parts: Sequence[Part]) -> list[str]:
    """Return what is missing, twice, or does not belong together, in words; nothing for a whole run.

    Where the runs are not of one state, only that: it explains all else.
    """
    if not parts:
        return ["expected the run folders of all shards, got none"]
    return _find_foreign(parts) or [*_find_numbers(parts), *_find_partial(parts), *_find_cases(parts)]


def _find_foreign(parts: Sequence[Part]) -> list[str]:
    """Return how runs differ from the first one in what has to be the same."""
    first, faults = parts[0], []
    for part in parts[1:]:
        ours, theirs = _list_origins(first), _list_origins(part)
        for what, expected in ours.items():
            if theirs[what] != expected:
                faults.append(
                    f"{part.name}: expected {what} {expected}, as {first.name} has it, got {theirs[what]}; "
                    "run all shards alike"
                )
        faults += [f"{part.name}: {text}" for text in _compare_files(first, part)]
        if not faults and set(part.share.all_cases) != set(first.share.all_cases):
            ours_only = set(first.share.all_cases) - set(part.share.all_cases)
            theirs_only = set(part.share.all_cases) - set(first.share.all_cases)
            named = [f"lacks {_name(ours_only)}"] if ours_only else []
            named += [f"has {_name(theirs_only)} beside them"] if theirs_only else []
            faults.append(
                f"{part.name}: expected the cases of {first.name}, got others: it {' and '.join(named)}; run "
                "all shards with the same arguments"
            )
    return faults


def _list_origins(part: Part) -> dict[str, str]:
    return {
        "the number of shards": str(part.share.shard.of),
        "the commit": part.commit or "none",
        "pytest-modelreg": part.share.version,
        "the durations file": part.share.durations[:12] or "none",
    }


def _compare_files(first: Part, part: Part) -> list[str]:
    expected, got = first.share.files, part.share.files
    named = sorted({*expected, *got})
    lost = [name for name in named if name not in got]
    added = [name for name in named if name not in expected]
    other = [name for name in named if name in got and name in expected and got[name] != expected[name]]
    faults = [f"expected {name}, as {first.name} has it, got none" for name in lost]
    faults += [f"expected no {name}, as {first.name} has none, got one" for name in added]
    faults += [f"expected {name} as in {first.name}, got other bytes" for name in other]
    return [f"{fault}; run all shards alike" for fault in faults]


def _find_numbers(parts: Sequence[Part]) -> list[str]:
    """Return which shards are missing or there more than once."""
    of = parts[0].share.shard.of
    folders: dict[int, list[str]] = {}
    for part in parts:
        folders.setdefault(part.share.shard.number, []).append(str(part.folder))
    faults = [
        f"shard {number}/{of}: expected one run folder, got {len(found)}: {', '.join(found)}; name one"
        for number, found in sorted(folders.items())
        if len(found) > 1
    ]
    missing = [f"{number}/{of}" for number in range(1, of + 1) if number not in folders]
    if missing:
        held = {end.id for part in parts for end in part.share.own_cases}
        cases = [case for case in parts[0].share.all_cases if case not in held]
        what = f", and with it {_name(cases)}" if cases else ""
        which = "shard" if len(missing) == 1 else "shards"
        faults.append(f"{which} {_name(missing)} missing{what}; name the run folder of every shard")
    return faults


def _find_partial(parts: Sequence[Part]) -> list[str]:
    return [
        f"{part.name}: expected all of its cases, got a partial run: {'; '.join(part.share.obstacles)}; run "
        "that shard again, whole"
        for part in parts
        if part.share.obstacles
    ]


def _find_cases(parts: Sequence[Part]) -> list[str]:
    """Return which cases nobody had, several had, or had without leaving a record."""
    of, everything = parts[0].share.shard.of, parts[0].share.all_cases
    if [part.share.shard.number for part in parts] != list(range(1, of + 1)):
        return []  # whole shards are missing or there twice, which is said
    held = Counter(end.id for part in parts for end in part.share.own_cases)
    lost = [case for case in everything if case not in held]
    faults = [f"expected every case in one shard, got none with {_name(lost)}"] if lost else []
    strange = [case for case in held if case not in set(everything)]
    faults += [f"expected cases of the run alone, got {_name(strange)} too"] if strange else []
    twice = [case for case, number in held.items() if number > 1]
    faults += [f"expected every case in one shard, got {_name(twice)} in several"] if twice else []
    for part in parts:
        if part.share.obstacles:
            continue
        empty = [
            end.id
            for end in part.share.own_cases
            if not end.records or not all(record in part.records for record in end.records)
        ]
        if empty:
            faults.append(f"{part.name}: expected a record a case, got none of {_name(empty)}; run it again")
    return faults


def _name(names: Iterable[str]) -> str:
    """Return the first names, and how many more there are."""
    found = list(names)
    more = f" and {len(found) - _MAX_NAMED} more" if len(found) > _MAX_NAMED else ""
    return f"{', '.join(found[:_MAX_NAMED])}{more}"
