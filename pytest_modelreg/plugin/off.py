"""What becomes of a suite file that is named as an argument while the plugin is off."""

from __future__ import annotations

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
        """Yield one item, which skips itself."""
        yield SkippedItem.from_parent(self, name=self.path.name)


class SkippedItem(pytest.Item):
    """Says why nothing is compared."""

    def runtest(self) -> None:
        """Skip."""
        pytest.skip(REASON)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return the suite file; without a line a skip marker would break pytest."""
        return self.path, 0, self.name
