"""Whether a run was a whole one, and in which order it was collected.

What belongs here: everything that can keep a collected test from running. A missing
record proves something only in a run that was whole. To notice one more obstacle, add
its clause to :meth:`Completeness.list_obstacles`.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterable, Sequence
from typing import Any

import pytest

from pytest_modelreg.plugin.python_test import asks_for_fixture, find_node_id, find_test_id

REMOVED = "modelreg_n_removed"
"""Under this name an xdist worker tells its controller what a selection took out."""

ASKING = "modelreg_asking"
"""Under this name it tells which tests ask for the fixture: ids by node id."""

_SELECTIONS = {"keyword": "-k", "markexpr": "-m", "lf": "--lf", "deselect": "--deselect"}
_STOPS = (pytest.ExitCode.INTERRUPTED, pytest.ExitCode.INTERNAL_ERROR)


class RemovalCount:
    """Counts tests that were collected and then taken out, in the process that collects.

    Also notes, by node id, the tests that ask for the fixture, those taken out included.

    The list is looked at before and after, because not everything that shortens it
    says so through ``pytest_deselected``.
    """

    def __init__(self) -> None:
        self.n_removed = 0
        self.asking: dict[str, str] = {}

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> Generator[None, Any, Any]:
        """Compare the list of tests with what the hooks left of it."""
        n_collected = len(items)
        self.asking = {find_node_id(item): find_test_id(item) for item in items if asks_for_fixture(item)}
        result = yield
        self.n_removed += max(0, n_collected - len(items))
        return result


class WorkerFacts(RemovalCount):
    """The same in an xdist worker, whose controller collects nothing itself."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Hand them to the controller, before xdist sends what a worker has to say."""
        output: dict[str, Any] = getattr(session.config, "workeroutput", {})
        output[REMOVED] = self.n_removed
        output[ASKING] = self.asking


class Completeness(RemovalCount):
    """Follows a run in its main process, with workers or without."""

    def __init__(self) -> None:
        super().__init__()
        self._positions: dict[str, int] = {}
        self._finished: set[str] = set()
        self._broken_files: set[str] = set()
        self._lost_workers: list[str] = []

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Note what was collected here."""
        self._note_collected(item.nodeid for item in session.items)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: Any, ids: Sequence[str]) -> None:
        """Note what a worker collected; all of them collect the same."""
        self._note_collected(ids)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note a file that could not be collected."""
        if report.failed:
            self._broken_files.add(report.nodeid)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object | None) -> None:
        """Take over a worker's count, or note that the worker was lost."""
        if error:
            self._lost_workers.append(str(node.gateway.id))
        output = getattr(node, "workeroutput", {})
        self.n_removed = max(self.n_removed, output.get(REMOVED, 0))
        self.asking = output.get(ASKING, self.asking)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a test that came to its end; one that was lost with its worker never does."""
        if report.when == "teardown":
            self._finished.add(report.nodeid)

    def position(self, nodeid: str) -> int:
        """Return where a test stands in the order of collection; unknown ones come last."""
        return self._positions.get(nodeid, len(self._positions))

    def list_obstacles(
        self,
        session: pytest.Session,
        *,
        missing: Iterable[str] = (),
        n_by_design: int = 0,
        harmless: Collection[str] = (),
    ) -> list[str]:
        """Return what kept cases from running, in words; empty for a whole run.

        Parameters
        ----------
        missing : iterable of str
            Ids of cases that the run should have had and that left no record.
        n_by_design : int
            How many of the tests taken out are no obstacle.
        harmless : collection of str
            Flags of which that is known.
        """
        option = session.config.option
        given = [flag for name, flag in _SELECTIONS.items() if getattr(option, name, None)]
        found = [flag for flag in given if flag not in harmless]
        if any("::" in str(argument) for argument in session.config.args):
            found.append("node ids")
        if self.n_removed > n_by_design:
            found.append(f"{self.n_removed - n_by_design} deselected")
        if self._broken_files:
            found.append(f"{', '.join(sorted(self._broken_files))} could not be collected")
        found += [f"worker {name} crashed" for name in self._lost_workers]
        n_unfinished = len(self._positions.keys() - self._finished)
        if n_unfinished:
            found.append(f"{n_unfinished} of {len(self._positions)} tests did not run to their end")
        elif session.shouldstop or session.shouldfail or session.exitstatus in _STOPS:
            found.append("the run was stopped")
        elif not found:
            found += [f"{case} did not run" for case in missing]
        return found

    def _note_collected(self, ids: Iterable[str]) -> None:
        for nodeid in ids:
            self._positions.setdefault(nodeid, len(self._positions))
