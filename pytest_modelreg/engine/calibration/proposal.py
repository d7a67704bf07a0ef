"""Proposed limits and where in the suite file each belongs.

What belongs here: from advice to numbers at key paths. As text they are ``suite_patch``'s.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pytest_modelreg.domain.case import REFERENCE
from pytest_modelreg.domain.output_path import find_key
from pytest_modelreg.engine.calibration.calibration import GoldenCalibration
from pytest_modelreg.engine.calibration.case_advice import GATE, CaseCalibration
from pytest_modelreg.engine.calibration.floor import show_measured
from pytest_modelreg.engine.calibration.limit_rule import DECLARED_KEPT, LimitAdvice
from pytest_modelreg.engine.calibration.perturbation import is_benign
from pytest_modelreg.engine.calibration.suite_edit import has_key, list_keys
from pytest_modelreg.engine.suite import CasePlan

Place = tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class ProposedLimit:
    """One number for the suite file.

    Parameters
    ----------
    place : tuple of str
        Key path in the suite file.
    targets : tuple of (str, str)
        Case ids with output paths that it is meant for.
    comment : str
        The numbers behind it.
    is_narrower : bool
        Whether less passes than now.
    """

    place: Place
    value: float
    is_narrower: bool
    targets: tuple[tuple[str, str], ...]
    comment: str


@dataclass(frozen=True, kw_only=True)
class SuiteLine:
    """One value for the suite file, as text, and the comment above it."""

    place: Place
    value: str
    comment: str


def list_lines(text: str, proposals: Sequence[ProposedLimit]) -> list[SuiteLine]:
    """Return what to write for the proposals.

    A variant can limit an output that the suite declares: one that it does not is declared as what it is
    without a word, where others are.
    """
    declared = list_keys(text, ("outputs",))
    lines: dict[Place, SuiteLine] = {}
    for proposal in proposals:
        prefix, _, narrow = _split(proposal.place)
        key = narrow[0] if narrow else ""
        if (
            prefix
            and key
            and declared
            and find_key(key, dict.fromkeys(declared)) is None
            and key not in declared
        ):
            place = ("outputs", key, "per")
            lines[place] = SuiteLine(
                place=place, value="sample", comment="declared to be limited in a variant"
            )
        value = render_number(proposal.value)
        lines[proposal.place] = SuiteLine(place=proposal.place, value=value, comment=proposal.comment)
    return list(lines.values())


def _split(place: Place) -> tuple[Place, str, Place]:
    """Return what stands before ``outputs`` in a place, the word, and what stands behind it."""
    if "outputs" not in place:
        return place, "", ()
    at = place.index("outputs")
    return place[:at], place[at], place[at + 1 :]


def list_proposals(text: str, calibrations: Sequence[GoldenCalibration]) -> list[ProposedLimit]:
    """Return the proposals by place in the file, in the order of cases; of two for one place the wider.

    A narrower limit is left out where another case has it in the same place and needs it as it is.
    """
    found: dict[Place, ProposedLimit] = {}
    needed: set[Place] = set()
    for calibration in calibrations:
        own = {advice.output: advice for advice in calibration.cases[0].advices}
        for case in calibration.cases:
            for advice in case.advices:
                inherited = own.get(advice.output)
                is_heir = inherited is not None and advice.present.source == inherited.present.source
                if is_benign(case.case) and is_heir:
                    continue  # it has the golden's own limit, and will have the new one
                proposal = _propose(text, case, advice, inherited if is_heir else None)
                if proposal is None:
                    needed.add(_find_place(text, case, advice.output))
                    continue
                known = found.get(proposal.place)
                if known is not None:
                    wider = max(known, proposal, key=lambda each: each.value)
                    proposal = replace(wider, targets=(*known.targets, *proposal.targets))
                found[proposal.place] = proposal
    return [each for each in found.values() if each.place not in needed or not each.is_narrower]


def _propose(
    text: str, case: CaseCalibration, advice: LimitAdvice, inherited: LimitAdvice | None
) -> ProposedLimit | None:
    """Return what to propose for one limit; None where it stays as it is.

    Parameters
    ----------
    inherited : LimitAdvice or None
        For the limit of the golden's own case, where this case has no other.
    """
    present, floor, value = advice.present, advice.floor, advice.proposed
    word = "wider than" if advice.is_wider else "narrower than"
    if value is None:
        narrower = None if inherited is None or inherited.is_wider else inherited.proposed
        if narrower is None or present.value is None or narrower >= DECLARED_KEPT * (advice.distance or 0.0):
            return None
        value, word = present.value, "needed here as before:"
    was = "none" if present.value is None else f"{render_number(present.value)} ({present.source})"
    measured = f"floor {show_measured(floor.value)} ({floor.source})"
    if floor.benign_name and floor.benign < floor.value:
        measured = f"{floor.benign_name} {show_measured(floor.benign)}, {measured}"
    if advice.distance:
        measured = f"distance {show_measured(advice.distance)}, {measured}"
    place = _find_place(text, case, advice.output)
    shared = ", for all combinations" if place[0] == "matrix" else ""
    return ProposedLimit(
        place=place,
        value=value,
        is_narrower=present.value is not None and value < present.value,
        targets=((case.case.id, advice.output),),
        comment=f"calibrated: {measured}; {word} {was}{shared}",
    )


def _find_place(text: str, case: CaseCalibration, output: str) -> Place:
    """Return where the limit of an output of a case belongs: where it is written, else the narrowest."""
    prefix = find_prefix(text, case.case)
    key = find_key(output, case.case.outputs) or output
    narrow = (*prefix, "outputs", key, "checks", GATE)
    wide = (*prefix, "checks", GATE)
    is_alone = sum(not advice.present.is_exact for advice in case.advices) == 1
    return wide if is_alone and has_key(text, wide) and not has_key(text, narrow) else narrow


def find_prefix(text: str, case: CasePlan) -> Place:
    """Return where in a suite file the limits of a case are: the top, its variant, or the matrix."""
    if case.variant == REFERENCE:
        return ()
    variants = list_keys(text, ("variants",))
    if case.variant in variants:
        return "variants", case.variant
    # The files of a checkpoint pattern are named after the variant and the file.
    spread = [name for name in variants if case.variant.startswith(f"{name}-")]
    return ("variants", max(spread, key=len)) if spread else ("matrix",)


def render_number(value: float) -> str:
    """Return a limit as people write it: ``5e-5``, ``0.02``."""
    if value >= 1e-2:
        return f"{value:g}"
    mantissa, exponent = f"{value:e}".split("e")
    return f"{float(mantissa):g}e{int(exponent)}"
