"""What the hooks of one run share: options, loaded suites and the session."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from pytest_modelreg.domain.errors import Fault, ModelRegError, SuiteFileError
from pytest_modelreg.engine.regeneration import Regeneration
from pytest_modelreg.engine.run import open_run_folder
from pytest_modelreg.engine.session import Session
from pytest_modelreg.engine.suite import Suite, find_shared_names, load_suite
from pytest_modelreg.plugin.options import Options
from pytest_modelreg.store import RunFolder


@dataclass(kw_only=True)
class RunState:
    """Mutable state of one pytest run (one process of it under xdist).

    Parameters
    ----------
    base : Path
        pytest's rootdir; run folders live in ``.modelreg/`` below it.
    suites : dict of Path to Suite
        By suite file; each is loaded once a process.
    faults : list of Fault
        Of all suite files seen; any makes the run a usage error.
    claims : dict of str to (object, str)
        By golden folder of a Python test's check: who took it, and under which label.
    """

    config: pytest.Config
    options: Options
    regeneration: Regeneration | None
    run_id: str
    run_dir: Path | None
    base: Path
    suites: dict[Path, Suite] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    claims: dict[str, tuple[object, str]] = field(default_factory=dict)
    _session: Session | None = None
    _run_folder: RunFolder | None = None

    @property
    def session(self) -> Session:
        """The engine's session, made when the first case runs."""
        if self._session is None:
            self._session = Session(
                run_folder=self.run_folder,
                regeneration=self.regeneration,
                default_threads=_share_of_threads(),
            )
        return self._session

    @property
    def run_folder(self) -> RunFolder:
        """The run's folder, made on first use; every process of the run gets the same one."""
        if self._run_folder is None:
            self._run_folder = open_run_folder(self.base, self.run_id, chosen=self.run_dir)
        return self._run_folder

    def load(self, path: Path) -> Suite | None:
        """Return the suite of a file, or None after noting its faults."""
        path = path.absolute()
        if path not in self.suites:
            try:
                self.suites[path] = load_suite(path, rootdir=self.base)
            except SuiteFileError as error:
                self.faults += [fault for fault in error.faults if fault not in self.faults]
                return None
        return self.suites[path]

    def require_faultless(self) -> None:
        """Stop the run when any suite file has faults.

        Raises
        ------
        pytest.UsageError
            Listing every fault of every file.
        """
        faults = [*self.faults, *find_shared_names(self.suites.values())]
        if faults:
            raise pytest.UsageError(str(SuiteFileError(faults)))

    def require_safe_targets(self) -> None:
        """Refuse to write where a plain run must not, and make sure of the run folder.

        Raises
        ------
        pytest.UsageError
            When a report or run folder would lie among goldens or samples, or cannot be made.
        """
        for flag, target in (
            ("--modelreg-json", self.options.json),
            ("--modelreg-run-dir", self.options.run_dir),
        ):
            for suite in self.suites.values():
                for what, folder in (("goldens", suite.golden_root), ("samples", suite.samples_folder)):
                    if target is not None and _is_inside(target, folder):
                        raise pytest.UsageError(
                            f"{flag} {target}: expected a place outside of the {what} of {suite.name} "
                            f"({folder}), which a run never writes to; choose another path"
                        )
        if self.suites:
            try:
                self.run_folder  # noqa: B018 - made now, so that a run that cannot keep it never starts
            except ModelRegError as error:
                raise pytest.UsageError(str(error)) from error


def _is_inside(path: Path, folder: Path) -> bool:
    return path.resolve().is_relative_to(folder.resolve())


def _share_of_threads() -> int | None:
    """Return this xdist worker's share of the machine's cores; None outside of xdist.

    Without it every worker would start a thread a core, and the workers of a run would
    wait for each other.
    """
    n_workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    return max(1, (os.cpu_count() or 1) // n_workers) if n_workers > 1 else None


RUN_STATE = pytest.StashKey[RunState]()


def worker_input(config: pytest.Config) -> dict[str, Any] | None:
    """Return what an xdist controller handed this worker, or None in any other process."""
    found: dict[str, Any] | None = getattr(config, "workerinput", None)
    return found
