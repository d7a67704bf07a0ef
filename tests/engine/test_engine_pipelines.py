"""Pipelines of a suite: which cases are fed the same, and the digest of what others are fed."""

from __future__ import annotations

import sys
from dataclasses import replace

import pytest

from pytest_modelreg.domain.environment import Fingerprint
from pytest_modelreg.domain.observation import Observation, ObservedSample
from pytest_modelreg.engine.pipelines import (
    digest_inputs,
    digest_variant_inputs,
    is_fed_tensors,
    list_prechecked,
    list_variants_apart,
)
from pytest_modelreg.engine.precheck import list_pipelines
from pytest_modelreg.engine.suite_loading import load_suite
from pytest_modelreg.store import read_samples

VARIANTS = """
variants:
  small: {batch_size: 1}
  own: {golden: own, batch_size: 2}
  grey: {preprocess: "toydata:grey"}
  grey-own: {preprocess: "toydata:grey", golden: own}
  scaled: {model_args: {scale: 2.0}}
  there: {environment: {variables: {X: "1"}}}
  here: {environment: {variables: {X: "1"}, preprocess: here}}
"""


def names(cases):
    """Return the variants of these cases."""
    return [case.variant for case in cases]


@pytest.fixture
def suite(project):
    """A suite with every way to share or not to share a pipeline; its samples are pinned."""
    project.write("modelreg.yaml", (project.path / "modelreg.yaml").read_text() + VARIANTS)
    project.edit(
        "toydata.py", "def prepare", "def grey(sample):\n    return prepare(sample) * 2\n\n\ndef prepare"
    )
    project.pin()
    return load_suite(project.path / "modelreg.yaml", rootdir=project.path)


@pytest.fixture
def observation():
    """Two samples with inputs."""
    return Observation(
        suite="toy",
        variant="reference",
        axes={},
        batch_size=1,
        samples=tuple(ObservedSample(id=name, sha256=name, input_digest=f"i{name}") for name in "ab"),
        outputs={},
        weights_digest=None,
        fingerprint=Fingerprint(facts={}),
    )


def test_what_another_environment_prepares_is_left_out(suite):
    """Its packages make the inputs, which are not here; with `preprocess: here` they are."""
    assert names(list_prechecked(suite.cases)) == [
        "reference",
        "small",
        "own",
        "grey",
        "grey-own",
        "scaled",
        "here",
    ]


def test_variants_apart_are_fed_something_else_and_keep_no_golden(suite):
    """What keeps a golden knows its own inputs."""
    assert names(list_variants_apart(suite.cases)) == ["grey"]
    assert list_variants_apart([case for case in suite.cases if case.variant != "reference"]) == []


def test_every_pipeline_is_looked_at_once(suite):
    """With the variants that are fed the same behind their golden's case."""
    found = list_pipelines(suite.cases, suite.cases)
    assert [(case.variant, sharing) for case, sharing in found] == [
        ("reference", ("small", "scaled", "here")),
        ("own", ()),
        ("grey", ()),
        ("grey-own", ()),
    ]


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (["small"], [("reference", ("small",))]),
        (["grey", "own"], [("own", ()), ("grey", ())]),
        (["scaled", "reference"], [("reference", ("scaled",))]),
        (["there"], []),
        (["here"], [("reference", ("here",))]),
    ],
)
def test_asked_cases_choose_their_pipelines(suite, asked, expected):
    """In the order of the suite, whatever the order of the words."""
    chosen = [case for name in asked for case in suite.cases if case.variant == name]
    found = list_pipelines(suite.cases, chosen)
    assert [(case.variant, sharing) for case, sharing in found] == expected


def test_digest_is_of_ids_bytes_and_inputs_in_order(observation):
    """Anything else leaves it alone: batch size, stages, environment."""
    first, second = observation.samples
    digest = digest_inputs(observation)
    assert digest_inputs(replace(observation, batch_size=7, variant="x", warnings=("w",))) == digest
    for samples in (
        (second, first),
        (first,),
        (replace(first, id="c"), second),
        (replace(first, sha256="c"), second),
        (first, replace(second, input_digest="c")),
        (first, replace(second, input_digest=None)),
    ):
        assert digest_inputs(replace(observation, samples=samples)) != digest


def test_digest_never_changes(observation):
    """It is kept in goldens: another way to compute it would send every such variant to its model."""
    assert digest_inputs(observation) == "49bbe7de20c172198a83d6873fad34b8834cdfd185b6d40170c1d458ecbcb030"


def test_parts_of_a_line_are_told_apart(observation):
    """An id that ends as another's digest begins is another line."""
    one, other = (
        replace(observation, samples=(ObservedSample(id=name, sha256=digest, input_digest="x"),))
        for name, digest in (("ab", "c"), ("a", "bc"))
    )
    assert digest_inputs(one) != digest_inputs(other)


def test_module_is_fed_tensors_also_where_it_refuses_eval(observation):
    """An exported program has no eval(), and weights; a callable has neither."""
    assert not is_fed_tensors(observation)
    assert is_fed_tensors(replace(observation, eval_applied=True))
    assert is_fed_tensors(replace(observation, weights_digest="w"))


def test_variant_inputs_are_those_of_variants_apart(suite, project, tmp_path):
    """One digest each; the same again, another after a change of that preprocess alone."""
    samples = read_samples(suite.samples.place)

    def digest():
        return digest_variant_inputs(suite.cases, samples, to_tensors=False, folder=tmp_path / "work")

    before = digest()
    assert list(before) == ["grey"]
    assert digest() == before
    project.edit("toydata.py", "* 2", "* 3")
    for name in ("toydata", "toymodel"):
        sys.modules.pop(name, None)
    assert digest() != before


def test_variant_that_cannot_be_prepared_is_left_out(suite, project, tmp_path):
    """Its own case says why; recording the reference goes on."""
    project.edit("toydata.py", "return prepare(sample) * 2", "raise ValueError('no')")
    samples = read_samples(suite.samples.place)
    assert digest_variant_inputs(suite.cases, samples, to_tensors=False, folder=tmp_path / "work") == {}
