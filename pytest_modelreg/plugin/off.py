"""What becomes of a suite file that is named as an argument while the plugin is off."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import pytest

REASON = "comparing models is off: add --modelreg (or the ini setting modelreg = true)"


def collect_named_suite(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Return a collector of one skipped item for a suite file among the arguments, else None.

    pytest would call such an argument "not found", which sends its user looking in the
    wrong place; and it must not look green.
    """
    if not file_path.name.endswith("modelreg.yaml") or not parent.session.isinitpath(file_path):
        return None
    collector: pytest.Collector = SkippedSuite.from_parent(parent, path=file_path)
    return collector


class SkippedSuite(pytest.File):
    """A suite file that is not read."""

    def collect(self) -> Iterable[pytest.Item]:
        """Yield an item that skips itself for every case that was named, one for the file as a whole."""
        for name in _list_named(self.config, self.path):
            yield SkippedItem.from_parent(self, name=name)


class SkippedItem(pytest.Item):
    """Says why nothing is compared."""

    def runtest(self) -> None:
        """Skip, at the suite file's place: where in our code helps nobody."""
        raise pytest.skip.Exception(REASON, _use_item_location=True)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return the suite file; without a line a skip marker would break pytest."""
        return self.path, 0, self.name


def _list_named(config: pytest.Config, path: Path) -> list[str]:
    """Return what the arguments name in a suite file, by the file's name where they name nothing in it."""
    found: dict[str, None] = {}
    for argument in map(str, config.args):
        head, bracket, parameters = argument.partition("[")  # which may hold colons
        file, *names = head.split("::")
        if os.path.abspath(config.invocation_params.dir / file) == str(path):
            found["::".join(names) + bracket + parameters if names else path.name] = None
    return list(found) or [path.name]
