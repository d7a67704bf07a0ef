"""Settings of torch that can move a number, read anew for every fingerprint.

Each is recorded as it is set, whether or not the device that it is about took part:
``gpu.name`` says whether CUDA did.
"""

from __future__ import annotations

from typing import Any

from pytest_modelreg.fingerprint.collectors.loaded import ask_torch
from pytest_modelreg.fingerprint.fact import Unknown, fact

MIXED_SETTINGS = "torch refuses to tell: legacy and per-backend precision settings were mixed"


@fact("torch.num_threads")
def read_num_threads() -> int:
    """From ``torch.get_num_threads()``: how sums are split inside an operator. Example: ``8``."""
    return int(ask_torch("get_num_threads")())


@fact("torch.num_interop_threads")
def read_num_interop_threads() -> int:
    """From ``torch.get_num_interop_threads()``. Example: ``8``."""
    return int(ask_torch("get_num_interop_threads")())


@fact("torch.default_dtype")
def read_default_dtype() -> str:
    """From ``torch.get_default_dtype()``. Example: ``float32``."""
    return str(ask_torch("get_default_dtype")()).removeprefix("torch.")


@fact("torch.float32_matmul_precision")
def read_float32_matmul_precision() -> str:
    """From ``torch.get_float32_matmul_precision()``. Example: ``highest``."""
    return str(_ask_precision("get_float32_matmul_precision"))


@fact("torch.mkldnn_enabled")
def read_mkldnn_enabled() -> bool:
    """From ``torch.backends.mkldnn.enabled``: oneDNN's kernels or ATen's own. Example: ``true``."""
    return bool(ask_torch("backends.mkldnn.enabled"))


@fact("torch.mkldnn_matmul_fp32_precision")
def read_mkldnn_matmul_fp32_precision() -> str:
    """From ``torch.backends.mkldnn.matmul.fp32_precision`` (since 2.9). Example: ``none``."""
    return str(_ask_precision("backends.mkldnn.matmul.fp32_precision"))


@fact("torch.mkldnn_conv_fp32_precision")
def read_mkldnn_conv_fp32_precision() -> str:
    """From ``torch.backends.mkldnn.conv.fp32_precision`` (since 2.9). Example: ``none``."""
    return str(_ask_precision("backends.mkldnn.conv.fp32_precision"))


@fact("torch.cuda_matmul_tf32")
def read_cuda_matmul_tf32() -> bool:
    """From ``torch.backends.cuda.matmul.allow_tf32``. Example: ``false``."""
    return bool(_ask_precision("backends.cuda.matmul.allow_tf32"))


@fact("torch.cuda_matmul_fp32_precision")
def read_cuda_matmul_fp32_precision() -> str:
    """From ``torch.backends.cuda.matmul.fp32_precision`` (since 2.9). Example: ``none``."""
    return str(_ask_precision("backends.cuda.matmul.fp32_precision"))


@fact("torch.cudnn_tf32")
def read_cudnn_tf32() -> bool:
    """From ``torch.backends.cudnn.allow_tf32``, on by torch's own default. Example: ``true``."""
    return bool(_ask_precision("backends.cudnn.allow_tf32"))


@fact("torch.cudnn_conv_fp32_precision")
def read_cudnn_conv_fp32_precision() -> str:
    """From ``torch.backends.cudnn.conv.fp32_precision`` (since 2.9). Example: ``tf32``."""
    return str(_ask_precision("backends.cudnn.conv.fp32_precision"))


@fact("torch.cudnn_deterministic")
def read_cudnn_deterministic() -> bool:
    """From ``torch.backends.cudnn.deterministic``. Example: ``false``."""
    return bool(ask_torch("backends.cudnn.deterministic"))


@fact("torch.cudnn_benchmark")
def read_cudnn_benchmark() -> bool:
    """From ``torch.backends.cudnn.benchmark``: whether kernels are chosen by a race. Example: ``false``."""
    return bool(ask_torch("backends.cudnn.benchmark"))


@fact("torch.deterministic_algorithms")
def read_deterministic_algorithms() -> bool:
    """From ``torch.are_deterministic_algorithms_enabled()``. Example: ``false``."""
    return bool(ask_torch("are_deterministic_algorithms_enabled")())


@fact("torch.sdp_flash")
def read_sdp_flash() -> bool:
    """From ``torch.backends.cuda.flash_sdp_enabled()``; the CPU heeds it too. Example: ``true``."""
    return bool(ask_torch("backends.cuda.flash_sdp_enabled")())


@fact("torch.sdp_mem_efficient")
def read_sdp_mem_efficient() -> bool:
    """From ``torch.backends.cuda.mem_efficient_sdp_enabled()``. Example: ``true``."""
    return bool(ask_torch("backends.cuda.mem_efficient_sdp_enabled")())


@fact("torch.sdp_math")
def read_sdp_math() -> bool:
    """From ``torch.backends.cuda.math_sdp_enabled()``. Example: ``true``."""
    return bool(ask_torch("backends.cuda.math_sdp_enabled")())


@fact("torch.sdp_cudnn")
def read_sdp_cudnn() -> bool:
    """From ``torch.backends.cuda.cudnn_sdp_enabled()``. Example: ``true``."""
    return bool(ask_torch("backends.cuda.cudnn_sdp_enabled")())


def _ask_precision(path: str) -> Any:
    """Return a precision setting, calling it where it is a function.

    Since torch 2.9 there are two interfaces to the same setting, and the older one
    raises once the newer one was used.
    """
    try:
        setting = ask_torch(path)
        return setting() if callable(setting) else setting
    except RuntimeError as error:
        raise Unknown(MIXED_SETTINGS) from error
