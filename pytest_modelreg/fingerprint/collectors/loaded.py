"""What is loaded in this process: asking a package without importing it."""

from __future__ import annotations

import sys
from operator import attrgetter
from types import ModuleType
from typing import Any

from pytest_modelreg.domain.environment import UNUSED
from pytest_modelreg.fingerprint.fact import Unknown


def loaded_package(module: str, *, called: str | None = None) -> ModuleType:
    """Return a package that something else has imported already.

    Raises
    ------
    Unknown
        If it is not loaded: importing it for a fact would cost seconds (torch) and
        change the process that is being described.
    """
    package = sys.modules.get(module)
    if package is None:
        raise Unknown(f"{called or module} was not loaded {UNUSED}")
    return package


def ask_torch(path: str) -> Any:
    """Return what sits at a dotted path below ``torch``.

    Raises
    ------
    Unknown
        If torch is not loaded, or this version of it has no such attribute: releases
        from 1.13 on differ in what they tell.
    """
    torch = loaded_package("torch")
    try:
        return attrgetter(path)(torch)
    except (AttributeError, AssertionError) as error:  # the latter from torch.backends before 2.0
        raise Unknown(f"this version of torch has no torch.{path}") from error


def ask_used_cuda(path: str) -> Any:
    """Return what sits at a dotted path below ``torch``, when this process has used CUDA.

    Asking about a device initialises CUDA and loads its libraries: seconds, memory, and
    processes forked later break. A GPU that nothing ran on moved no number either.

    Raises
    ------
    Unknown
        As :func:`ask_torch`, and when CUDA was not used.
    """
    if not ask_torch("cuda.is_initialized")():
        raise Unknown(f"CUDA was not used {UNUSED}")
    return ask_torch(path)
