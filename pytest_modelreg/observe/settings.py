"""Settings of this process that can move a number, read and written by name.

What belongs here: the table of what is restored after a case. To add a setting, add an
attribute path to :data:`_TORCH_ATTRIBUTES`, the paths of a getter and a setter to
:data:`_TORCH_FUNCTIONS`, or a reader and a writer to :func:`_torch_calls`. A setting
that the installed torch does not have is left out.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

import numpy as np

_Setting = tuple[Callable[[], Any], Callable[[Any], object]]  # how to read and how to write it
_ENVIRON = "environ."

# The broad ones come before the narrow ones: writing the former moves the latter.
_TORCH_ATTRIBUTES = (
    "backends.fp32_precision",
    "backends.cudnn.enabled",
    "backends.cudnn.benchmark",
    "backends.cudnn.deterministic",
    "backends.cudnn.allow_tf32",
    "backends.cudnn.fp32_precision",
    "backends.cudnn.conv.fp32_precision",
    "backends.cudnn.rnn.fp32_precision",
    "backends.cuda.matmul.allow_tf32",
    "backends.cuda.matmul.fp32_precision",
    "backends.cuda.matmul.allow_fp16_reduced_precision_reduction",
    "backends.cuda.matmul.allow_bf16_reduced_precision_reduction",
    "backends.mkldnn.enabled",
    "backends.mkldnn.matmul.fp32_precision",
    "backends.mkldnn.conv.fp32_precision",
    "backends.mkldnn.rnn.fp32_precision",
    "backends.opt_einsum.enabled",
    "backends.opt_einsum.strategy",
    "backends.quantized.engine",
    "utils.deterministic.fill_uninitialized_memory",
)

_TORCH_FUNCTIONS = (
    ("backends.cuda.cudnn_sdp_enabled", "backends.cuda.enable_cudnn_sdp"),
    ("backends.cuda.flash_sdp_enabled", "backends.cuda.enable_flash_sdp"),
    ("backends.cuda.math_sdp_enabled", "backends.cuda.enable_math_sdp"),
    ("backends.cuda.mem_efficient_sdp_enabled", "backends.cuda.enable_mem_efficient_sdp"),
    ("backends.mha.get_fastpath_enabled", "backends.mha.set_fastpath_enabled"),
    ("is_autocast_cpu_enabled", "set_autocast_cpu_enabled"),
    ("get_autocast_cpu_dtype", "set_autocast_cpu_dtype"),
    ("is_warn_always_enabled", "set_warn_always"),
    ("jit.onednn_fusion_enabled", "jit.enable_onednn_fusion"),
)


def read_settings() -> dict[str, Any]:
    """Return every setting by name; those of torch only when torch is imported."""
    values = {name: read() for name, (read, _) in _settings().items()}
    values.update((_ENVIRON + key, value) for key, value in os.environ.items())
    return {name: value for name, value in values.items() if value is not None}


def write_settings(values: Mapping[str, Any]) -> None:
    """Set what differs from ``values``; settings that it does not name are left alone."""
    for name, (read, write) in _settings().items():
        if values.get(name) is not None and read() != values[name]:
            write(values[name])
    for name, value in values.items():
        if name.startswith(_ENVIRON):
            key = name[len(_ENVIRON) :]
            if os.environ.get(key) != value:
                os.environ[key] = value


def restore_settings(before: Mapping[str, Any]) -> None:
    """Set everything as in ``before`` and remove environment variables added since."""
    write_settings(before)
    for key in [key for key in os.environ if _ENVIRON + key not in before]:
        del os.environ[key]


def changed_settings(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """Return what ``after`` has otherwise than ``before``."""
    return {name: value for name, value in after.items() if before.get(name) != value}


def _settings() -> dict[str, _Setting]:
    settings: dict[str, _Setting] = {
        "cwd": (_read_cwd, os.chdir),
        "numpy.errstate": (np.geterr, lambda value: np.seterr(**value)),
    }
    torch = sys.modules.get("torch")
    if torch is None:
        return settings
    settings.update(_torch_calls(torch))
    for path in _TORCH_ATTRIBUTES:
        settings[f"torch.{path}"] = _attribute(torch, path)
    for getter, setter in _TORCH_FUNCTIONS:
        settings[f"torch.{getter}"] = _functions(torch, getter, setter)
    return settings


def _torch_calls(torch: ModuleType) -> dict[str, _Setting]:
    calls: dict[str, _Setting] = {
        "torch.grad_enabled": (torch.is_grad_enabled, torch.set_grad_enabled),
        "torch.default_dtype": (torch.get_default_dtype, torch.set_default_dtype),
        "torch.num_threads": (torch.get_num_threads, torch.set_num_threads),
        "torch.deterministic": (
            lambda: (
                torch.are_deterministic_algorithms_enabled(),
                torch.is_deterministic_algorithms_warn_only_enabled(),
            ),
            lambda value: torch.use_deterministic_algorithms(value[0], warn_only=value[1]),
        ),
        "torch.float32_matmul_precision": (
            _tolerant(torch.get_float32_matmul_precision),
            torch.set_float32_matmul_precision,
        ),
        "torch.flush_denormal": (_read_flush_denormal, torch.set_flush_denormal),
        "torch.detect_anomaly": (
            _tolerant(lambda: (torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled())),
            lambda value: torch.autograd.set_detect_anomaly(*value),
        ),
    }
    if hasattr(torch, "get_default_device"):
        calls["torch.default_device"] = (
            lambda: str(torch.get_default_device()),
            # None takes the device mode off again, "cpu" would leave one on.
            lambda value: torch.set_default_device(None if value == "cpu" else value),
        )
    return calls


def _attribute(torch: ModuleType, path: str) -> _Setting:
    parent, _, name = path.rpartition(".")
    return (
        _tolerant(lambda: getattr(_follow(torch, parent), name)),
        lambda value: setattr(_follow(torch, parent), name, value),
    )


def _functions(torch: ModuleType, getter: str, setter: str) -> _Setting:
    def write(value: Any) -> None:
        with warnings.catch_warnings():  # some of them are deprecated, and nothing stands in
            warnings.simplefilter("ignore")
            _follow(torch, setter)(value)

    return _tolerant(lambda: _follow(torch, getter)()), write


def _follow(torch: ModuleType, path: str) -> Any:
    found: Any = torch
    for part in path.split("."):
        found = getattr(found, part)
    return found


def _read_flush_denormal() -> bool:
    """Whether this thread's processor rounds denormal numbers to zero: torch has no getter."""
    with np.errstate(all="ignore"):
        return not np.float32(1e-38) * np.float32(1e-3)


def _tolerant(read: Callable[[], Any]) -> Callable[[], Any]:
    """Read None where this torch lacks the attribute or refuses to tell.

    torch 2.9 and later raise RuntimeError when old and new TF32 settings were mixed;
    before 2.0 an unknown setting of ``cuda.matmul`` raises AssertionError.
    """

    def read_or_none() -> Any:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return read()
        except (AttributeError, AssertionError, RuntimeError):
            return None

    return read_or_none


def _read_cwd() -> str | None:
    try:
        return os.getcwd()
    except FileNotFoundError:  # a test removed the folder it stands in
        return None
