"""How xdist hands out the cases of a suite; imported only where xdist is installed.

What belongs here: schedulers of xdist that know what a suite is. To keep suites together under one more
``--dist``, give its scheduler a class here and a line in :data:`SCHEDULERS`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from xdist.scheduler import LoadGroupScheduling, LoadScheduling

from pytest_modelreg.engine.discovery import is_suite_file


class SuiteLoadScheduling(LoadScheduling):  # type: ignore[misc,unused-ignore]  # xdist is untyped up to 3.8
    """``load``, but for a suite that ends on the worker on which it was begun.

    xdist's own knows nothing of groups: it would send the variants of a suite to other workers than the
    reference whose golden is replaced meanwhile. Everything else is spread as ever.
    """

    def _send_tests(self, node: Any, num: int) -> None:
        """Send the next tests to a worker, and the rest of the suite that the last of them is of."""
        n_sent = min(num, len(self.pending))
        while 0 < n_sent < len(self.pending) and self._is_one_suite(n_sent - 1, n_sent):
            n_sent += 1
        super()._send_tests(node, n_sent)

    def _is_one_suite(self, *positions: int) -> bool:
        """Whether tests that wait, by their places among those, are cases of one suite file."""
        files = {_find_suite_file(self.collection[self.pending[position]]) for position in positions}
        return len(files) == 1 and None not in files


class SuiteGroupScheduling(LoadGroupScheduling):  # type: ignore[misc,unused-ignore]
    """``loadgroup``, where a suite is a group also when its ids do not end in ``@`` and the group's name.

    xdist 3.8 writes groups into the ids of items, from which pytest 9.2 does not read them any more.
    """

    def _split_scope(self, nodeid: str) -> str:
        file = _find_suite_file(nodeid)
        scope: str = super()._split_scope(nodeid) if file is None else file
        return scope


SCHEDULERS: dict[type, Callable[[Any, Any], Any]] = {
    LoadScheduling: SuiteLoadScheduling,
    LoadGroupScheduling: SuiteGroupScheduling,
}
"""By the class of xdist's own that each stands in for."""


def _find_suite_file(nodeid: str) -> str | None:
    """Return the suite file of a case; None for any other test."""
    file = nodeid.partition("::")[0]
    return file if is_suite_file(Path(file)) else None
