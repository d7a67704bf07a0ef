"""A file that ships: its own names, dtypes and shapes against what the suite's batches give."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from pytest_modelreg.domain.errors import ExportError, RuntimeUnavailable

pytest.importorskip("onnxruntime")
onnx = pytest.importorskip("onnx")

TYPES = {
    "float32": "FLOAT",
    "float16": "FLOAT16",
    "float64": "DOUBLE",
    "int64": "INT64",
    "int32": "INT32",
    "uint8": "UINT8",
}


@pytest.fixture
def write(tmp_path):
    """Write a file that adds up its inputs as float32; returns the options that name it."""

    def write_file(inputs, outputs=("logits",), nodes=None):
        helper, float_type = onnx.helper, onnx.TensorProto.FLOAT
        made = [helper.make_node("Cast", [name], [f"{name}_f"], to=float_type) for name in inputs]
        total = [f"{name}_f" for name in inputs]
        made += nodes or [helper.make_node("Sum", total, [output]) for output in outputs]
        graph = helper.make_graph(
            made,
            "graph",
            [
                helper.make_tensor_value_info(name, getattr(onnx.TensorProto, TYPES[dtype]), shape)
                for name, (dtype, shape) in inputs.items()
            ],
            [helper.make_tensor_value_info(output, float_type, None) for output in outputs],
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        onnx.save(model, tmp_path / "model.onnx")
        return {"path": "model.onnx"}

    return write_file


ANY = ["n", 2]
X = np.arange(6, dtype=np.float32).reshape(3, 2)


def test_a_single_output_is_bare(open_runner, write):
    """As a model returns it; no model and no torch are needed for arrays."""
    runner = open_runner("onnx-file", options=write({"input.1": ("float32", ANY)}))
    assert np.array_equal(runner(X), X)
    assert runner.findings() == ()


def test_tensors_give_tensors(open_runner, write):
    """So that a suite's forward can go on with them."""
    torch = pytest.importorskip("torch")
    runner = open_runner("onnx-file", options=write({"x": ("float32", ANY)}))
    assert torch.equal(runner(torch.from_numpy(X)), torch.from_numpy(X))
    runner = open_runner(
        "onnx-file",
        options=write({"x": ("float32", ANY)}),
        forward=lambda model, batch: model(batch["image"]).softmax(-1),
    )
    assert runner({"image": torch.from_numpy(X)}).shape == (3, 2)


def test_outputs_are_named_as_the_suite_says(open_runner, write):
    """Others keep the file's names."""
    options = write({"x": ("float32", ANY)}, outputs=("out.1", "out.2"))
    assert list(open_runner("onnx-file", options=options)(X)) == ["out.1", "out.2"]
    named = open_runner("onnx-file", options={**options, "outputs": {"out.2": "heads.0"}})(X)
    assert list(named) == ["out.1", "heads.0"]


def test_inputs_are_paired_by_name(open_runner, write):
    """Whatever their order; flags and text are passed over."""
    options = write({"b": ("float32", ANY), "a": ("float32", ANY)})
    runner = open_runner("onnx-file", options=options)
    assert np.array_equal(runner({"a": X, "b": 2 * X, "name": "cat"}), 3 * X)
    assert runner.findings() == ()


def test_inputs_without_names_are_paired_in_order(open_runner, write):
    """As a tuple is passed."""
    divide = onnx.helper.make_node("Div", ["a_f", "b_f"], ["logits"])
    options = write({"a": ("float32", ANY), "b": ("float32", ANY)}, nodes=[divide])
    assert np.array_equal(open_runner("onnx-file", options=options)((6 * X + 6, X + 1)), np.full_like(X, 6))


def test_the_suite_says_where_an_input_is(open_runner, write):
    """A path into the batch."""
    options = write({"input.1": ("float32", ANY), "s": ("int64", [])})
    runner = open_runner("onnx-file", options={**options, "inputs": {"input.1": "views.0", "s": "n"}})
    assert np.array_equal(runner({"views": [X], "n": 2}), X + 2)
    assert runner.findings() == ()


def test_another_name_is_found(open_runner, write):
    """Planted fault: the only input is fed, and its name is not the batch's."""
    runner = open_runner("onnx-file", options=write({"input.1": ("float32", ANY)}))
    for _ in range(2):
        runner({"pixel_values": X})
    (finding,) = runner.findings()
    assert (finding.subject, finding.what) == ("input pixel_values", "name")
    assert (finding.expected, finding.actual) == ("pixel_values", "input.1")


def test_an_entry_that_the_file_does_not_take_is_found(open_runner, write):
    """Planted fault: a mask that the shipped file ignores."""
    runner = open_runner("onnx-file", options=write({"x": ("float32", ANY)}))
    runner({"x": X, "mask": X})
    assert [(finding.subject, finding.what) for finding in runner.findings()] == [("input mask", "name")]


def test_an_input_with_nothing_to_feed_is_an_error(open_runner, write):
    """It lists what the batch has."""
    runner = open_runner("onnx-file", options=write({"x": ("float32", ANY), "state": ("float32", ANY)}))
    with pytest.raises(ExportError, match=r"got none for state \(the batch has x\).*inputs: \{state: "):
        runner({"x": X})
    with pytest.raises(ExportError, match=r"got none for x, state \(the batch has one unnamed tensor\)"):
        runner(X)


def test_a_path_that_the_batch_does_not_have_is_an_error(open_runner, write):
    """With the nearest."""
    options = {**write({"x": ("float32", ANY)}), "inputs": {"x": "imag"}}
    with pytest.raises(ExportError, match=r"got imag \(did you mean image\?\)$"):
        open_runner("onnx-file", options=options)({"image": X})


def test_a_path_to_the_only_tensor_is_told_to_be_left_out(open_runner, write):
    """Planted fault: x, as other messages call it; a bare tensor has no path."""
    options = {**write({"feat": ("float32", ANY)}), "inputs": {"feat": "x"}}
    with pytest.raises(ExportError, match=r"\(one unnamed tensor\), got x; .* leave inputs out$"):
        open_runner("onnx-file", options=options)(X)


@pytest.mark.parametrize(
    ("dtype", "given", "advice"),
    [
        ("float16", X, ", or declare the cast by dtype: float16"),
        ("float64", X, ", or declare the cast by dtype: float64"),
        ("float32", X.astype(np.float64), ", or declare the cast by dtype: float32"),
        ("int32", X.astype(np.int64), ""),
        ("int64", X.astype(np.int32), ""),
    ],
)
def test_a_cast_that_nobody_declares_is_an_error(open_runner, write, dtype, given, advice):
    """Planted fault: the engine refuses such a batch in production, also where no value would change."""
    runner = open_runner("onnx-file", options=write({"x": (dtype, ANY)}))
    with pytest.raises(ExportError) as caught:
        runner(given)
    told = str(caught.value)
    assert f"expects {dtype}, the batch has {given.dtype}, which ONNX Runtime refuses" in told
    assert told.endswith(f"preprocess or cast in its forward{advice}")


@pytest.mark.parametrize(
    ("dtype", "given"), [("float16", X + np.float32(1e-4)), ("float32", X.astype(np.float64))]
)
def test_a_cast_that_the_case_declares_is_made(open_runner, write, dtype, given):
    """Just inside: the dtype axis says what the file takes."""
    runner = open_runner("onnx-file", options=write({"x": (dtype, ANY)}), dtype=dtype)
    assert np.array_equal(runner(given), given.astype(dtype).astype(np.float32))
    assert runner.findings() == ()


def test_numbers_have_no_width(open_runner, write):
    """Just inside: 2 is a float, too. Planted fault: 2.5 would become 2."""
    options = write({"x": ("float32", ANY), "s": ("float32", [])})
    assert np.array_equal(open_runner("onnx-file", options=options)({"x": X, "s": 2}), X + 2)
    runner = open_runner("onnx-file", options=write({"x": ("float32", ANY), "s": ("int64", [])}))
    assert np.array_equal(runner({"x": X, "s": True}), X + 1)
    with pytest.raises(ExportError, match=r"input s: the file expects int64, the batch has a number of flo"):
        runner({"x": X, "s": 2.5})


@pytest.mark.parametrize(
    ("own", "dtype", "said"),
    [
        ("float32", "float16", r"computes in \(float32\), got dtype: float16.*dtype: float32, or off"),
        ("float32", "bfloat16", "got dtype: bfloat16, which cannot change a file"),
        ("float16", "float32", r"computes in \(float16\), got dtype: float32"),
        ("int64", "float16", r"computes in \(float32\)"),
    ],
)
def test_a_dtype_that_the_file_does_not_compute_in_is_refused(open_runner, write, own, dtype, said):
    """Planted fault: limits of float16 for a file that runs in float32; of indices, the outputs tell."""
    with pytest.raises(RuntimeUnavailable, match=said):
        open_runner("onnx-file", options=write({"x": (own, ANY)}), dtype=dtype)


@pytest.mark.parametrize(("own", "dtype"), [("float16", "float16"), ("int64", "float32"), ("float32", None)])
def test_the_files_own_dtype_may_be_declared(open_runner, write, own, dtype):
    """Just inside."""
    runner = open_runner("onnx-file", options=write({"x": (own, ANY)}), dtype=dtype)
    assert np.array_equal(runner(X.astype(own)), X)


@pytest.mark.parametrize(
    ("dtype", "given"), [("uint8", X), ("float32", X.astype(np.uint8)), ("float32", X > 1)]
)
def test_a_dtype_of_another_kind_is_an_error(open_runner, write, dtype, given):
    """Planted fault: the file takes pixels of 0 to 255, the suite gives normalised ones."""
    runner = open_runner("onnx-file", options=write({"x": (dtype, ANY)}))
    with pytest.raises(ExportError, match=rf"expects {dtype}, the batch has {given.dtype}.*own preprocess"):
        runner(given)


def test_a_batch_that_does_not_fit_a_fixed_axis_is_an_error(open_runner, write):
    """It names both shapes and both ways out."""
    runner = open_runner("onnx-file", options=write({"x": ("float32", [3, 2])}))
    assert np.array_equal(runner(X), X)
    with pytest.raises(ExportError) as caught:
        runner(X[:1])
    told = str(caught.value)
    assert "the file expects shape [3, 2], the batch has [1, 2]" in told
    assert "batch_size: 3" in told
    assert "dynamic: off if that is meant" in told
    assert "dynamic batch axis" in told
    with pytest.raises(ExportError, match=r"\[1, 5\]; give this variant a preprocess"):
        runner(np.zeros((1, 5), np.float32))
    with pytest.raises(ExportError, match=r"has \[3\]; give this variant a preprocess"):
        runner(np.zeros(3, np.float32))


def test_a_fixed_batch_axis_is_found_though_batches_fit(open_runner, write):
    """Planted fault: production sends another number of samples. The finding tells the way out."""
    runner = open_runner("onnx-file", options=write({"x": ("float32", [3, 2])}))
    runner(X)
    (finding,) = runner.findings()
    assert (finding.subject, finding.what, finding.actual) == ("input x", "axis 0 (batch)", "3 only")
    assert finding.expected == "any size (dynamic: off says that one is meant)"


@pytest.mark.parametrize("dynamic", ["off", False, {}])
def test_a_file_that_is_meant_for_one_size_has_no_findings(open_runner, write, dynamic):
    """Just inside: an artefact for a device that takes one sample at a time."""
    options = {**write({"x": ("float32", [1, 2])}), "dynamic": dynamic}
    runner = open_runner("onnx-file", options=options)
    runner(X[:1])
    assert runner.findings() == ()


def test_an_axis_that_is_declared_open_is_held_against_the_file(open_runner, write):
    """Planted fault and just inside: only what is declared."""
    options = write({"x": ("float32", [3, "n"])})
    for dynamic, actual in (({"x": {0: "batch"}}, ["3 only"]), ({"x": {1: "length"}}, [])):
        runner = open_runner("onnx-file", options={**options, "dynamic": dynamic})
        runner(X)
        assert [finding.actual for finding in runner.findings()] == actual


def test_the_batch_axis_is_the_one_that_the_file_names_so(open_runner, write):
    """Just inside: a recurrent network's state has its layers first, one as the batch has one sample."""
    add = onnx.helper.make_node("Add", ["x_f", "state_f"], ["logits"])
    inputs = {"x": ("float32", ["batch", 2]), "state": ("float32", [1, "batch", 2])}
    runner = open_runner("onnx-file", options=write(inputs, nodes=[add]))
    runner({"x": X[:1], "state": X[None, :1]})
    assert runner.findings() == ()


def test_nothing_is_presumed_where_inputs_do_not_lie_alike(open_runner, write):
    """Just inside: which of two lengths is the batch's is not ours to tell."""
    concat = onnx.helper.make_node("Concat", ["x_f", "table_f"], ["logits"], axis=0)
    runner = open_runner(
        "onnx-file", options=write({"x": ("float32", ANY), "table": ("float32", [2, 2])}, nodes=[concat])
    )
    runner({"x": X, "table": X[:2]})
    assert runner.findings() == ()


def test_a_table_beside_the_answers_may_have_any_length(open_runner, write):
    """Just inside: anchors are as many as they are."""
    value = onnx.numpy_helper.from_array(np.zeros((5, 2), np.float32))
    nodes = [
        onnx.helper.make_node("Constant", [], ["anchors"], value=value),
        onnx.helper.make_node("Identity", ["x_f"], ["logits"]),
    ]
    runner = open_runner(
        "onnx-file", options=write({"x": ("float32", ANY)}, outputs=("logits", "anchors"), nodes=nodes)
    )
    runner(X)
    assert runner.findings() == ()


def test_an_axis_that_is_open_in_name_only_is_found_by_trial(open_runner, write):
    """Planted fault: the file says n, and a reshape inside says 3."""
    helper = onnx.helper
    shape = helper.make_tensor("shape", onnx.TensorProto.INT64, [2], [3, 2])
    nodes = [
        helper.make_node("Constant", [], ["shape"], value=shape),
        helper.make_node("Reshape", ["x_f", "shape"], ["logits"]),
    ]
    options = write({"x": ("float32", ANY)}, nodes=nodes)
    for declared in ({}, {"dynamic": {"x": {0: "batch"}}}):
        runner = open_runner("onnx-file", options={**options, **declared})
        runner(X)
        (finding,) = runner.findings()
        assert finding.actual.startswith("a size of 4 fails:")


@pytest.mark.parametrize("option", ["inputs", "outputs"])
def test_a_name_that_the_file_does_not_have_is_refused(open_runner, write, option):
    """With the nearest."""
    options = {**write({"image": ("float32", ANY)}), option: {"imag": "x", "logit": "y"}}
    with pytest.raises(RuntimeUnavailable, match=rf"{option}: expected names of model.onnx"):
        open_runner("onnx-file", options=options)


def test_facts_name_the_files_bytes(open_runner, write, tmp_path):
    """Another file at the same path is another environment."""
    facts = open_runner("onnx-file", options=write({"x": ("float32", ANY)})).facts()
    digest = hashlib.sha256((tmp_path / "model.onnx").read_bytes()).hexdigest()
    assert (facts["kind"], facts["sha256"], facts["optimization"]) == ("onnx-file", digest, "all")


def test_autocast_is_refused(open_runner, write):
    """The file is what it is."""
    with pytest.raises(RuntimeUnavailable, match="expected no autocast"):
        open_runner("onnx-file", options=write({"x": ("float32", ANY)}), autocast="bfloat16")
