"""Facts about the Python interpreter and the operating system."""

from __future__ import annotations

import os
import platform

from pytest_modelreg.fingerprint.fact import Unknown, fact


@fact("python.version", fixed=True)
def read_python_version() -> str:
    """From ``platform.python_version()``. Example: ``3.11.2``.

    The patch release counts: it may fix a function that preprocessing calls.
    """
    return platform.python_version()


@fact("python.implementation", fixed=True)
def read_python_implementation() -> str:
    """From ``platform.python_implementation()``. Example: ``CPython``."""
    return platform.python_implementation()


@fact("os.name", fixed=True)
def read_os_name() -> str:
    """From ``platform.system()``. Example: ``Linux``."""
    return platform.system() or _refuse("the system does not tell its name")


@fact("os.release", neutral=True, fixed=True)
def read_os_release() -> str:
    """From ``platform.release()``, the kernel's. Example: ``6.1.0-18-amd64``.

    Neutral: the kernel schedules arithmetic but does none.
    """
    return platform.release() or _refuse("the system does not tell its release")


@fact("machine", fixed=True)
def read_machine() -> str:
    """From ``platform.machine()``. Example: ``x86_64``."""
    return platform.machine() or _refuse("the system does not tell its machine type")


@fact("libc", fixed=True)
def read_libc() -> str:
    """From ``confstr(CS_GNU_LIBC_VERSION)``, else ``platform.libc_ver()``. Example: ``glibc 2.36``.

    Its ``libm`` computes the transcendental functions of numpy and of plain Python.
    """
    if "CS_GNU_LIBC_VERSION" in getattr(os, "confstr_names", {}):
        try:
            version = os.confstr("CS_GNU_LIBC_VERSION")
        except (OSError, ValueError):
            version = None  # a libc that has the name but not the answer (musl)
        if version:
            return version
    return " ".join(part for part in platform.libc_ver() if part) or _refuse("no libc that tells its version")


def _refuse(reason: str) -> str:
    raise Unknown(reason)
