"""Calibrating: how far benign changes move a suite's outputs, and which limits that supports.

Modules, in the order of the work: ``perturbation`` (what is changed), ``passes`` (running it), ``noise``
(how far it moved the outputs), ``planted_change`` (does a limit see a mild change), ``floor`` and
``limit_rule`` (the numbers that follow), ``case_advice`` (for one case), ``calibration`` (for one golden),
``suite_run`` (for a suite's goldens), ``proposal``, ``suite_edit`` and ``suite_patch`` (proposed limits as
text for the suite file), ``keeping`` (the floor into the golden, when the user says so).

To add a perturbation, add it to ``perturbation``. Nothing here widens a limit: it is proposed.
"""

from pytest_modelreg.engine.calibration.calibration import GoldenCalibration
from pytest_modelreg.engine.calibration.case_advice import CaseCalibration
from pytest_modelreg.engine.calibration.floor import describe_dependence, show_measured
from pytest_modelreg.engine.calibration.keeping import FloorKeeping
from pytest_modelreg.engine.calibration.limit_rule import (
    PLANTED,
    LimitAdvice,
    Standing,
    is_coarser_than_planted,
    is_hidden,
)
from pytest_modelreg.engine.calibration.noise import OutputNoise, PerturbationNoise
from pytest_modelreg.engine.calibration.perturbation import Role
from pytest_modelreg.engine.calibration.proposal import render_number
from pytest_modelreg.engine.calibration.suite_patch import SuitePatch, write_suite_patch
from pytest_modelreg.engine.calibration.suite_run import list_goldens, measure_golden, spread_samples

__all__ = [
    "CaseCalibration",
    "FloorKeeping",
    "GoldenCalibration",
    "LimitAdvice",
    "OutputNoise",
    "PLANTED",
    "PerturbationNoise",
    "Role",
    "Standing",
    "SuitePatch",
    "describe_dependence",
    "is_coarser_than_planted",
    "is_hidden",
    "list_goldens",
    "measure_golden",
    "render_number",
    "show_measured",
    "spread_samples",
    "write_suite_patch",
]
