"""Default limits by dtype, each with its source.

To add a dtype, add a row to :data:`REL_L2_LIMITS` and say where its number comes from.
"""

from __future__ import annotations

from dataclasses import dataclass

from pytest_modelreg.domain.environment import Fingerprint

REL_L2_LIMITS = {
    # Healthy changes (batch size, threads, ISA, layout, compilers, ONNX Runtime) of trained vision models
    # measured below 2.6e-6, the mildest real preprocessing drift from 1.0e-3.
    "float32": 1e-5,
    "complex64": 1e-5,
    # Unit roundoff 1.1e-16 and the same room for reordered sums.
    "float64": 1e-10,
    "complex128": 1e-10,
    # About ten times the unit roundoff (4.9e-4) and five times it (3.9e-3): there every layer rounds.
    "float16": 5e-3,
    "bfloat16": 2e-2,
    # The unit roundoff 2**-(mantissa bits + 1). Two roundings of nearly equal values are equal or one step
    # (two roundoffs) apart, so a row reaches it when a quarter of its elements took the other step.
    "float8_e4m3fn": 6.25e-2,
    "float8_e4m3fnuz": 6.25e-2,
    "float8_e5m2": 1.25e-1,
    "float8_e5m2fnuz": 1.25e-1,
}
"""Largest ``rel_l2`` of a healthy run, dimensionless; integers and bool are compared exactly."""

TF32_LIMIT = 5e-3
"""For float32 where products are computed in TF32, whose mantissa is float16's."""

_TF32_SWITCHES = ("torch.cuda_matmul_tf32", "torch.cudnn_tf32")
_TF32_PRECISION = "torch.cuda_matmul_fp32_precision"


@dataclass(frozen=True, kw_only=True)
class DefaultLimit:
    """A ``rel_l2`` limit that nobody wrote down, dimensionless, and why it holds."""

    value: float
    source: str


def is_exact(dtype: str) -> bool:
    """Return whether outputs of this dtype are compared element by element, exactly."""
    return dtype == "bool" or dtype.startswith(("int", "uint"))


def is_floating(dtype: str) -> bool:
    """Return whether this dtype holds real numbers with an exponent."""
    return dtype.startswith(("float", "bfloat"))


def find_default_limit(dtype: str, expected: Fingerprint, actual: Fingerprint) -> DefaultLimit | None:
    """Return the ``rel_l2`` limit of a dtype in these two environments.

    Returns
    -------
    DefaultLimit or None
        None for a dtype without a default (one that is compared exactly has limit 0).
    """
    if is_exact(dtype):
        return DefaultLimit(value=0.0, source=f"dtype default ({dtype})")
    if dtype in ("float32", "complex64"):
        sides = [
            name for name, side in (("the golden's", expected), ("this", actual)) if _computes_in_tf32(side)
        ]
        if sides:
            return DefaultLimit(value=TF32_LIMIT, source=f"TF32 enabled in {' and '.join(sides)} environment")
    value = REL_L2_LIMITS.get(dtype)
    return None if value is None else DefaultLimit(value=value, source=f"dtype default ({dtype})")


def _computes_in_tf32(fingerprint: Fingerprint) -> bool:
    # The switches are on by default and mean nothing on a machine without a GPU.
    facts = fingerprint.facts
    if facts.get("gpu.name") is None:
        return False
    return any(facts.get(key) is True for key in _TF32_SWITCHES) or facts.get(_TF32_PRECISION) == "tf32"
