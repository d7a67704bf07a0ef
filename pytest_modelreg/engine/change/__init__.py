"""What changed since a git revision, and which suites that concerns.

What belongs here: the choice behind ``precheck --base``. ``revision`` and ``repository`` ask git,
``changed_files`` answers for single files and folders, ``module_search``, ``imports``
and ``suite_code`` follow the imports of a suite's code without running any of it, and ``code``,
``data_files``, ``declared_files`` and ``dependencies`` each give reasons of one sort, which
``selection`` puts together. To add a sort of reason, add a module with a function from a suite and
:class:`~pytest_modelreg.engine.change.changed_files.ChangedFiles` to reasons and name it in
``selection``.
"""

from __future__ import annotations

from pytest_modelreg.engine.change.repository import Repository, ask_git, open_repository
from pytest_modelreg.engine.change.revision import find_commit
from pytest_modelreg.engine.change.selection import ChangedSuite, select_changed

__all__ = ["ChangedSuite", "Repository", "ask_git", "find_commit", "open_repository", "select_changed"]
