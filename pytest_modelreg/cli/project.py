"""What the project's own pytest plugins say, for commands that run outside of a test session."""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from pytest_modelreg.domain.environment import FactValue
from pytest_modelreg.domain.errors import ModelRegError, UsageFault
from pytest_modelreg.fingerprint import ask_project_facts

HOOK = "pytest_modelreg_fingerprint"


def ask_project(root: Path) -> Mapping[str, FactValue]:
    """Return the facts that the project's hooks add to the fingerprint.

    pytest is configured as in a run started in ``root``, so that ``conftest.py`` and
    plugins are the same; no session begins and nothing is collected.

    Raises
    ------
    ProjectFactError
        With every fault of the facts.
    UsageFault
        When pytest cannot be configured here, with what it says.
    """
    asker = _Asker()
    words = io.StringIO()
    here = Path.cwd()
    try:
        os.chdir(root)  # from elsewhere pytest would pass testpaths over, and the conftest.py in them
        with contextlib.redirect_stdout(words), contextlib.redirect_stderr(words):
            code = pytest.main([], plugins=[asker])
    finally:
        os.chdir(here)
    if asker.error is not None:
        raise asker.error
    if asker.facts is None:
        lines = [line for line in words.getvalue().splitlines() if line.strip()]
        raise UsageFault(
            f"{root}: expected a project in which pytest starts, to ask it for facts of its own; "
            f"it ended with {int(code)}: {' | '.join(lines[-3:]) or 'no word'}; `pytest --co` shows more"
        )
    return asker.facts


class _Asker:
    """A plugin that asks once pytest is configured, in the place of a session."""

    def __init__(self) -> None:
        self.facts: Mapping[str, FactValue] | None = None
        self.error: ModelRegError | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_cmdline_main(self, config: pytest.Config) -> int:
        """Ask, and end pytest there."""
        hook = getattr(config.hook, HOOK, None)  # absent where the project switches the plugin off
        try:
            self.facts = ask_project_facts(lambda: hook(config=config) if hook else [], source=HOOK)
        except ModelRegError as error:
            self.error = error
        return 0
