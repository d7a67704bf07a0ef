"""Jobs and their answers, as files between two processes."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest

from pytest_modelreg.domain.array_file import ArrayFile
from pytest_modelreg.domain.case import CaseSpec, CheckpointRef, EnvironmentSpec, OutputSpec, RuntimeSpec
from pytest_modelreg.domain.errors import (
    CaseSkipped,
    EnvironmentUnavailable,
    ModelRegError,
    PreprocessError,
)
from pytest_modelreg.domain.sample import Sample, SampleSet
from pytest_modelreg.domain.trace import ExactInputs, ExactSample, TraceRequest
from pytest_modelreg.store.job_file import Job, read_job, read_result, write_job, write_result

SPEC = CaseSpec(
    suite="s",
    variant="v",
    root="/suite",
    python_path=("/suite", "/suite/src"),
    samples=SampleSet(
        folder="/suite/samples",
        samples=(Sample(id="cät", file="cät.png", sha256="0" * 64, label=None, tags=("a", "b")),),
    ),
    loader="image",
    model="m:build",
    model_args={"n": 3, "deep": {1: [1.5, None, True], "x": (1, 2)}, "big": math.inf},
    checkpoint=CheckpointRef(path="/w.pt", key="model.ema"),
    runtime=RuntimeSpec(kind="onnx", options={"dynamic": {"input": {0: "batch"}}}),
    outputs={"logits": OutputSpec(kind="classification", labels=("cat", "dog"))},
    axes={"runtime": "onnx"},
    facts={"project.data": "v3", "n": 2, "none": None},
    environment=EnvironmentSpec(variables={"A": "1", "B": None}),
)


def test_a_job_arrives_as_it_was(tmp_path):
    """Tuples stay tuples, numbers stay keys, infinity stays a number."""
    job = Job(spec=SPEC, folder=str(tmp_path), inputs=None, probes=True)
    write_job(tmp_path / "job.json", job)
    found = read_job(tmp_path / "job.json")
    assert found == job
    assert type(found.spec.model_args["deep"]["x"]) is tuple
    assert list(found.spec.model_args["deep"]) == [1, "x"]


def test_a_request_for_a_trace_arrives_as_it_was(tmp_path):
    """With the exact inputs that it names, and the form of each sample."""
    exact = ExactInputs(
        file=ArrayFile(file="trace.exact.npy", sha256="1" * 64),
        n_bytes=8,
        samples=(
            ExactSample(
                id="a", sha256="2" * 64, input_digest=None, form={"leaf": "array", "axes": [0]}, offset=0
            ),
        ),
    )
    request = TraceRequest(chosen=("a",), digests={"a": "d"}, max_bytes=9, exact=exact, exact_folder="/g")
    job = Job(spec=SPEC, folder=str(tmp_path), trace=request, is_of_graph=True)
    write_job(tmp_path / "job.json", job)
    assert read_job(tmp_path / "job.json") == job


def test_a_value_that_no_file_can_carry_is_named(tmp_path):
    """With its place: another process cannot be handed an object."""
    spec = replace(SPEC, model_args={"deep": {"set": {1, 2}}})
    with pytest.raises(EnvironmentUnavailable, match=r"spec\.model_args\.deep\.set: expected .* got set"):
        write_job(tmp_path / "job.json", Job(spec=spec, folder=str(tmp_path)))
    assert not (tmp_path / "job.json").exists()


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"modelreg_job": 99}', '{"modelreg_job": 1, "spec": {"a": 1}}']
)
def test_what_is_no_job_is_refused(tmp_path, text):
    """One line with the file, whatever it holds."""
    (tmp_path / "job.json").write_text(text)
    with pytest.raises(EnvironmentUnavailable, match=r"job\.json: expected a job"):
        read_job(tmp_path / "job.json")


@pytest.mark.parametrize("error", [PreprocessError, CaseSkipped, EnvironmentUnavailable])
def test_an_error_arrives_as_its_own_class(tmp_path, error):
    """A skipped case must not become an error, nor a foreseen error a crash."""
    write_result(tmp_path / "result.json", error(), "first line\n  File x")
    found = read_result(tmp_path / "result.json")
    assert type(found) is error
    assert str(found) == "first line\n  File x"


def test_an_answer_without_an_error_is_none(tmp_path):
    """What was observed is a file of its own."""
    write_result(tmp_path / "result.json", None)
    assert read_result(tmp_path / "result.json") is None


@pytest.mark.parametrize("kind", ["UsageFault", "os", "ModelRegError", "Fault"])
def test_only_errors_of_a_case_come_back_as_their_class(tmp_path, kind):
    """A file names no other class: a usage error would end the whole session."""
    (tmp_path / "result.json").write_text(json.dumps({"error": kind, "text": "t"}))
    assert type(read_result(tmp_path / "result.json")) is ModelRegError


@pytest.mark.parametrize("text", [None, "", "{", '{"error": null}'])
def test_a_missing_or_half_written_answer_is_none_at_all(tmp_path, text):
    """The worker ended before it could answer."""
    if text is not None:
        (tmp_path / "result.json").write_text(text)
    with pytest.raises(EnvironmentUnavailable, match=r"result\.json: expected the worker's answer"):
        read_result(tmp_path / "result.json")
