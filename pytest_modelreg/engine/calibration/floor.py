"""The noise floor of an output: the largest distance that benign changes and rounding explain.

What belongs here: how measured distances become one number. Which limits it supports is ``limit_rule``'s.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from pytest_modelreg.engine.calibration.noise import PerturbationNoise
from pytest_modelreg.engine.calibration.perturbation import AGAIN, BATCH, Role

UNIT_ROUNDOFF = {
    "float64": 2.0**-53,
    "complex128": 2.0**-53,
    "float32": 2.0**-24,
    "complex64": 2.0**-24,
    "float16": 2.0**-11,
    "bfloat16": 2.0**-8,
    "float8_e4m3fn": 2.0**-4,
    "float8_e4m3fnuz": 2.0**-4,
    "float8_e5m2": 2.0**-3,
    "float8_e5m2fnuz": 2.0**-3,
}
"""2**-(mantissa bits + 1): the largest relative error of rounding one number (IEEE 754, Higham 2002, 2.2)."""

TWIN_FACTOR = 2.0
"""Two runs that are each as far from the exact value as the twin says are at most twice that apart."""

_COUPLED, _LEAST_COUPLED = 10.0, 1e-5
"""Batch sizes pick other kernels, which round otherwise: only what is far beyond that is a dependence."""

_DIGITS = 2


@dataclass(frozen=True, kw_only=True)
class NoiseFloor:
    """What counts as noise on one output.

    Parameters
    ----------
    value : float
        ``rel_l2``, dimensionless; infinite where a benign change alters the structure or finiteness.
    benign : float
        Largest distance of a benign perturbation.
    benign_name : str
        Which one; empty where all are bit-identical.
    twin : float or None
        Distance of the float64 twin; None where there is none.
    source : str
        Where ``value`` comes from, for people.

    Notes
    -----
    value = max(benign, 2 * (twin - again), u), u the unit roundoff of the output's dtype. The twin is no run
    that anybody ships, so its distance is not noise itself; what two equal runs differ by is not rounding. It
    estimates how far this run is from exact arithmetic; another machine's run, which cannot be tried here, is
    as far from it in a direction of its own, and the triangle inequality bounds the distance of the two.
    """

    value: float
    benign: float
    benign_name: str
    twin: float | None
    source: str


def find_floor(path: str, dtype: str, noises: Sequence[PerturbationNoise]) -> NoiseFloor:
    """Return the noise floor of an output.

    Parameters
    ----------
    noises : sequence of PerturbationNoise
        Of the case's own perturbations and of the benign variants that are judged against its golden.
    """
    found = [(noise.outputs[path].largest, noise.perturbation) for noise in noises if path in noise.outputs]
    found += [
        (math.inf, noise.perturbation)
        for noise in noises
        if noise.is_noise and any(finding.output == path for finding in noise.findings)
    ]
    benign, name = max(
        ((value, each.name) for value, each in found if each.role is Role.BENIGN and value > 0.0),
        default=(0.0, ""),
        key=lambda pair: pair[0],
    )
    roundoff = UNIT_ROUNDOFF.get(dtype, 0.0)
    # Integers are not rounded: what the twin counts otherwise, it decided otherwise.
    twin = next((value for value, each in found if each.role is Role.TWIN and roundoff), None)
    again = max((value for value, each in found if each.name == AGAIN), default=0.0)
    rounding = max(0.0, (twin or 0.0) - again)
    candidates = [
        (benign, name or "every benign change is bit-identical"),
        (TWIN_FACTOR * rounding, f"twice the float64 twin's {show_measured(rounding)}"),
        (roundoff, f"the unit roundoff of {dtype}"),
    ]
    value, source = max(candidates, key=lambda pair: pair[0])
    return NoiseFloor(value=value, benign=benign, benign_name=name, twin=twin, source=source)


def describe_dependence(path: str, floor: NoiseFloor, noises: Sequence[PerturbationNoise]) -> str | None:
    """Return that an output depends on what it should not, where that moves it more than all else.

    Parameters
    ----------
    floor : NoiseFloor
        Of the output.
    """
    moved = {
        noise.perturbation.name: noise.outputs[path].largest
        for noise in noises
        if noise.is_noise and not noise.perturbation.is_variant and path in noise.outputs
    }
    if moved.get(AGAIN, 0.0) > 0.0:
        return f"two runs in one process differ by {show_measured(moved[AGAIN])}: it is not deterministic"
    batches = {name: value for name, value in moved.items() if name.startswith(BATCH)}
    others = max((value for name, value in moved.items() if name not in batches), default=0.0)
    rounding = max(others, TWIN_FACTOR * (floor.twin or 0.0))
    largest = max(batches, key=lambda name: batches[name], default="")
    if largest and batches[largest] > max(_COUPLED * rounding, _LEAST_COUPLED):
        return (
            f"it depends on which samples share a batch: {largest} moves it by "
            f"{show_measured(batches[largest])}, rounding and threads by {show_measured(rounding)}"
        )
    return None


def show_measured(value: float) -> str:
    """Return a measured distance as tables and sentences show it."""
    return "0" if value == 0.0 else f"{value:.1e}"


def round_up(value: float, digits: int = _DIGITS) -> float:
    """Return a positive number with few digits that is not below ``value``."""
    if value <= 0.0 or not math.isfinite(value):
        return value
    exponent = math.floor(math.log10(value)) - digits + 1
    mantissa = math.ceil(value / 10.0**exponent - 1e-9)
    rounded = float(f"{mantissa}e{exponent}")
    return rounded if rounded >= value else float(f"{mantissa + 1}e{exponent}")
