"""What the project itself says and hears: the callers of the hooks in ``hooks``."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import pytest

from pytest_modelreg.domain.errors import ModelRegError
from pytest_modelreg.fingerprint.project_facts import find_own_line
from pytest_modelreg.plugin.state import RunState, worker_input

VERDICT_HOOK = "pytest_modelreg_verdict"


class ProjectFactsCheck:
    """Asks for the project's facts before anything is collected, where a fault is a usage error.

    In an xdist worker that error would look like a crash; its controller raises it.
    """

    def __init__(self, state: RunState) -> None:
        self._state = state

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self) -> None:
        """Ask once; the answer is kept.

        Raises
        ------
        pytest.UsageError
            Listing every fault of the facts.
        """
        try:
            self._state.project_facts  # noqa: B018 - asked now, so that a faulty answer runs no case
        except ModelRegError as error:
            if worker_input(self._state.config) is not None:
                return
            raise pytest.UsageError(str(error)) from error


def tell_verdict(config: pytest.Config, record: Mapping[str, Any]) -> str | None:
    """Hand a copy of a record to the implementations of ``pytest_modelreg_verdict``.

    Returns
    -------
    str or None
        What went wrong in one of them.
    """
    try:
        config.hook.pytest_modelreg_verdict(config=config, record=copy.deepcopy(dict(record)))
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:  # noqa: BLE001 - user code; pytest.fail and sys.exit raise no Exception
        got = f"{type(error).__name__}: {error} (at {find_own_line(error)})"
        return f"{VERDICT_HOOK}: the project's code raised {got} for {record['id']}; mend it"
    return None
