"""What a runtime needs installed, and in which version.

What belongs here: importing a framework for a runtime, and saying how to get what is
missing.
"""

from __future__ import annotations

import importlib
import re
from types import ModuleType

from pytest_modelreg.domain.errors import RuntimeUnavailable

ONNX_EXTRA = "onnx"
TORCH_EXTRA = "torch"


def require_package(name: str, *, case: str, runtime: str, extra: str) -> ModuleType:
    """Import a package that a runtime needs.

    Parameters
    ----------
    extra : str
        The extra of this distribution that installs it.

    Raises
    ------
    RuntimeUnavailable
        It is not installed, or cannot be imported.
    """
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and error.name.partition(".")[0] != name.partition(".")[0]:
            what = f"importing {name} found no {error.name}"
        else:
            what = f"expected {name} to be installed, got none"
        raise RuntimeUnavailable(
            f"{case}: runtime {runtime!r}: {what}; pip install 'pytest-modelreg[{extra}]'"
        ) from error
    except ImportError as error:
        raise RuntimeUnavailable(
            f"{case}: runtime {runtime!r}: importing {name} raised {error}; install it anew"
        ) from error


def require_torch(
    minimum: tuple[int, int] = (1, 13), *, case: str, runtime: str, hint: str = ""
) -> ModuleType:
    """Import torch in a version that has what a runtime needs.

    Parameters
    ----------
    minimum : tuple of int
        Major and minor version.
    hint : str
        What else can be done, for the message.

    Raises
    ------
    RuntimeUnavailable
        torch is missing or older.
    """
    torch = require_package("torch", case=case, runtime=runtime, extra=TORCH_EXTRA)
    if read_version(torch) < minimum:
        raise RuntimeUnavailable(
            f"{case}: runtime {runtime!r}: expected torch {minimum[0]}.{minimum[1]} or later, "
            f"got {torch.__version__}; install a later one{hint}"
        )
    return torch


def read_version(module: ModuleType) -> tuple[int, int]:
    """Return major and minor version of a package; ``1.13.0a0`` is (1, 13)."""
    found = re.match(r"(\d+)\.(\d+)", str(getattr(module, "__version__", "")))
    return (int(found[1]), int(found[2])) if found else (0, 0)
