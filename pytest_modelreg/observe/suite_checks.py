"""Functions of a suite that are called outside of a case: its own checks.

What belongs here: importing them the way a case imports its model, and keeping the suite's modules in
place while they are called.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from pytest_modelreg.observe.imports import suite_imports
from pytest_modelreg.observe.references import resolve_references
from pytest_modelreg.observe.state import StateGuard
from pytest_modelreg.observe.warning_log import WarningLog


@contextmanager
def suite_functions(
    python_path: Sequence[str], references: Sequence[str], *, case: str
) -> Iterator[Mapping[str, Callable[..., Any]]]:
    """Import functions of a suite, and keep its modules imported while the block runs.

    Global state is as before when the block is left.

    Parameters
    ----------
    python_path : sequence of str
        Absolute folders, searched first.
    references : sequence of str
        ``module:attr``, each.
    case : str
        The case id, for messages.

    Yields
    ------
    mapping of str to callable
        By reference.

    Raises
    ------
    ImportReferenceError
        One message for all references that cannot be imported or are not callable.
    """
    if not references:
        yield {}
        return
    with StateGuard() as guard, suite_imports(python_path) as suite:
        with WarningLog():  # what an import warns of is the observation's to record
            named = {reference: reference for reference in references}
            found = resolve_references(named, case=f"{case}: checks", folders=suite.folders)
            suite.settings.update(guard.imported_settings())
        guard.prepare(suite.settings)
        yield found
