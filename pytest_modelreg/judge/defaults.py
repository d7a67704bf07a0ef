"""Default limits by dtype, each with its source.

To add a dtype, add a row to :data:`REL_L2_LIMITS` and say where its number comes from.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

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

BF16_LIMIT = REL_L2_LIMITS["bfloat16"]
"""For float32 where products are computed in bfloat16."""

_REDUCED_LIMITS = {"TF32": TF32_LIMIT, "bfloat16": BF16_LIMIT}
_BY_SETTING = {"tf32": "TF32", "bf16": "bfloat16"}
_GPU_SETTING = re.compile(r"torch\.(cuda|cudnn)_(\w+_)?(tf32|fp32_precision)")
_CPU_SETTING = re.compile(r"torch\.mkldnn_(\w+_)?fp32_precision")


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


def is_same_family(expected: str, actual: str) -> bool:
    """Return whether two dtypes hold the same kind of numbers, in another width at most."""
    return any(
        expected.startswith(prefixes) and actual.startswith(prefixes)
        for prefixes in (("float", "bfloat"), ("complex",), ("int", "uint"))
    )


def find_loosest_limit(
    dtypes: tuple[str, str], compute_dtypes: Sequence[str], expected: Fingerprint, actual: Fingerprint
) -> DefaultLimit | None:
    """Return the ``rel_l2`` limit of the coarsest precision that is involved in an output.

    Parameters
    ----------
    dtypes : tuple of str
        Of the output, expected and actual; both of one family.
    compute_dtypes : sequence of str
        What the case declares to compute in. Integers stay exact whatever it is.

    Returns
    -------
    DefaultLimit or None
        The expected dtype's own unless another one is looser; None where no dtype has a default.
    """
    own = find_default_limit(dtypes[0], expected, actual)
    if is_exact(dtypes[0]):
        return own
    limits = [] if own is None else [own]
    for dtype, whose in (*((dtype, "declared") for dtype in compute_dtypes), (dtypes[1], "this run's")):
        limit = find_default_limit(dtype, expected, actual)
        if limit is not None:
            is_plain = limit.source == _describe_default(dtype)
            limits.append(
                replace(limit, source=_describe_default(f"{dtype}, {whose}")) if is_plain else limit
            )
    return max(limits, key=lambda limit: limit.value, default=None)


def find_default_limit(dtype: str, expected: Fingerprint, actual: Fingerprint) -> DefaultLimit | None:
    """Return the ``rel_l2`` limit of a dtype in these two environments.

    Returns
    -------
    DefaultLimit or None
        None for a dtype without a default (one that is compared exactly has limit 0).
    """
    if is_exact(dtype):
        return DefaultLimit(value=0.0, source=_describe_default(dtype))
    if dtype in ("float32", "complex64"):
        reduced = _find_reduced_precision(expected, actual)
        if reduced is not None:
            return reduced
    value = REL_L2_LIMITS.get(dtype)
    return None if value is None else DefaultLimit(value=value, source=_describe_default(dtype))


def _describe_default(dtype: str) -> str:
    return f"dtype default ({dtype})"


def _find_reduced_precision(expected: Fingerprint, actual: Fingerprint) -> DefaultLimit | None:
    """Return the limit of the coarsest precision that either side may have computed products in."""
    sides = {"the golden's": _list_reduced(expected), "this": _list_reduced(actual)}
    used = {name for reduced in sides.values() for name in reduced.values()}
    if not used:
        return None
    coarsest = max(used, key=lambda name: _REDUCED_LIMITS[name])
    where = [side for side, reduced in sides.items() if coarsest in reduced.values()]
    facts = sorted({key for reduced in sides.values() for key, name in reduced.items() if name == coarsest})
    return DefaultLimit(
        value=_REDUCED_LIMITS[coarsest],
        source=f"{coarsest} enabled in {' and '.join(where)} environment ({', '.join(facts)})",
    )


def _list_reduced(fingerprint: Fingerprint) -> dict[str, str]:
    """Return the facts by which float32 products are computed in less, with the precision's name.

    Notes
    -----
    Settings of CUDA and cuDNN, of which some are on by default, mean nothing on a machine
    without a GPU. oneDNN's work on the CPU, unless oneDNN is off.
    """
    facts = fingerprint.facts
    reduced: dict[str, str] = {}
    has_gpu, has_onednn = facts.get("gpu.name") is not None, facts.get("torch.mkldnn_enabled") is not False
    for key, value in facts.items():
        if has_gpu and _GPU_SETTING.fullmatch(key) and (value is True or value == "tf32"):
            reduced[key] = "TF32"
        elif has_onednn and _CPU_SETTING.fullmatch(key) and value in _BY_SETTING:
            reduced[key] = _BY_SETTING[str(value)]
    return reduced
