"""Goldens that nobody claims any more: what a whole run can say, and only a whole one.

What belongs here: which goldens of Python tests a run claimed, gathered from every process, and
the verdict on the rest. A run that left anything out has none: what it did not run, it cannot miss.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from pathlib import Path, PurePath
from typing import Any

import pytest

from pytest_modelreg.domain.errors import ModelRegError, SuiteFileError
from pytest_modelreg.engine.claims import CLAIMS_FILE, Claims, write_claims
from pytest_modelreg.engine.discovery import find_suites
from pytest_modelreg.engine.golden_budget import list_excess
from pytest_modelreg.engine.orphans import describe_orphans, find_suite_orphans
from pytest_modelreg.engine.suite_loading import load_suites
from pytest_modelreg.engine.tracked_files import digest_file, read_working_state
from pytest_modelreg.engine.values import VALUES_SUITE, values_golden
from pytest_modelreg.engine.values_orphans import (
    digest_conftests,
    has_values_goldens,
    holds_values_goldens,
    sort_unclaimed,
)
from pytest_modelreg.plugin.carrying import OUTCOMES
from pytest_modelreg.plugin.conclusion import COURSE, Course
from pytest_modelreg.plugin.python_test import asks_for_fixture, list_golden_parts
from pytest_modelreg.plugin.state import RunState
from pytest_modelreg.plugin.values import CHECKER

CLAIM = "modelreg_claim"
"""Under this name a test's report carries what it claims, as builtin values."""

COLLECTED = "modelreg_collected"
"""Under this name an xdist worker tells its controller which files it collected, by what for."""

DIGESTS = "modelreg_digests"
"""Under this name it tells what they were: sha256 by file."""

SUITES = "modelreg_suites"
"""Under this name it tells which suite files it loaded: the controller may have found fewer."""


class CollectedFiles:
    """Notes which files were collected to their end, in the process that collects.

    A module that skips itself, a class that cannot be read or a file that was passed over has
    tests that nobody saw, so that nothing can be said of their goldens.
    """

    def __init__(self, state: RunState) -> None:
        self._base = state.base
        self._suites = state.suites
        self._files: dict[str, set[str]] = {"tests": set(), "doctests": set(), "broken": set()}
        self._digests: dict[str, str] = {}

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        """Pass over the goldens of Python tests: pytest would take seconds to find no test in them."""
        return True if holds_values_goldens(collection_path, self._base) else None

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_make_collect_report(self, collector: pytest.Collector) -> Any:
        """Note the file of a collector, and whether that one came to its end."""
        file = next((node for node in collector.listchain() if isinstance(node, pytest.File)), None)
        if file is not None:  # before it is imported: what is edited later was not collected
            self.note_digest(_show(file.path, self._base), digest_file(file.path) or "")
        report = yield
        if file is not None:
            name = _show(file.path, self._base)
            # pytest's doctest collectors have no public name; of one file there may be both kinds.
            is_doctest = type(file).__name__ == "DoctestModule"
            if not report.passed:
                self._files["broken"].add(name)
            elif is_doctest or not isinstance(file, pytest.Module):
                self._files["doctests"].add(name)
            if report.passed and not is_doctest:
                self._files["tests"].add(name)
        return report

    def note_digest(self, name: str, digest: str) -> None:
        """Note what a file was when it was collected; processes that saw different ones saw none."""
        if self._digests.setdefault(name, digest) != digest:
            self._files["broken"].add(name)

    def list_collected(self, purpose: str) -> dict[str, str]:
        """Return files whose ``tests`` or ``doctests`` were all collected, relative to the base."""
        names = self._files[purpose] - self._files["broken"]
        return {name: self._digests.get(name, "") for name in sorted(names)}


class ClaimCarrier(CollectedFiles):
    """Puts on the last report of a test which goldens are its own; registered in every process."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Hand the collected files to the controller, before xdist sends what a worker has to say."""
        output: dict[str, Any] = getattr(session.config, "workeroutput", {})
        output[COLLECTED] = {purpose: sorted(names) for purpose, names in self._files.items()}
        output[DIGESTS] = dict(self._digests)
        output[SUITES] = [str(path) for path in self._suites]

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
        """Say it once the test is over, whatever became of it."""
        report = yield
        if call.when == "teardown" and (asks_for_fixture(item) or CHECKER in item.stash):
            course = item.stash.get(COURSE, Course())
            outcomes = item.stash.get(OUTCOMES, None) or {}
            if outcomes and not course.has_failed and set(course.outcomes.values()) == {"passed"}:
                goldens = [outcome.place.golden for outcome in outcomes.values()]
                claim = {"checked": [_shorten(golden, self._base) for golden in goldens]}
            else:
                # A test that was skipped or failed may check more than it came to.
                folder = values_golden(Path(), list_golden_parts(item))
                claim = {"kept": [folder.relative_to(VALUES_SUITE).as_posix()]}
            setattr(report, CLAIM, claim)
        return report


class ClaimedGoldens(CollectedFiles):
    """Gathers the claims in the main process and judges what is left over."""

    def __init__(self, state: RunState) -> None:
        super().__init__(state)
        self._state = state
        self._started = time.time()
        self._suite_files: set[Path] = set()  # of the workers
        self._checked: set[str] = set()
        self._kept: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take over what a test claims."""
        claim: dict[str, list[str]] = getattr(report, CLAIM, {})
        self._checked.update(claim.get("checked", ()))
        self._kept.update(claim.get("kept", ()))

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object | None) -> None:
        """Take over which files a worker collected."""
        output = getattr(node, "workeroutput", None) or {}
        for purpose, names in output.get(COLLECTED, {}).items():
            self._files[purpose].update(names)
        for name, digest in output.get(DIGESTS, {}).items():
            self.note_digest(name, digest)
        self._suite_files.update(map(Path, output.get(SUITES, ())))

    def list_orphans(self, config: pytest.Config) -> list[str]:
        """Return what to say of goldens without a case, after a run that left nothing out."""
        try:
            return describe_orphans(self.find_orphans(config) or [], self._state.base)
        except ModelRegError as error:
            return [str(error)]

    def find_orphans(
        self, config: pytest.Config, *, left_out: Iterable[str] = (), claims_file: str = CLAIMS_FILE
    ) -> list[Path] | None:
        """Return the goldens that no case of this run has; None where it cannot know.

        Keeps what the run claimed, for the command that prunes, also where no test claimed anything:
        whoever removed the last one has goldens left.

        Parameters
        ----------
        left_out : iterable of str
            Golden folders, below ``golden/py``, of tests that were left out and may have checked something.
        claims_file : str
            Under which name the claims are kept.

        Raises
        ------
        ModelRegError
            When goldens cannot be looked at, or the claims not be kept.
        """
        if not _covers(config, self._state.base):
            return None
        base = self._state.base
        loaded = {os.path.realpath(path): suite for path, suite in self._suites.items()}
        collected, doctested = self.list_collected("tests"), self.list_collected("doctests")
        state = read_working_state(base)
        claims = Claims(
            checked=frozenset(self._checked),
            kept=frozenset(self._kept).union(left_out),
            collected=collected,
            doctested=doctested,
            conftests=digest_conftests({**collected, **doctested}, base),
            commit=state.commit,
            changed=state.changed,
            suites=frozenset(_show(path, base) for path in {*self._suites, *self._suite_files}),
            as_of=self._started,
        )
        try:
            files = [
                *find_suites([base], ignored=lambda path: holds_values_goldens(path, base)),
                *sorted(self._suite_files),
            ]
            others = {real: path for path in files if (real := os.path.realpath(path)) not in loaded}
            suites = [*loaded.values(), *load_suites(list(others.values()), rootdir=base)]
            orphans = [*find_suite_orphans(suites, base), *sort_unclaimed(base, claims).orphans]
            if self._state.made_run_folder is not None or has_values_goldens(base):
                write_claims(self._state.run_folder.folder, claims, name=claims_file)
        except SuiteFileError:
            return None  # a faulty suite file claims nobody knows what
        return orphans

    def list_excess(self) -> list[str]:
        """Return a warning for every suite of the run whose goldens are above its budget."""
        return list_excess(self._state.suites.values())


def _covers(config: pytest.Config, base: Path) -> bool:
    """Whether the run was asked for the whole project, not for some files or folders of it."""
    if config.args_source is pytest.Config.ArgsSource.TESTPATHS:
        return True
    start = config.invocation_params.dir
    asked = [(start / str(argument)).resolve() for argument in config.args]
    return any(base.resolve().is_relative_to(path) for path in asked)


def _shorten(golden: Path, base: Path) -> str:
    """Return a golden of a Python test by its place among those; pathlib would take most of the look."""
    return str(golden)[len(f"{base}{os.sep}golden{os.sep}{VALUES_SUITE}{os.sep}") :].replace(os.sep, "/")


def _show(path: Path, base: Path) -> str:
    try:
        return PurePath(os.path.relpath(path, base)).as_posix()
    except ValueError:  # another drive on Windows
        return path.as_posix()
