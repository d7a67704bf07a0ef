"""A calibration in words for a terminal: what moved, the floor, and what follows for every limit.

What belongs here: tables and sentences. What the numbers mean is ``engine.calibration``'s.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_modelreg.domain.listing import name_some
from pytest_modelreg.engine.calibration import (
    PLANTED,
    CaseCalibration,
    GoldenCalibration,
    LimitAdvice,
    PerturbationNoise,
    Role,
    Standing,
    describe_dependence,
    is_coarser_than_planted,
    is_hidden,
    render_number,
    show_measured,
)
from pytest_modelreg.report.table import printable, render_table

_N_NAMED = 2
_REMARKABLE = (Standing.BELOW, Standing.DRIFTS, Standing.THIN, Standing.UNBOUNDED)
_ROLES = {Role.BENIGN: "", Role.TWIN: "rounding", Role.DECLARED: "declared difference"}


def render_calibration(calibration: GoldenCalibration) -> str:
    """Return everything that was measured for one golden."""
    n_samples = len(calibration.observation.samples)
    lines = [f"{calibration.case.id}: {n_samples} sample{'' if n_samples == 1 else 's'}"]
    if calibration.now is not None:
        lines.append(f"  against its golden: {calibration.now.verdict.value}: {calibration.now.message}")
    for path, record in calibration.observation.outputs.items():
        floor = calibration.floors[path]
        lines += ["", f"  {path} ({record.dtype}), distance from this run's {calibration.case.variant}:"]
        lines += _render_noises(path, calibration.noises)
        lines.append(f"    noise floor {show_measured(floor.value)}: {floor.source}")
    lines += _render_remarks(calibration)
    lines += ["", "  limits:", *_render_limits(calibration.cases)]
    lines += [f"  {line}" for line in [*_render_planted(calibration), *_gather_warnings(calibration.cases)]]
    return "\n".join(printable(line) for line in lines)


def _render_noises(path: str, noises: Sequence[PerturbationNoise]) -> list[str]:
    rows = []
    for noise in noises:
        if noise.fault:
            continue
        measured = noise.outputs.get(path)
        role = _ROLES[noise.perturbation.role]
        if measured is None:
            own = [str(finding) for finding in noise.findings if finding.output == path]
            rows.append([noise.perturbation.name, "-", "", "", "", "", own[0] if own else "not compared"])
            continue
        is_equal = measured.largest == 0.0
        rows.append(
            [
                noise.perturbation.name,
                "bit-identical" if is_equal else show_measured(measured.largest),
                "" if is_equal else show_measured(measured.median),
                measured.worst_sample,
                "" if measured.n_flips is None else str(measured.n_flips),
                str(noise.n_near_ties) if measured.n_flips is not None else "",
                role,
            ]
        )
    header = ["perturbation", "largest rel_l2", "median", "sample", "top-1 flips", "near ties", ""]
    return render_table(header, rows, indent=4)


def _render_remarks(calibration: GoldenCalibration) -> list[str]:
    failed = [noise for noise in calibration.noises if noise.fault]
    lines = [f"  not measured: {noise.perturbation.name}: {noise.fault}" for noise in failed]
    lines += [f"  not measured: {text}" for text in calibration.left_out]
    lines += [
        f"  {noise.perturbation.name}: {finding}"
        for noise in calibration.noises
        for finding in noise.findings
    ]
    for path, record in calibration.observation.outputs.items():
        dependence = describe_dependence(path, calibration.floors[path], calibration.noises)
        lines += [] if dependence is None else [f"  {path}: {dependence}"]
        if record.dtype.startswith(("float", "bfloat")) and is_coarser_than_planted(record.dtype):
            lines.append(f"  {path}: {record.dtype} rounds by as much as {PLANTED:g}: no change was planted")
    return ["", *lines] if lines else []


def _render_limits(cases: Sequence[CaseCalibration]) -> list[str]:
    rows = []
    for case in cases:
        for advice in case.advices:
            present = advice.present
            value = "exact" if present.is_exact else "off"
            rows.append(
                [
                    case.case.variant,
                    advice.output,
                    value if present.value is None else f"{present.value:g}",
                    show_measured(advice.floor.value),
                    "" if advice.distance is None else show_measured(advice.distance),
                    "keep" if advice.proposed is None else render_number(advice.proposed),
                    advice.text,
                ]
            )
    header = ["case", "output", "rel_l2 limit", "floor", "distance", "proposed", "because"]
    return render_table(header, rows, indent=4)


def _render_planted(calibration: GoldenCalibration) -> list[str]:
    """Return in which cases the planted change was caught; nothing where no output can hold one."""
    records = calibration.observation.outputs.values()
    if all(is_coarser_than_planted(record.dtype) for record in records):
        return []
    passing = [case for case in calibration.cases if any(advice.misses_planted for advice in case.advices)]
    caught = [case for case in calibration.cases if case not in passing]
    clauses = [
        f"{what} in {name_some([case.case.variant for case in cases], _N_NAMED)}"
        for what, cases in (("caught", caught), ("passes", passing))
        if cases
    ]
    return [f"planted change of {PLANTED:g}: {'; '.join(clauses)}"]


def _gather_warnings(cases: Sequence[CaseCalibration]) -> list[str]:
    """Return what to say beside the table, once for all cases that it holds for."""
    found: dict[tuple[str, str], list[str]] = {}
    for case in cases:
        for level, text in [*_list_warnings(case.advices), *_list_failing(case)]:
            found.setdefault((level, text), []).append(case.case.id)
    return [f"{level}: {name_some(names, _N_NAMED)}: {text}" for (level, text), names in found.items()]


def _list_failing(case: CaseCalibration) -> Iterator[tuple[str, str]]:
    for perturbation, check in case.failing:
        sign = ">" if check.direction == "max" else "<"
        yield (
            "warning",
            f"{check.output}: {check.name} {check.value:.3g} {sign} {check.limit:g} under {perturbation}: "
            "the case flakes",
        )


def _list_warnings(advices: Sequence[LimitAdvice]) -> Iterator[tuple[str, str]]:
    for advice in advices:
        if advice.standing in _REMARKABLE:
            text = f"{advice.output}: {advice.text}"
            text += ": little room" if advice.standing is Standing.THIN else ""
            if advice.standing is Standing.BELOW and advice.floor.benign_name:
                text += f" (largest: {advice.floor.benign_name}, {show_measured(advice.floor.benign)})"
            if advice.is_wider:
                proposed = render_number(advice.proposed or 0.0)
                text += (
                    f"; {proposed} is proposed, wider than the present limit: whether that much may change "
                    "unseen is your decision"
                )
            yield "warning", text
        if advice.note:
            yield "note" if is_hidden(advice.distance) else "warning", f"{advice.output}: {advice.note}"
