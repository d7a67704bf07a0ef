"""The processes in which cases of other environments run.

What belongs here: from a case to the process that it is handed to, made ready once a session. Making an
environment ready is ``environments``', what runs there is ``observe``'s.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_modelreg.domain.case import CaseSpec
from pytest_modelreg.observe import Elsewhere

if TYPE_CHECKING:
    from pytest_modelreg.engine.environments import Environments


class Places:
    """Knows where cases run that do not run here.

    Parameters
    ----------
    say : callable or None
        Takes lines on what takes long before a case can run.
    """

    def __init__(self, say: Callable[[str], None] | None) -> None:
        self._say = say
        self._environments: Environments | None = None

    def find(self, spec: CaseSpec) -> tuple[CaseSpec, Elsewhere]:
        """Make the environment of a case ready; return the case as it is run there, and the process.

        Raises
        ------
        EnvironmentUnavailable
            When it cannot be had.
        """
        environment = spec.environment
        assert environment is not None
        if self._environments is None:
            # Asked for by few suites, and it brings git and installers.
            from pytest_modelreg.engine.environments import Environments

            self._environments = Environments(say=self._say or (lambda line: None))
        ready = self._environments.prepare(
            environment, case=spec.id, root=Path(spec.root), python_path=spec.python_path
        )
        place = Elsewhere(
            python=ready.python,
            is_this_interpreter=ready.is_this_interpreter,
            variables=ready.variables,
            checkout=ready.checkout,
            description=ready.description,
            time_limit_s=environment.time_limit_s,
        )
        return replace(spec, python_path=ready.python_path), place

    def close(self) -> None:
        """Remove what was made for this session alone; built environments stay."""
        if self._environments is not None:
            self._environments.close()
