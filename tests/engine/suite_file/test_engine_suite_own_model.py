"""Cases whose runtime brings a model of its own: what they say of another one is refused, never ignored."""

from __future__ import annotations

import pytest

FILE = "{kind: onnx-file, path: model.onnx}"


@pytest.fixture
def shipped(suites):
    """A folder with a file that ships."""
    (suites.path / "model.onnx").touch()
    return suites


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("checkpoint", "weights/v1.safetensors"),
        ("model", "toy:other"),
        ("model_args", "{nosuch: 1}"),
        ("memory_format", "channels_last"),
    ],
)
def test_what_the_file_never_looks_at_is_refused(shipped, key, value):
    """Planted faults: a checkpoint that is not opened must not be green."""
    (fault,) = shipped.faults_of_extension(f"variants:\n  v:\n    runtime: {FILE}\n    {key}: {value}\n")
    place, _, message = fault.partition(": expected ")
    assert place.endswith(f"variants.v.{key}")
    assert message.startswith(f"no {key} beside the runtime onnx-file, which brings a model of its own")
    assert message.endswith("take it out, or say runtime: eager")


def test_combinations_of_checkpoint_and_file_are_to_be_excluded(shipped):
    """Planted fault: each checkpoint beside a file that holds none of them; the way out is one that works."""
    matrix = f"matrix:\n  checkpoint: {{a: weights/v1.safetensors}}\n  runtime: {{e: eager, f: {FILE}}}\n"
    (fault,) = shipped.faults_of_extension(matrix)
    assert "matrix.checkpoint: expected no checkpoint beside the runtime onnx-file" in fault
    assert "exclude: [{runtime: f}]" in fault
    suite = shipped.extend(f"{matrix}  exclude: [{{runtime: f}}]\nvariants: {{f: {{runtime: {FILE}}}}}\n")
    assert [case.variant for case in suite.cases] == ["reference", "f", "a-e"]


def test_what_comes_from_the_reference_is_replaced_with_the_model(shipped):
    """Just inside: the runtime replaces the model, its weights and their layout; off asks for nothing."""
    reference = "  checkpoint: weights/v1.safetensors\n  memory_format: channels_last\n"
    assert shipped.extend(f"{reference}variants: {{f: {{runtime: {FILE}}}}}\n").cases[1].variant == "f"
    assert shipped.extend(f"{reference}variants: {{f: {{checkpoint: off, runtime: {FILE}}}}}\n").cases


def test_a_variant_of_a_file_needs_a_runtime_to_have_a_checkpoint(shipped):
    """Planted fault and just inside: the reference is the file, and a live model is held against it."""
    head = (
        "modelreg: 1\nsuite: toy\nsamples: {folder: samples, loader: json}\n"
        f"reference: {{model: 'toy:build', runtime: {FILE}}}\n"
    )
    variant = "variants: {live: {checkpoint: weights/v1.safetensors%s}}\n"
    faults = shipped.faults(head + variant % "")
    assert len(faults) == 2
    assert "reference.model: expected no model beside" in faults[0]
    assert "variants.live.checkpoint: expected no checkpoint beside" in faults[1]
    suite = shipped.load(head + variant % ", runtime: eager")
    assert suite.cases[1].template.runtime.kind == "eager"


def test_a_dtype_of_the_reference_can_be_gone_without(shipped):
    """A file computes in its own, whatever the reference's model is cast to."""
    suite = shipped.extend(f"  dtype: float16\nvariants: {{f: {{dtype: off, runtime: {FILE}}}}}\n")
    assert [case.template.dtype for case in suite.cases] == ["float16", None]
    assert not suite.cases[1].allows_other_dtype
