"""Which ``rel_l2`` limit a measured noise floor supports, and what to say of the present one.

What belongs here: the rule, from numbers to advice. Nothing is written, and nothing is widened.

The rule. B is the largest benign distance, F >= B the noise floor of the output, P the present limit, D the
dtype's default limit, V the distance of a variant whose difference is declared (0 for all other cases).

* P is kept while it leaves room for what was not tried: P >= F, P >= 3 B and P >= 1.25 V. F bounds rounding
  on other machines already, so that no further room is asked above it.
* Otherwise max(10 B, 3 F, 2 V) is proposed, rounded up to 1, 2 or 5 times a power of ten.
* A limit that lets a planted change of 1e-3 pass, although noise would allow one that catches it, gets that
  number proposed, but never less than D, which was measured on more machines than this one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum

from pytest_modelreg.engine.calibration.floor import UNIT_ROUNDOFF, NoiseFloor
from pytest_modelreg.engine.calibration.floor import show_measured as _show

MARGIN_KEPT = 3.0
MARGIN_PROPOSED = 10.0
FLOOR_PROPOSED = 3.0
DECLARED_KEPT = 1.25
DECLARED_PROPOSED = 2.0

PLANTED = 1e-3
"""Size of the planted change, ``rel_l2``: the mildest real drift that was measured on photos."""

_SMALLEST = 1e-300
_STEPS = (1, 2, 5, 10)


class Standing(str, Enum):
    """How a present limit stands to what was measured."""

    KEPT = "kept"
    """Enough room."""
    BELOW = "below the floor"
    """Benign changes exceed it: the case flakes."""
    THIN = "thin"
    """What was measured stays under it, with little room for what was not."""
    DRIFTS = "drifts"
    """A declared difference exceeds it now."""
    WIDE = "wide"
    """It lets the planted change pass, and need not."""
    OFF = "off"
    """There is no limit on distances."""
    UNBOUNDED = "unbounded"
    """No number would do: benign changes alter shape, dtype or finiteness, or integers."""


@dataclass(frozen=True, kw_only=True)
class PresentLimit:
    """The ``rel_l2`` limit of an output as the case has it.

    Parameters
    ----------
    value : float or None
        None where the check is off, or elements have to be equal.
    source : str
        Where it comes from.
    default : float or None
        What the dtype gives.
    is_exact : bool
        Whether elements have to be equal.
    """

    value: float | None
    source: str
    default: float | None
    is_exact: bool = False

    @property
    def is_default(self) -> bool:
        """Whether nobody wrote it."""
        return self.source.startswith("dtype default")


@dataclass(frozen=True, kw_only=True)
class LimitAdvice:
    """What follows for the limit of one output of one case.

    Parameters
    ----------
    proposed : float or None
        Another limit; None where the present one is kept or no number would do.
    text : str
        Why, with the numbers.
    misses_planted : bool
        Whether the planted change passes under the present limits.
    note : str
        What to say of the planted change; empty where it is caught.
    """

    output: str
    present: PresentLimit
    floor: NoiseFloor
    distance: float | None
    standing: Standing
    proposed: float | None
    text: str
    misses_planted: bool = False
    note: str = ""

    @property
    def is_wider(self) -> bool:
        """Whether the proposal would let more pass than the present limit."""
        proposed, present = self.proposed, self.present.value
        return proposed is not None and present is not None and proposed > present

    @property
    def asks(self) -> bool:
        """Whether somebody has to look at it."""
        return self.standing not in (Standing.KEPT, Standing.OFF) or (
            self.misses_planted and not is_hidden(self.distance)
        )


def advise(
    output: str, present: PresentLimit, floor: NoiseFloor, *, distance: float | None, misses_planted: bool
) -> LimitAdvice:
    """Return what follows from the numbers for one limit.

    Parameters
    ----------
    distance : float or None
        Of a variant whose difference is declared; None for all other cases.
    misses_planted : bool
        Whether judging let the planted change pass on this output.
    """
    standing, proposed, text = _decide(present, floor, distance, misses_planted=misses_planted)
    return LimitAdvice(
        output=output,
        present=present,
        floor=floor,
        distance=distance,
        standing=standing,
        proposed=proposed,
        text=text,
        misses_planted=misses_planted,
        note=_describe_planted(floor, distance, proposed, present, misses_planted=misses_planted),
    )


def is_hidden(distance: float | None) -> bool:
    """Whether a declared difference is so large that no limit above it sees the planted change."""
    return DECLARED_KEPT * (distance or 0.0) >= PLANTED


def is_coarser_than_planted(dtype: str) -> bool:
    """Whether rounding one number of this dtype moves as much as the planted change."""
    return MARGIN_KEPT * UNIT_ROUNDOFF.get(dtype, math.inf) >= PLANTED


def round_limit(value: float) -> float:
    """Return the smallest of 1, 2 and 5 times a power of ten that is not below ``value``."""
    exponent = math.floor(math.log10(value))
    for step in _STEPS:
        candidate = float(f"{step}e{exponent}")
        if candidate >= value * (1.0 - 1e-9):
            return candidate
    return float(f"1e{exponent + 1}")


def _decide(
    present: PresentLimit, floor: NoiseFloor, distance: float | None, *, misses_planted: bool
) -> tuple[Standing, float | None, str]:
    declared, limit = distance or 0.0, present.value
    if math.isinf(floor.value) or math.isinf(declared):
        return Standing.UNBOUNDED, None, "a benign change alters shape, dtype or finiteness"
    if limit is None:
        return _decide_without_limit(present, floor, declared)
    wanted = _propose(floor, declared)
    name = f"{'default' if present.is_default else 'limit'} {limit:g}"
    of_floor, of_distance = (f"the floor {_show(floor.value)}", f"the distance {_show(declared)}")
    if limit < declared:
        return Standing.DRIFTS, wanted, f"{name} is under {of_distance}: the case drifts"
    if limit < floor.benign:
        return Standing.BELOW, wanted, f"{name} is under {of_floor}: would flake"
    if limit < floor.value:
        return Standing.BELOW, wanted, f"{name} is under {of_floor}: may flake elsewhere"
    if limit < DECLARED_KEPT * declared:
        return Standing.THIN, wanted, f"{name} is {_times(limit, declared)} {of_distance}"
    if limit < MARGIN_KEPT * floor.benign:
        ratio = _times(limit, floor.benign)
        return Standing.THIN, wanted, f"{name} is {ratio} the {_show(floor.benign)} of {floor.benign_name}"
    narrow = max(wanted, present.default or 0.0)
    if misses_planted and narrow < min(limit, PLANTED):
        return Standing.WIDE, narrow, f"{name} lets {PLANTED:g} pass, {of_floor.removeprefix('the ')}"
    if declared > floor.value:
        return Standing.KEPT, None, f"{name} is {_times(limit, declared)} {of_distance}"
    return Standing.KEPT, None, f"{name} is {_times(limit, floor.value)} {of_floor}"


def _propose(floor: NoiseFloor, declared: float) -> float:
    """Return the limit that the numbers support, whatever the present one is."""
    noise = max(MARGIN_PROPOSED * floor.benign, FLOOR_PROPOSED * floor.value)
    return round_limit(max(noise, DECLARED_PROPOSED * declared, _SMALLEST))


def _decide_without_limit(
    present: PresentLimit, floor: NoiseFloor, declared: float
) -> tuple[Standing, float | None, str]:
    if present.is_exact:
        if declared > 0.0:
            return Standing.DRIFTS, None, "has to be equal, and is not: the case drifts"
        if floor.benign > 0.0:
            return (
                Standing.UNBOUNDED,
                None,
                f"has to be equal, and {floor.benign_name} changes it",
            )
        return Standing.KEPT, None, "every benign change leaves it equal"
    fitting = max(_propose(floor, declared), present.default or 0.0)
    return Standing.OFF, None, f"rel_l2 is off; {fitting:g} would fit"


def _describe_planted(
    floor: NoiseFloor,
    distance: float | None,
    proposed: float | None,
    present: PresentLimit,
    *,
    misses_planted: bool,
) -> str:
    """Return what to say where the planted change passes, or passes under the proposal."""
    under = "the present limits" if misses_planted else ""
    if proposed is not None and proposed >= PLANTED:
        under = "the proposed limit" if not under else "the present and the proposed limit"
    if not under:
        return ""
    decisions = " unless a decision flips" if present.value is None else ""
    text = f"a mild numeric change ({PLANTED:g}) passes under {under}{decisions}"
    if is_hidden(distance):
        return f"{text}; no limit above the declared difference of {_show(distance or 0.0)} can see it"
    if MARGIN_KEPT * floor.value >= PLANTED:
        return f"{text}; no limit above noise of {_show(floor.value)} can see it"
    return text


def _times(limit: float, floor: float) -> str:
    return f"{limit / floor:.2g}x" if floor and limit / floor < 100 else "over 100x"
