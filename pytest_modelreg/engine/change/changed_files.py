"""The files that changed, asked about by path: one file, or what is below a folder.

What belongs here: the way from a path as a suite writes it to the places of which git knows,
through links: git has a link and what it leads to as two entries, and either may change.
"""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

Reason = Callable[[], str]
"""Returns a reason's text: of thousands, a few are shown."""

_MAX_LINKS = 40


@dataclass(frozen=True, kw_only=True)
class Change:
    """One entry of git that changed.

    Parameters
    ----------
    path : str
        Absolute, links resolved but for the last part.
    what : str
        ``changed``, ``added`` or ``deleted``.
    is_folder : bool
        A submodule, or a repository inside of this one: git knows the whole alone.
    """

    path: str
    what: str
    is_folder: bool = False


class ChangedFiles:
    """What differs between a revision and the working tree.

    Parameters
    ----------
    top : str
        The repository's folder, absolute, links resolved.
    root : str
        What messages show files relative to, links resolved.
    changes : iterable of Change
        Each path once.
    """

    def __init__(self, *, top: str, root: str, changes: Iterable[Change]) -> None:
        self.top = top
        self.root = root
        self._by_path = {change.path: change for change in changes}
        self._paths = sorted(self._by_path)
        self._folders = [change for change in self._by_path.values() if change.is_folder]
        self._resolved: dict[str, tuple[str, tuple[str, ...]]] = {}

    def __iter__(self) -> Iterator[Change]:
        return map(self._by_path.__getitem__, self._paths)

    def find(self, path: str) -> Change | None:
        """Return what changed of a file: the file, a link that leads to it, or the submodule around it."""
        real, links = self._resolve(path)
        for place in (*links, real):
            found = self._by_path.get(place) or self._find_around(place)
            if found is not None:
                return found
        return None

    def find_below(self, folder: str) -> list[Change]:
        """Return what changed in a folder, at any depth, and links that lead to it."""
        real, links = self._resolve(folder)
        around = [self._by_path.get(place) or self._find_around(place) for place in (*links, real)]
        return [change for change in around if change is not None] + list(
            self._starting_with(os.path.join(real, ""))
        )

    def find_beside(self, path: str) -> list[Change]:
        """Return what changed of a file and, where it is one, of files whose names go on after its name."""
        found = self.find(path)
        beside = self._starting_with(self.resolve(path)) if os.path.isfile(path) else ()
        return list(dict.fromkeys([*([] if found is None else [found]), *beside]))

    def resolve(self, path: str) -> str:
        """Return an absolute path without links in it."""
        return self._resolve(path)[0]

    def covers(self, path: str) -> bool:
        """Whether a path, links resolved, is in the repository and no installed package's."""
        return self.is_inside(path) and not {"site-packages", "dist-packages"} & set(path.split(os.sep))

    def is_inside(self, path: str) -> bool:
        """Whether a path, links resolved, is in the repository."""
        return path == self.top or path.startswith(os.path.join(self.top, ""))

    def show(self, path: str) -> str:
        """Return a path as messages have it, in one line: relative to the project."""
        shown = os.path.relpath(path, self.root).replace(os.sep, "/")
        return shown if shown.isprintable() else ascii(shown)

    def _find_around(self, place: str) -> Change | None:
        return next(
            (folder for folder in self._folders if place.startswith(os.path.join(folder.path, ""))), None
        )

    def _starting_with(self, prefix: str) -> Iterator[Change]:
        for index in range(bisect_left(self._paths, prefix), len(self._paths)):
            if not self._paths[index].startswith(prefix):
                return
            yield self._by_path[self._paths[index]]

    def _resolve(self, path: str, n_links: int = 0) -> tuple[str, tuple[str, ...]]:
        """Return where a path leads to, and the links on the way; the file need not exist."""
        if path in self._resolved:
            return self._resolved[path]
        parent, name = os.path.split(path)
        if parent == path:
            return path, ()
        folder, links = self._resolve(parent, n_links)
        place = os.path.normpath(os.path.join(folder, name))
        if n_links < _MAX_LINKS and os.path.islink(place):
            target = os.path.join(folder, os.readlink(place))
            real, further = self._resolve(target, n_links + 1)
            found = real, (*links, place, *further)
        else:
            found = place, links
        if not n_links:
            self._resolved[path] = found
        return found


def shorten(reasons: Sequence[Reason], rest: str, *, limit: int) -> Iterator[str]:
    """Yield the first of some reasons, and how many there are beyond where that is several."""
    kept = limit if len(reasons) > limit + 1 else len(reasons)
    yield from (reason() for reason in reasons[:kept])
    if kept < len(reasons):
        yield f"{len(reasons) - kept} {rest}"
