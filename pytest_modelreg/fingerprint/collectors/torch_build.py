"""Facts about the installed torch: version and what it was built with."""

from __future__ import annotations

import importlib.util
import re
from contextlib import suppress
from pathlib import Path

from pytest_modelreg.fingerprint.collectors.loaded import ask_torch, ask_used_cuda
from pytest_modelreg.fingerprint.collectors.packages import read_installed_version
from pytest_modelreg.fingerprint.fact import Unknown, fact

BUILD_PARTS = (
    ("BLAS", r"\bBLAS_INFO=(\w+)"),
    ("LAPACK", r"\bLAPACK_INFO=(\w+)"),
    ("MKL", r"Math Kernel Library Version ([\w.]+)"),
    ("oneDNN", r"(?:MKL-DNN|oneDNN) v([\w.]+)"),
    ("OpenMP", r"\bOpenMP \d+ \(a\.k\.a\. OpenMP ([\d.]+)\)"),
    ("CUDA", r"\bCUDA_VERSION=([\w.]+)"),
    ("cuDNN", r"\bCUDNN_VERSION=([\w.]+)"),
)
"""Name and pattern of the parts of a build that compute. Compiler flags are left out:
they fill a page and ``torch.git_version`` pins them."""


@fact("torch.version")
def read_torch_version() -> str:
    """From ``torch.__version__``, loaded or not. Example: ``2.14.1+cu130``."""
    try:
        return str(ask_torch("__version__"))
    except Unknown:
        return _read_written_version() or read_installed_version("torch")


def _read_written_version() -> str | None:
    """Return what ``torch.__version__`` would be, from the file that it comes from; None without it.

    The distribution's version may lack the build (``+cu130``): with it, one machine would have two
    versions, depending on whether a case before this one happened to load torch.
    """
    spec = importlib.util.find_spec("torch")  # looks for it, and imports nothing
    for folder in () if spec is None else spec.submodule_search_locations or ():
        with suppress(OSError):
            text = Path(folder, "version.py").read_text(encoding="utf-8", errors="replace")
            found = re.search(r"^__version__\s*(?::[^=\n]*)?=\s*['\"]([^'\"]+)['\"]", text, re.MULTILINE)
            if found is not None:
                return found[1]
    return None


@fact("torch.git_version")
def read_torch_git_version() -> str:
    """From ``torch.version.git_version``. Example: ``5c4886908584029761b579af026dcfb627c84070``."""
    commit = ask_torch("version.git_version")
    if not commit or commit == "Unknown":
        raise Unknown("this torch was built outside git")
    return str(commit)


@fact("torch.build")
def read_torch_build() -> str:
    """From ``torch.__config__.show()``, the parts that compute.

    Example: ``BLAS mkl, LAPACK mkl, MKL 2024.2, oneDNN 3.12.0, OpenMP 4.5, CUDA 13.0, cuDNN 9.24.0``.
    """
    return describe_build(ask_torch("__config__.show")())


@fact("torch.cuda_version")
def read_torch_cuda_version() -> str:
    """From ``torch.version.cuda``, the toolkit that torch was built with. Example: ``13.0``."""
    version = ask_torch("version.cuda")
    if version is None:
        raise Unknown("this torch was built without CUDA")
    return str(version)


@fact("torch.cudnn_version")
def read_torch_cudnn_version() -> int:
    """From ``torch.backends.cudnn.version()``, the library in use. Example: ``92400``.

    ``torch.build`` has the release that torch was built for, also without a GPU.
    """
    version = ask_used_cuda("backends.cudnn.version")()
    if version is None:
        raise Unknown("this torch was built without cuDNN")
    return int(version)


def describe_build(configuration: str) -> str:
    """Return the parts of a build that compute, in one line.

    Parameters
    ----------
    configuration : str
        What ``torch.__config__.show()`` returns: free text that differs from release
        to release, so each part is looked for on its own and may be absent.

    Raises
    ------
    Unknown
        If no part is named in it.
    """
    found = ((name, re.search(pattern, configuration)) for name, pattern in BUILD_PARTS)
    parts = [f"{name} {match.group(1).rstrip('.')}" for name, match in found if match]
    if not parts:
        raise Unknown("torch.__config__ names no library")
    return ", ".join(parts)
