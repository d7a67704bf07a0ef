"""What the hooks of one run share: options, loaded suites and the session."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from pytest_modelreg.domain.errors import Fault, SuiteFileError
from pytest_modelreg.engine.regeneration import Regeneration
from pytest_modelreg.engine.session import Session, open_run_folder
from pytest_modelreg.engine.suite import Suite, find_shared_goldens, load_suite
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
    """

    config: pytest.Config
    options: Options
    regeneration: Regeneration | None
    run_id: str
    run_dir: Path | None
    base: Path
    suites: dict[Path, Suite] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    _session: Session | None = None
    _run_folder: RunFolder | None = None

    @property
    def session(self) -> Session:
        """The engine's session, made when the first case runs."""
        if self._session is None:
            self._session = Session(run_folder=self.run_folder, regeneration=self.regeneration)
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
        faults = [*self.faults, *find_shared_goldens(self.suites.values())]
        if faults:
            raise pytest.UsageError(str(SuiteFileError(faults)))


RUN_STATE = pytest.StashKey[RunState]()


def worker_input(config: pytest.Config) -> dict[str, Any] | None:
    """Return what an xdist controller handed this worker, or None in any other process."""
    found: dict[str, Any] | None = getattr(config, "workerinput", None)
    return found
