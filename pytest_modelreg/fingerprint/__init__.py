"""The recorded environment: which facts about this process can move a number.

What belongs here: reading facts, one collector module a subject (``collectors``), and
the state of the git repository around a suite. What does not: comparing two
environments (``domain.environment``) or deciding what a difference means.

What a project adds of its own is checked in ``project_facts``; ``loading`` imports the
packages that facts are asked of, for a process that has no other reason to.

To add a fact, write a function under :func:`~pytest_modelreg.fingerprint.fact.fact` in
the collector module of its subject; to add a subject, add a module and name it in
``collection.COLLECTORS``.
"""

from __future__ import annotations

from pytest_modelreg.fingerprint.collection import NO_FACTS, collect
from pytest_modelreg.fingerprint.environment_key import ENVIRONMENT_KEYS, read_environment_key
from pytest_modelreg.fingerprint.git import (
    GitAnswer,
    GitState,
    git_state,
    list_versions,
    read_version,
    run_git,
)
from pytest_modelreg.fingerprint.loading import is_installed, load_packages, packages_behind
from pytest_modelreg.fingerprint.project_facts import ask_project_facts

__all__ = [
    "ENVIRONMENT_KEYS",
    "NO_FACTS",
    "GitAnswer",
    "GitState",
    "ask_project_facts",
    "collect",
    "git_state",
    "is_installed",
    "list_versions",
    "load_packages",
    "packages_behind",
    "read_environment_key",
    "read_version",
    "run_git",
]
