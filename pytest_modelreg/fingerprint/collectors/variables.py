"""Environment variables by which kernels, threads and hashing are steered: these and no others."""

from __future__ import annotations

import os

from pytest_modelreg.fingerprint.fact import Unknown, fact


@fact("env.ATEN_CPU_CAPABILITY")
def read_aten_cpu_capability() -> str:
    """Lowers the instruction set of torch's own kernels. Example: ``avx2``."""
    return _read_variable("ATEN_CPU_CAPABILITY")


@fact("env.ONEDNN_MAX_CPU_ISA")
def read_onednn_max_cpu_isa() -> str:
    """Lowers the instruction set of oneDNN's kernels. Example: ``AVX2``."""
    return _read_variable("ONEDNN_MAX_CPU_ISA")


@fact("env.MKL_CBWR")
def read_mkl_cbwr() -> str:
    """Pins MKL's code branch, for equal bits on different processors. Example: ``COMPATIBLE``."""
    return _read_variable("MKL_CBWR")


@fact("env.OMP_NUM_THREADS")
def read_omp_num_threads() -> str:
    """Threads of OpenMP, torch's default. Example: ``1``."""
    return _read_variable("OMP_NUM_THREADS")


@fact("env.MKL_NUM_THREADS")
def read_mkl_num_threads() -> str:
    """Threads of MKL. Example: ``1``."""
    return _read_variable("MKL_NUM_THREADS")


@fact("env.OPENBLAS_CORETYPE")
def read_openblas_coretype() -> str:
    """Pins OpenBLAS' kernels, which numpy multiplies matrices with. Example: ``Haswell``."""
    return _read_variable("OPENBLAS_CORETYPE")


@fact("env.CUBLAS_WORKSPACE_CONFIG")
def read_cublas_workspace_config() -> str:
    """Workspace of cuBLAS; torch's deterministic mode asks for it. Example: ``:4096:8``."""
    return _read_variable("CUBLAS_WORKSPACE_CONFIG")


@fact("env.NVIDIA_TF32_OVERRIDE")
def read_nvidia_tf32_override() -> str:
    """Switches TF32 off below every framework. Example: ``0``."""
    return _read_variable("NVIDIA_TF32_OVERRIDE")


@fact("env.PYTHONHASHSEED")
def read_pythonhashseed() -> str:
    """Decides the order in which sets of strings are walked. Example: ``0``."""
    return _read_variable("PYTHONHASHSEED")


def _read_variable(name: str) -> str:
    value = os.environ.get(name)
    if value is None:
        raise Unknown("not set")
    return value
