"""Which files a golden of a Python test may come from: the way back from its module to the project.

What belongs here: reading ``a.b`` as ``a/b.py``, ``a.b.py`` or ``a/b.txt``, whichever is there. The
way there is not injective, so that all of them are asked for. Another way to spell a module is one
more branch in :meth:`ModuleFiles.find`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path, PurePath

from pytest_modelreg.store import safe_component

_HASH = "~"
_UP = "up"


class ModuleFiles:
    """The files of a project by module; every folder is read once.

    Parameters
    ----------
    base : Path
        The folder that modules start at.
    """

    def __init__(self, base: Path) -> None:
        self._base = os.path.abspath(base)
        self._listings: dict[str, tuple[set[str], dict[str, list[str]]]] = {}
        self._hashed: dict[str, list[str]] | None = None

    def find(self, module: str) -> list[str] | None:
        """Return absolute paths of the files that a module, as a folder's name, may stand for.

        None where that cannot be told: a name that was shortened, of a file outside of the base.
        """
        if _HASH in module:
            if module.startswith(f"{_UP}."):
                return None
            return self._find_hashed(module)
        found = list(self._find_below(self._base, module))
        folder = self._base
        while module.startswith(f"{_UP}."):
            folder, module = os.path.dirname(folder), module[len(_UP) + 1 :]
            found += self._find_below(folder, module)
        return found

    def _find_below(self, folder: str, module: str) -> Iterator[str]:
        folders, files = self._list(folder)
        for name in files.get(module, ()):
            yield os.path.join(folder, name)
        place = module.find(".")
        while place != -1:
            if module[:place] in folders:
                yield from self._find_below(os.path.join(folder, module[:place]), module[place + 1 :])
            place = module.find(".", place + 1)

    def _list(self, folder: str) -> tuple[set[str], dict[str, list[str]]]:
        if folder not in self._listings:
            folders: set[str] = set()
            files: dict[str, list[str]] = {}
            try:
                with os.scandir(folder) as entries:
                    for entry in entries:
                        if os.path.isdir(entry.path):
                            folders.add(entry.name)
                        else:
                            files.setdefault(PurePath(entry.name).stem, []).append(entry.name)
            except OSError:
                pass  # gone meanwhile, or nobody's to read: no test was ever collected from it
            self._listings[folder] = folders, files
        return self._listings[folder]

    def _find_hashed(self, module: str) -> list[str]:
        if self._hashed is None:
            self._hashed = {}
            for folder, folders, names in os.walk(self._base):
                folders[:] = [name for name in folders if name not in (".git", "node_modules", "__pycache__")]
                parts = PurePath(os.path.relpath(folder, self._base)).parts
                for name in names:
                    component = safe_component(".".join((*parts, PurePath(name).stem)))
                    if _HASH in component:
                        self._hashed.setdefault(component, []).append(os.path.join(folder, name))
        return self._hashed.get(module, [])
