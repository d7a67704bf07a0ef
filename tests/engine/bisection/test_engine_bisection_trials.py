"""From a candidate to a case in its environment."""

from __future__ import annotations

from pytest_modelreg.domain.case import CaseSpec, EnvironmentSpec
from pytest_modelreg.domain.sample import SampleSet
from pytest_modelreg.engine.bisection import place_in_revision, place_in_version
from pytest_modelreg.engine.suite import CasePlan


def make_case(environment: EnvironmentSpec | None = None) -> CasePlan:
    """Return a case without samples."""
    spec = CaseSpec(
        suite="s",
        root="/suite",
        python_path=("/suite",),
        samples=SampleSet(folder="/suite/samples", samples=()),
        loader="image",
        model="m:build",
        environment=environment,
    )
    return CasePlan(template=spec)


def test_a_revision_keeps_what_the_case_has_of_an_environment():
    """Variables and packages of the case stay: only the code is the commit's."""
    case = make_case(EnvironmentSpec(variables={"A": "1"}, revision="main"))
    placed = place_in_revision(case, "abc")
    assert placed.template.environment == EnvironmentSpec(variables={"A": "1"}, revision="abc")
    assert place_in_revision(make_case(), "abc").template.environment == EnvironmentSpec(revision="abc")


def test_a_version_replaces_the_package_by_its_normal_name():
    """``Torch`` of the case is the ``torch`` that is searched; what the command names wins over the case."""
    case = make_case(EnvironmentSpec(requirements=("Torch>=2", "numpy==1.26", "my.pkg")))
    placed = place_in_version(case, "torch", "2.13.0", others=["numpy==2.0", "Pillow"])
    assert placed.template.environment is not None
    assert placed.template.environment.requirements == ("torch==2.13.0", "numpy==2.0", "my.pkg", "Pillow")
