"""Facts by which a suite may keep several goldens apart, known before anything runs.

What belongs here: facts that can be told without importing a framework, except for the name of
a GPU, which only a case on one asks for. To add one, add a function to :data:`_READERS`.
"""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import metadata


def _read_device(device: str | None) -> str:
    if device is None or not device.startswith("cuda"):
        return device or "cpu"
    import torch

    if not torch.cuda.is_available():
        return device
    return torch.cuda.get_device_name(torch.device(device))


def _read_torch(device: str | None) -> str:
    try:
        version = metadata.version("torch")
    except metadata.PackageNotFoundError:
        return "none"
    return ".".join(version.partition("+")[0].split(".")[:2])


_READERS: Mapping[str, Callable[[str | None], str]] = {
    "device": _read_device,
    "machine": lambda device: platform.machine() or "unknown",
    "os": lambda device: platform.system() or "unknown",
    "python": lambda device: f"{sys.version_info[0]}.{sys.version_info[1]}",
    "torch": _read_torch,
}

ENVIRONMENT_KEYS = tuple(_READERS)
"""What ``golden_per`` may list: device (``cpu`` or the GPU's name), machine, os, python, torch."""


def read_environment_key(names: Sequence[str], *, device: str | None) -> dict[str, str]:
    """Return the facts of these names, in their order.

    Parameters
    ----------
    names : sequence of str
        Out of :data:`ENVIRONMENT_KEYS`.
    device : str or None
        Where the case runs, as the suite says; None is the CPU.
    """
    return {name: _READERS[name](device) for name in names}
