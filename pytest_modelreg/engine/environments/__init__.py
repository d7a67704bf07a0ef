"""Environments other than this one, made ready for an observation: found, built, checked out.

What belongs here: everything between an :class:`~pytest_modelreg.domain.case.EnvironmentSpec` and an
interpreter that can be started. Starting it, and what it is asked, is ``observe``'s.

Modules: ``preparation`` (puts the parts together), ``interpreter`` (one that is named),
``requirement_list`` and ``built_environment`` (one that is built, by ``installer``, in
``cache_folder``), ``worktree`` (another revision's code), ``abandoned`` (what killed sessions left of
both), ``command`` (other programs). To add a part of an environment, add a module with a function from
what was written to what the process is started with, and call it in ``preparation``.
"""

from __future__ import annotations

from pytest_modelreg.engine.environments.abandoned import remove_abandoned
from pytest_modelreg.engine.environments.preparation import Environments, ReadyEnvironment

__all__ = ["Environments", "ReadyEnvironment", "remove_abandoned"]
