"""A session for a command: the run folder, the project's facts and progress, opened and cleared up."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_modelreg.cli.progress import make_progress

if TYPE_CHECKING:
    from pytest_modelreg.engine.regeneration import Regeneration
    from pytest_modelreg.engine.session import Session
    from pytest_modelreg.engine.suite import CasePlan, Suite


@contextmanager
def open_session(
    root: Path,
    cases: Sequence[tuple[Suite, CasePlan]],
    *,
    regeneration: Regeneration | None,
    folder: Path | None = None,
    diagnose: str = "off",
) -> Iterator[Session]:
    """Open a session for these cases in the project at ``root``.

    Parameters
    ----------
    folder : Path or None
        The run folder; None: a new one among the project's.
    diagnose : str
        Whether and how long drifts are explained: ``auto``, ``off`` or ``full``.

    Raises
    ------
    ProjectFactError, UsageFault
        When the project's own facts cannot be had.
    RunFolderError
        When the run folder cannot be made.
    """
    from pytest_modelreg.cli.project import ask_project
    from pytest_modelreg.engine.run import new_run_id, open_run_folder
    from pytest_modelreg.engine.session import Session
    from pytest_modelreg.engine.termination import interrupted_by_termination

    facts = ask_project(root)
    with interrupted_by_termination(), open_run_folder(root, new_run_id(), chosen=folder) as run_folder:
        session = Session(
            run_folder=run_folder,
            regeneration=regeneration,
            progress=make_progress(),
            say=lambda line: print(line, file=sys.stderr, flush=True),
            project_facts=facts,
            diagnose=diagnose,
        )
        session.expect(cases)
        try:
            yield session
        finally:
            session.close()
