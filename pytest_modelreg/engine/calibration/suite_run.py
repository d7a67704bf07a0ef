"""Calibrating a suite: which goldens its chosen cases are about, and each of them measured.

What belongs here: the way from a suite's files to the measuring of one golden, and back to what may be kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from pytest_modelreg.domain.environment import FactValue
from pytest_modelreg.domain.sample import SampleSet
from pytest_modelreg.engine.calibration.calibration import GoldenCalibration, calibrate
from pytest_modelreg.engine.calibration.keeping import FloorKeeping, plan_keeping
from pytest_modelreg.engine.observer import CaseProgress
from pytest_modelreg.engine.outcome import place_of
from pytest_modelreg.engine.suite import CasePlan, Suite
from pytest_modelreg.store import golden_sha256, read_golden, verify_files


def list_goldens(suite: Suite, chosen: Sequence[CasePlan]) -> Iterator[tuple[CasePlan, list[CasePlan]]]:
    """Yield the cases whose goldens the chosen ones are judged against, each with those of them."""
    wanted = {case.golden_variant for case in chosen}
    for case in suite.cases:
        if case.keeps_golden and case.variant in wanted:
            judged = [each for each in chosen if not each.keeps_golden]
            yield case, [each for each in judged if each.golden_variant == case.variant]


def spread_samples(samples: SampleSet, n_wanted: int | None) -> SampleSet:
    """Return at most this many samples, evenly spread over the set; None for all.

    A folder is often sorted by kind, so that its first samples are of one kind.
    """
    n_samples = len(samples)
    if n_wanted is None or n_samples <= n_wanted:
        return samples
    indices = [index * n_samples // n_wanted for index in range(n_wanted)]
    return replace(samples, samples=tuple(samples.samples[index] for index in indices))


def measure_golden(
    suite: Suite,
    case: CasePlan,
    variants: Sequence[CasePlan],
    *,
    samples: SampleSet,
    whole: SampleSet,
    facts: Mapping[str, FactValue],
    progress: CaseProgress | None = None,
) -> tuple[GoldenCalibration, FloorKeeping]:
    """Measure one golden's case and the cases judged against it, and say what may be kept with the golden.

    Raises
    ------
    GoldenError
        When the golden cannot be trusted.
    ModelRegError
        As :func:`~pytest_modelreg.engine.calibration.calibration.calibrate`.
    """
    place = place_of(suite, case)
    measured_on = golden_sha256(place.golden)
    golden = read_golden(place.found, golden_root=place.golden_root)
    if golden is not None:
        verify_files(place.found, golden)
    calibration = calibrate(
        case,
        variants,
        samples=samples,
        whole=whole,
        golden=golden,
        golden_folder=place.found,
        facts=facts,
        progress=progress,
    )
    return calibration, plan_keeping(calibration, golden, place, measured_on=measured_on)
