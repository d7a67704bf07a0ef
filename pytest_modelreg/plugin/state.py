"""What the hooks of one run share: options, loaded suites and the session."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from pytest_modelreg.domain.environment import FactValue
from pytest_modelreg.domain.errors import Fault, ModelRegError, RunFolderError, SuiteFileError
from pytest_modelreg.engine.regeneration import Regeneration
from pytest_modelreg.engine.run import open_run_folder
from pytest_modelreg.engine.session import Session
from pytest_modelreg.engine.suite import Suite
from pytest_modelreg.engine.suite_loading import find_shared_names, load_suite
from pytest_modelreg.fingerprint import ask_project_facts
from pytest_modelreg.plugin.options import Options
from pytest_modelreg.plugin.progress import make_progress_line
from pytest_modelreg.report.report_file import require_writable
from pytest_modelreg.store import RunFolder


@dataclass(kw_only=True)
class RunState:
    """Mutable state of one pytest run (one process of it under xdist).

    Parameters
    ----------
    base : Path
        The project's folder: goldens of Python tests are in ``golden/`` below it, run folders in
        ``.modelreg/``, and ids of Python tests start there.
    suites : dict of Path to Suite
        By suite file; each is loaded once a process.
    faults : list of Fault
        Of all suite files seen; any makes the run a usage error.
    claims : dict of str to (object, str, str)
        By golden folder of a Python test's check: who took it, in which test, and under which name.
    clashes : dict of str to str
        By id of a Python test the id of another one that would have its golden folder.
    """

    config: pytest.Config
    options: Options
    regeneration: Regeneration | None
    run_id: str
    run_dir: Path | None
    base: Path
    suites: dict[Path, Suite] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    claims: dict[str, tuple[object, str, str]] = field(default_factory=dict)
    clashes: dict[str, str] = field(default_factory=dict)
    _session: Session | None = None
    _project_facts: Mapping[str, FactValue] | ModelRegError | None = None
    _run_folder: RunFolder | None = None

    @property
    def session(self) -> Session:
        """The engine's session, made when the first case runs."""
        if self._session is None:
            line = make_progress_line(self.config)
            self._session = Session(
                run_folder=self.run_folder,
                regeneration=self.regeneration,
                default_threads=_share_of_threads(),
                project_facts=self.project_facts,
                progress=None if line is None else line.show,
                say=None if line is None else line.say,
                is_one_of_several=worker_input(self.config) is not None,
                keeps_outputs=self.options.keep_outputs,
                diagnose=self.options.diagnose,
            )
        return self._session

    def close(self) -> None:
        """Remove what the session kept for its cases."""
        if self._session is not None:
            self._session.close()

    @property
    def project_facts(self) -> Mapping[str, FactValue]:
        """What the project adds to every fingerprint; asked for once a process, at its start.

        Later there are more implementations: those of the ``conftest.py`` files in sub-folders,
        which an xdist controller never sees.
        """
        if self._project_facts is None:
            hook = self.config.hook.pytest_modelreg_fingerprint
            try:
                self._project_facts = ask_project_facts(lambda: hook(config=self.config), source=hook.name)
            except ModelRegError as error:
                self._project_facts = error
        if isinstance(self._project_facts, ModelRegError):
            raise self._project_facts
        return self._project_facts

    @property
    def run_folder(self) -> RunFolder:
        """The run's folder, made on first use; every process of the run gets the same one."""
        if self._run_folder is None:
            try:
                self._run_folder = open_run_folder(self.base, self.run_id, chosen=self.run_dir)
            except RunFolderError as error:
                raise advise_run_dir(error) from error
        return self._run_folder

    @property
    def made_run_folder(self) -> Path | None:
        """The run's folder as far as this process made it."""
        return None if self._run_folder is None else self._run_folder.folder

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
            When a report or run folder would lie among goldens or samples, or cannot be made
            or written.
        """
        kept = [("the goldens of Python tests", self.base / "golden")]
        for suite in self.suites.values():
            kept += [
                (f"the goldens of {suite.name}", suite.golden_root),
                (f"the samples of {suite.name}", suite.samples.place),
            ]
        targets = {
            "--modelreg-json": self.options.json,
            "--modelreg-html": self.options.html,
            "--modelreg-markdown": self.options.markdown,
            "--modelreg-run-dir": self.options.run_dir,
        }
        for flag, target in targets.items():
            for what, folder in kept:
                if target is not None and _is_inside(target, folder):
                    raise pytest.UsageError(
                        f"{flag} {target}: expected a place outside of {what} "
                        f"({folder}), which a run never writes to; choose another path"
                    )
        for flag in ("--modelreg-json", "--modelreg-html", "--modelreg-markdown"):
            target = targets[flag]
            try:
                if target is not None:
                    require_writable(target)
                if flag == "--modelreg-html" and target is not None:
                    from pytest_modelreg.report.html import require_templates

                    require_templates()
            except ModelRegError as error:
                raise pytest.UsageError(f"{flag} {error}") from error
        if self.suites:
            try:
                self.run_folder  # noqa: B018 - made now, so that a run that cannot keep it never starts
            except ModelRegError as error:
                raise pytest.UsageError(str(error)) from error


def advise_run_dir(error: RunFolderError) -> RunFolderError:
    """Return the error with the flag that helps: commands make run folders too, and have none."""
    return RunFolderError(f"{error}, or choose another place with --modelreg-run-dir")


def _is_inside(path: Path, folder: Path) -> bool:
    return path.resolve().is_relative_to(folder.resolve())


def _share_of_threads() -> int | None:
    """Return this xdist worker's share of the threads that torch would start; None outside of xdist.

    Without it every worker would start a thread a core, and the workers of a run would
    wait for each other.
    """
    n_workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    return max(1, _count_own_threads() // n_workers) if n_workers > 1 else None


def _count_own_threads() -> int:
    """Return how many threads one process would use: the user's number, else the cores it may run on."""
    chosen = os.environ.get("OMP_NUM_THREADS", "")
    if chosen.isdecimal() and int(chosen) > 0:
        return int(chosen)
    affinity = getattr(os, "sched_getaffinity", None)  # Linux; a container may get fewer cores than there are
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1


RUN_STATE = pytest.StashKey[RunState]()


def worker_input(config: pytest.Config) -> dict[str, Any] | None:
    """Return what an xdist controller handed this worker, or None in any other process."""
    found: dict[str, Any] | None = getattr(config, "workerinput", None)
    return found
