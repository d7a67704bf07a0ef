"""Runtimes: how a model that has been built is run.

What belongs here: one module a runtime behind the :class:`Runtime` protocol, and the
table by which a suite's ``runtime`` is found. What does not: building the model,
loading weights, preprocessing (``observe``), or judging what comes out.

To add a runtime of our own, write its module and name it in ``table.BUILTIN``; a third
party publishes an entry point in the group ``pytest_modelreg.runtimes`` instead, and
subclasses ``conformance.RuntimeConformance`` in its tests.
"""

from __future__ import annotations

from pytest_modelreg.runtimes.artefacts import Artefacts
from pytest_modelreg.runtimes.packaged_file import is_inside, list_package_folders
from pytest_modelreg.runtimes.port import Runner, RunRequest, Runtime
from pytest_modelreg.runtimes.table import (
    BUILTIN,
    find_runtime,
    list_builtin_faults,
    list_builtin_options,
    list_runtime_names,
)

__all__ = [
    "Artefacts",
    "BUILTIN",
    "RunRequest",
    "Runner",
    "Runtime",
    "find_runtime",
    "is_inside",
    "list_builtin_faults",
    "list_builtin_options",
    "list_package_folders",
    "list_runtime_names",
]
