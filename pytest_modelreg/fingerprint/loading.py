"""Importing the packages that facts are asked of.

Collecting imports nothing, so that it describes a process as it is. A process that
exists only to describe the environment (``modelreg env``) has to import them first.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterable

from pytest_modelreg.domain.environment import Fingerprint
from pytest_modelreg.fingerprint import collection  # noqa: F401 - its import declares the facts
from pytest_modelreg.fingerprint.fact import declared_facts

TOLD_BY = {"torch.num_threads": "torch", "pillow.libjpeg_turbo": "PIL.Image"}
"""Facts that only a loaded package tells, by the package that has to be."""


def packages_behind(fingerprint: Fingerprint) -> tuple[str, ...]:
    """Return the packages that must have been loaded where a fingerprint was taken, sorted.

    With other packages loaded, other facts would be known or count: comparing this
    process with a recorded one needs the same.
    """
    told = [module for key, module in TOLD_BY.items() if fingerprint.facts.get(key) is not None]
    counted = [
        declared.module
        for key, declared in declared_facts().items()
        if declared.module is not None
        and fingerprint.facts.get(key) is not None
        and key not in fingerprint.neutral
    ]
    return tuple(sorted({*told, *counted}))


def is_installed(name: str) -> bool:
    """Whether a package could be imported; it is not."""
    return importlib.util.find_spec(name) is not None


def load_packages(names: Iterable[str]) -> dict[str, str]:
    """Import packages; return what could not be imported, with the reason.

    What cannot be imported leaves its facts unknown, which is what there is to say.
    """
    failed = {}
    for name in names:
        try:
            importlib.import_module(name)
        except (ImportError, OSError, RuntimeError) as error:  # absent; a broken library of it
            failed[name] = f"{type(error).__name__}: {error}"
    return failed
