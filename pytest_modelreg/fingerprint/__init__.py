"""The recorded environment: which facts about this process can move a number.

What belongs here: reading facts, one collector module a subject (``collectors``), and
the state of the git repository around a suite. What does not: comparing two
environments (``domain.environment``) or deciding what a difference means.

To add a fact, write a function under :func:`~pytest_modelreg.fingerprint.fact.fact` in
the collector module of its subject; to add a subject, add a module and name it in
``collection.COLLECTORS``.
"""

from __future__ import annotations

from pytest_modelreg.fingerprint.collection import collect
from pytest_modelreg.fingerprint.git import GitState, git_state

__all__ = ["GitState", "collect", "git_state"]
