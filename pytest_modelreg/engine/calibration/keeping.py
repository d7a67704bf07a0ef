"""Keeping a measured noise floor with its golden: whether it may be, and what is kept.

What belongs here: the decision. Writing is ``acceptance``'s, asking is ``cli``'s.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone

from pytest_modelreg.domain.golden import Calibration, Golden
from pytest_modelreg.domain.verdict import Verdict
from pytest_modelreg.engine.acceptance import keep_noise_floor
from pytest_modelreg.engine.calibration.calibration import GoldenCalibration
from pytest_modelreg.engine.calibration.floor import UNIT_ROUNDOFF, round_up, show_measured
from pytest_modelreg.engine.calibration.limit_rule import LimitAdvice
from pytest_modelreg.engine.calibration.perturbation import Role
from pytest_modelreg.engine.outcome import Place


@dataclass(frozen=True, kw_only=True)
class FloorKeeping:
    """What would be kept with one golden.

    Parameters
    ----------
    measured_on : str
        sha256 of the ``golden.json`` that the measured run was held against.
    floors : mapping of str to float
        By output path, rounded up to two digits; empty where nothing can be kept.
    refusal : str
        Why nothing can be kept; empty where something can, or nothing is new.
    notes : tuple of str
        Outputs whose floor is not kept, and why.
    is_new : bool
        Whether the golden has other floors, or none.
    """

    calibration: GoldenCalibration
    place: Place
    measured_on: str = ""
    floors: Mapping[str, float] = field(default_factory=dict)
    refusal: str = ""
    notes: tuple[str, ...] = ()
    is_new: bool = False

    def keep(self, *, ci: str | None) -> None:
        """Write the floors and where they come from into the golden.

        Parameters
        ----------
        ci : str or None
            The CI variable that was overridden.

        Raises
        ------
        GoldenError
            When the golden is another one by now, or cannot be written.
        """
        keep_noise_floor(self.place, self.floors, self._describe(ci), measured_on=self.measured_on)

    def _describe(self, ci: str | None) -> Calibration:
        measured = self.calibration
        return Calibration(
            date=datetime.now(timezone.utc).isoformat(timespec="seconds").replace("+00:00", "Z"),
            perturbations=tuple(
                noise.perturbation.name
                for noise in measured.noises
                if not noise.fault and noise.perturbation.role is not Role.DECLARED
            ),
            n_samples=len(measured.observation.samples),
            environment=measured.observation.fingerprint.digest,
            ci=ci,
        )


def plan_keeping(
    calibration: GoldenCalibration, golden: Golden | None, place: Place, *, measured_on: str | None
) -> FloorKeeping:
    """Return what would be kept with a golden, and what stands against it.

    Parameters
    ----------
    golden : Golden or None
        The one that the measured run was held against.
    measured_on : str or None
        sha256 of its ``golden.json``.

    Notes
    -----
    A floor is a property of the golden's outputs, so the run that it was measured on has to match the
    golden. It decides which flips are near ties, so one beyond the output's own limit is not kept: noise
    that the case itself does not accept must not excuse a decision.
    """

    def refuse(text: str) -> FloorKeeping:
        return FloorKeeping(calibration=calibration, place=place, refusal=text)

    if place.is_fallback:
        return refuse(f"{place.shown} holds no golden of this environment; record one first")
    if golden is None or measured_on is None:
        return refuse(f"there is no golden at {place.shown} to keep the noise floor with; record one first")
    if calibration.now is None or calibration.now.verdict is not Verdict.MATCH:
        verdict = "missing" if calibration.now is None else calibration.now.verdict.value
        return refuse(
            f"the case does not match its golden ({verdict}), so the noise floor is not the golden's; "
            "decide the difference first"
        )
    floors, notes = {}, []
    for advice in calibration.cases[0].advices:
        excess = _find_excess(advice, calibration.observation.outputs[advice.output].dtype)
        if excess is None:
            floors[advice.output] = round_up(advice.floor.value)
        elif excess:
            notes.append(f"{advice.output}: {excess}")
    if not floors:
        return refuse("; ".join(notes) or "no output holds floating numbers")
    return FloorKeeping(
        calibration=calibration,
        place=place,
        measured_on=measured_on,
        floors=floors,
        notes=tuple(notes),
        is_new=floors != dict(golden.noise_floor),
    )


def _find_excess(advice: LimitAdvice, dtype: str) -> str | None:
    """Return why the floor of an output is not kept, empty where it is none, None where it is kept."""
    if dtype not in UNIT_ROUNDOFF:
        return ""
    present = advice.present
    limits = [limit for limit in (present.value, present.default) if limit is not None]
    allowed = present.value if present.value is not None else max(limits, default=0.0)
    if advice.floor.value <= allowed:
        return None
    noise = show_measured(advice.floor.value)
    return f"its noise of {noise} is beyond the limit {allowed:g} and would excuse flipped decisions"
