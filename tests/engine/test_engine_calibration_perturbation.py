"""Which variants count as noise, and what of a case is not measured."""

from __future__ import annotations

import pytest

from pytest_modelreg.domain.case import CaseSpec, RuntimeSpec
from pytest_modelreg.domain.observation import Fingerprint, Observation, ObservedSample
from pytest_modelreg.domain.sample import SampleSet
from pytest_modelreg.engine.calibration.perturbation import is_benign, list_perturbations
from pytest_modelreg.engine.suite import CasePlan


def plan(runtime: RuntimeSpec, **fields: object) -> CasePlan:
    """Return a case that runs so."""
    spec = CaseSpec(
        suite="toy",
        root="",
        python_path=(),
        samples=SampleSet(folder="", samples=()),
        loader="json",
        model="m:f",
        runtime=runtime,
        axes={"runtime": runtime.kind},
    )
    return CasePlan(template=spec, **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("runtime", "expected"),
    [
        (RuntimeSpec(kind="torchscript"), True),
        (RuntimeSpec(kind="torchscript", options={"mode": "script"}), True),
        (RuntimeSpec(kind="torchscript", options={"path": "model.pt"}), False),
        (RuntimeSpec(kind="onnx-file", options={"path": "model.onnx"}), False),
        (RuntimeSpec(kind="onnx"), True),
    ],
)
def test_a_model_of_its_own_is_no_noise(runtime, expected):
    """A file may hold another model: its distance would widen what is called noise."""
    assert is_benign(plan(runtime, keeps_golden=False)) == expected


def test_a_callable_has_no_twin_in_float64():
    """There is no framework that would cast it, and it is said so."""
    observed = Observation(
        suite="toy",
        variant="reference",
        axes={},
        batch_size=4,
        samples=(ObservedSample(id="a", sha256="0" * 64, input_digest="0" * 64),),
        outputs={},
        weights_digest=None,
        fingerprint=Fingerprint(facts={}),
    )
    found = list_perturbations(plan(RuntimeSpec(kind="callable")), observed, ())
    assert "float64 twin: runtime callable has no framework that would compute in float64" in found.left_out
