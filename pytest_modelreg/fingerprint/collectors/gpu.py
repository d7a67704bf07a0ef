"""Facts about the GPU, when this process has used one.

A GPU that nothing ran on stays unknown, with that reason.
"""

from __future__ import annotations

import re
from pathlib import Path

from pytest_modelreg.fingerprint.collectors.loaded import ask_used_cuda
from pytest_modelreg.fingerprint.fact import Unknown, fact

DRIVER_VERSION = Path("/proc/driver/nvidia/version")


@fact("gpu.name")
def read_gpu_name() -> str:
    """From ``torch.cuda.get_device_name()`` of the current device. Example: ``NVIDIA A100-SXM4-40GB``."""
    return str(ask_used_cuda("cuda.get_device_name")())


@fact("gpu.capability")
def read_gpu_capability() -> str:
    """From ``torch.cuda.get_device_capability()`` of the current device. Example: ``8.0``."""
    major, minor = ask_used_cuda("cuda.get_device_capability")()
    return f"{major}.{minor}"


@fact("gpu.driver")
def read_gpu_driver() -> str:
    """From ``/proc/driver/nvidia/version``. Example: ``550.54.14``.

    Not neutral: the driver compiles the kernels that a build brings as PTX.
    """
    ask_used_cuda("cuda.current_device")
    if not DRIVER_VERSION.exists():
        raise Unknown("read from /proc/driver/nvidia/version, which this system does not have")
    text = DRIVER_VERSION.read_text(encoding="utf-8", errors="replace")
    found = re.search(r"Kernel Module.*?\s(\d+\.\d+(?:\.\d+)?)\s", text)
    if found is None:
        raise Unknown("/proc/driver/nvidia/version names no version")
    return found.group(1)
