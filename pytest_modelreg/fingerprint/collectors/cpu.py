"""Facts about the processor: what decides which kernels run."""

from __future__ import annotations

import platform
import re
import subprocess
from pathlib import Path

from pytest_modelreg.fingerprint.collectors.loaded import ask_torch
from pytest_modelreg.fingerprint.fact import Unknown, fact

CPUINFO = Path("/proc/cpuinfo")

DISPATCHED_FLAGS = re.compile(
    r"sse4_1|sse4_2|avx|avx2|fma|f16c|avx_\w+|avx512\w*|amx_\w+"  # x86
    r"|neon|asimd\w*|fphp|bf16|i8mm|sve\w*"  # Arm
)
"""The instruction sets by which ATen, oneDNN, MKL, OpenBLAS choose
a kernel. Other flags are left out: they cannot move a number, and microcode updates and
hypervisors change them."""


@fact("cpu.model", fixed=True)
def read_cpu_model() -> str:
    """From ``/proc/cpuinfo``, on macOS from ``sysctl``, else from ``platform``.

    Arm names an implementer and a part. Example: ``AMD EPYC 7763 64-Core Processor``.
    """
    if platform.system() == "Darwin":
        return _ask_sysctl("machdep.cpu.brand_string")
    described = _read_first_processor() if CPUINFO.exists() else {}
    for key in ("model name", "cpu model", "cpu"):
        if described.get(key):
            return " ".join(described[key].split())
    arm = [f"{key.removeprefix('CPU ')} {described[key]}" for key in _ARM_IDENTITY if key in described]
    model = ", ".join(arm) or platform.processor()
    if not model:
        raise Unknown("the system does not tell the processor's model")
    return model


@fact("cpu.flags", fixed=True)
def read_cpu_flags() -> str:
    """From ``/proc/cpuinfo`` (``flags`` or ``Features``), only those that kernels dispatch on.

    Sorted, joined by spaces. Example: ``avx avx2 f16c fma sse4_1 sse4_2``.
    """
    if not CPUINFO.exists():
        raise Unknown("read from /proc/cpuinfo, which this system does not have")
    described = _read_first_processor()
    flags = (described.get("flags") or described.get("Features") or described.get("features") or "").split()
    if not flags:
        raise Unknown("/proc/cpuinfo lists no flags")
    return " ".join(sorted({flag for flag in flags if DISPATCHED_FLAGS.fullmatch(flag)}))


@fact("cpu.capability")
def read_cpu_capability() -> str:
    """From ``torch.backends.cpu.get_cpu_capability()``, before torch 2 from ``torch.__config__``.

    The kernels that ATen really runs: ``ATEN_CPU_CAPABILITY`` can lower it. Example: ``AVX2``.
    """
    try:
        return str(ask_torch("backends.cpu.get_cpu_capability")())
    except Unknown:
        named = re.search(r"CPU capability usage: (\S+)", ask_torch("__config__.show")())
        if named is None:
            raise
        return named.group(1)


_ARM_IDENTITY = ("CPU implementer", "CPU architecture", "CPU variant", "CPU part", "CPU revision")


def _read_first_processor() -> dict[str, str]:
    """Return the fields of the first processor that ``/proc/cpuinfo`` describes."""
    described: dict[str, str] = {}
    with CPUINFO.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            # Not the whole file: the kernel renders it while it is read, for hundreds of processors.
            if not line.strip():
                if described:
                    break
                continue
            key, _, value = line.partition(":")
            described[key.strip()] = value.strip()
    return described


def _ask_sysctl(name: str) -> str:
    try:
        answer = subprocess.run(
            ["/usr/sbin/sysctl", "-n", name], capture_output=True, text=True, timeout=5, check=True
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise Unknown(f"sysctl {name} gave no answer") from error
    return answer.stdout.strip()
