"""Axes that may vary: as the suite declares them, and as a graph narrows them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_modelreg.domain.errors import ExportError
from pytest_modelreg.runtimes.graph.axis_probe import probe_axes
from pytest_modelreg.runtimes.graph.dynamic_axes import (
    AxisRange,
    declare_axes,
    find_fixed_shape,
    find_narrowing,
    resize_inputs,
    widen_inputs,
)

X = np.arange(24.0).reshape(4, 2, 3)


def test_the_batch_axis_is_declared_by_default():
    """Axis 0 of what is as long as the first input; a table of another length is no batch."""
    inputs = {"x": X, "mask": X[:, 0], "table": X[:3], "scale": np.float32(1) * np.ones(())}
    assert declare_axes(inputs, None, "c") == {"x": {0: "batch"}, "mask": {0: "batch"}}


def test_the_option_replaces_the_default():
    """Keys that went through JSON are text."""
    assert declare_axes({"x": X}, {"x": {"1": "height"}}, "c") == {"x": {1: "height"}}
    assert declare_axes({"x": X}, {}, "c") == {}


def test_all_faults_of_the_option_are_told_at_once():
    """Unknown input, axis that there is not, one name for two sizes."""
    option = {"image": {0: "batch"}, "x": {0: "n", 1: "n", 5: "m"}}
    with pytest.raises(ExportError) as caught:
        declare_axes({"x": X, "imag": X}, option, "toy[onnx]")
    told = str(caught.value)
    assert "toy[onnx]: option 'dynamic'" in told
    assert "got image (did you mean imag?)" in told
    assert "expected an axis below 3, got 5 (shape [4, 2, 3])" in told
    assert "4 (axis 0 of x), 2 (axis 1 of x)" in told


@given(st.integers(1, 5), st.integers(0, 9))
def test_a_resized_input_repeats_its_beginning(size, wanted):
    """A law: rows that it has in common with the original are the original's."""
    resized = resize_inputs({"x": np.arange(size), "y": 1}, [("x", 0)], wanted)
    assert resized["x"].tolist() == [index % size for index in range(wanted)]
    assert resized["y"] == 1


def test_tensors_are_resized_as_tensors():
    """Of the same dtype."""
    torch = pytest.importorskip("torch")
    resized = resize_inputs({"x": torch.arange(2)}, [("x", 0)], 3)["x"]
    assert resized.tolist() == [0, 1, 0]
    assert resized.dtype == torch.int64


def test_only_axes_of_one_are_widened():
    """Exporters take a 1 for a constant."""
    inputs = {"x": X[:1], "y": X[:1], "z": X}
    widened = widen_inputs(inputs, {"x": {0: "batch"}, "y": {0: "batch"}, "z": {0: "other"}})
    assert [value.shape[0] for value in widened.values()] == [2, 2, 4]


def test_a_fixed_shape_leaves_declared_axes_open():
    """None for what may vary."""
    assert find_fixed_shape((4, 2, 3), {0: "batch", 2: "width"}) == (None, 2, None)


@pytest.mark.parametrize(
    ("bounds", "actual"),
    [
        ({"minimum": 8, "maximum": 8}, "8 only"),
        ({"minimum": 1, "maximum": 1}, "1 only"),
        ({"minimum": 2, "maximum": 16}, "at most 16"),
        ({"minimum": 4, "maximum": 16}, "4 to 16"),
        ({"minimum": 3}, "at least 3"),
        ({"minimum": 2, "rule": "2*s0"}, "bound to 2*s0"),
        ({"minimum": 2}, None),
        ({}, None),
    ],
)
def test_a_narrowed_axis_is_a_finding(bounds, actual):
    """Planted faults, and just inside: every program states a minimum of 2."""
    finding = find_narrowing(AxisRange(input="x", axis=0, name="batch", **bounds))
    assert (finding and finding.actual) == actual
    if finding is not None:
        assert (finding.subject, finding.what) == ("input x", "axis 0 (batch)")


def probe(run, run_model=None, declared=None, **inputs):
    """Return what a probe finds."""
    inputs = inputs or {"x": X}
    found = probe_axes(
        inputs,
        declared or {name: {0: "batch"} for name in inputs},
        run,
        run_model=run_model,
        output_names=["logits"],
    )
    return [(finding.subject, finding.what, finding.actual) for finding in found]


def test_a_graph_that_takes_any_size_has_no_findings():
    """Just inside."""
    assert probe(lambda inputs: [inputs["x"] * 2], lambda inputs: [inputs["x"]]) == []


def test_a_graph_that_fails_on_another_size_is_found():
    """Planted fault: a batch size written into a reshape."""
    (found,) = probe(lambda inputs: [inputs["x"].reshape(4, 6)], lambda inputs: [inputs["x"]])
    assert found[:2] == ("input x", "axis 0 (batch)")
    assert "a size of 5 fails: cannot reshape" in found[2]


def test_a_graph_that_fails_on_one_sample_alone_is_found():
    """Planted fault: the axis was specialised for more than one."""

    def run(inputs):
        if len(inputs["x"]) == 1:
            raise ValueError("too few")
        return [inputs["x"]]

    assert [found[2] for found in probe(run, lambda inputs: [inputs["x"]])] == ["a size of 1 fails: too few"]


@pytest.mark.parametrize("run_model", [None, lambda inputs: [inputs["x"]]])
def test_an_output_that_does_not_follow_is_found(run_model):
    """Planted fault: the graph answers for the batch size it was traced with."""
    (found,) = probe(lambda inputs: [X], run_model)
    assert found[2] == "a size of 5 gives output logits of shape [4, 2, 3], not [5, 2, 3]"


def test_inputs_that_share_an_axis_vary_together():
    """And are named together."""

    def run(inputs):
        assert inputs["x"].shape[0] == inputs["y"].shape[0]
        raise ValueError("no")

    (found,) = probe(run, lambda inputs: [inputs["x"]], x=X, y=X)
    assert found[0] == "inputs x, y"


def test_a_height_that_the_model_itself_refuses_is_no_finding():
    """Which heights a model takes is not declared; its batch axis is."""

    def refuse(inputs):
        raise ValueError("not a multiple of 32")

    assert probe(refuse, refuse, {"x": {1: "height"}}) == []
    assert "in the model itself" in probe(refuse, refuse)[0][2]


def mean(inputs, n=None):
    """Return every sample minus the mean over the batch of ``n`` samples."""
    x = inputs["x"]
    return [x - x.sum(0) / (n or len(x))]


def test_a_size_frozen_into_a_value_is_found():
    """Planted fault: shapes are as they should be, and a mean is divided by 4 for ever."""
    (found,) = probe(lambda inputs: mean(inputs, 4), mean)
    assert found[2] == "a size of 5 gives other values of output logits than the model does"


@pytest.mark.parametrize(("axis", "size"), [(1, 4), (2, 6)])
def test_a_size_frozen_into_a_value_is_found_along_any_axis(axis, size):
    """Planted fault: a mean over the length, at twice the length."""

    def run(inputs, n=None):
        x = inputs["x"]
        return [x.sum(axis) / (n or x.shape[axis])]

    (found,) = probe(lambda inputs: run(inputs, size // 2), run, {"x": {axis: "length"}})
    assert found[1:] == (
        f"axis {axis} (length)",
        f"a size of {size} gives other values of output logits than the model does",
    )


def test_rounding_is_no_other_value():
    """Just inside: engines add in another order; of a batch of one, nothing but rounding is left."""

    def run(inputs):
        return [mean({"x": inputs["x"].astype(np.float32)})[0] + np.float32(1e-6)]

    assert probe(run, mean) == []


def test_a_graph_that_differs_at_its_own_size_says_nothing_of_sizes():
    """Just inside: what is wrong everywhere is judged with the suite's batches."""
    assert probe(lambda inputs: [inputs["x"] * 2], lambda inputs: [inputs["x"]]) == []


def test_a_branch_that_the_content_takes_is_no_matter_of_the_size():
    """Just inside: one sample alone is negative; as many of it take the same branch."""

    def run_model(inputs):
        return [inputs["x"] * (-1 if inputs["x"].sum() < 0 else 1)]

    x = np.concatenate([-X[:1] - 1, 9 * X])
    assert probe(lambda inputs: [inputs["x"]], run_model, x=x) == []


def test_a_model_that_is_random_or_keeps_state_is_left_alone():
    """Just inside: what it says of one size, it does not say again."""
    calls = []

    def run_model(inputs):
        calls.append(1)
        return [inputs["x"] + len(calls) % 3]

    assert probe(lambda inputs: [inputs["x"] + 1], run_model) == []


def test_places_without_a_number_are_left_out():
    """Just inside: one sample has no deviation, and engines say so in several ways."""

    def run(inputs, of_one):
        return [inputs["x"] if len(inputs["x"]) > 1 else np.full_like(inputs["x"], of_one)]

    for one, other in ((np.nan, np.nan), (np.nan, np.inf), (np.inf, 1.0)):
        assert probe(lambda i, a=one: run(i, a), lambda i, b=other: run(i, b)) == []


@pytest.mark.parametrize(("n_moved", "is_found"), [(1, False), (4, True)])
def test_a_few_places_of_largest_scores_may_change(n_moved, is_found):
    """Planted fault and just inside: ties turn with rounding, a frozen index moves everything."""
    x = np.arange(12, dtype=np.int64).reshape(12, 1)

    def run(inputs):
        moved = inputs["x"].copy()
        if len(moved) == 13:
            moved[:n_moved] += 1
        return [moved]

    assert bool(probe(run, lambda inputs: [inputs["x"]], x=x)) is is_found


@pytest.mark.parametrize(("dtype", "is_found"), [("float16", False), ("float32", True)])
def test_other_values_are_told_by_the_coarsest_dtype(dtype, is_found):
    """Planted fault and just inside: one part in a hundred is rounding in a deep network of float16."""
    x = np.ones((4, 3), dtype)

    def run(inputs):
        return [inputs["x"] * np.asarray(1.01 if len(inputs["x"]) == 5 else 1, dtype)]

    assert bool(probe(run, lambda inputs: [inputs["x"]], x=x)) is is_found


def test_outputs_that_are_no_arrays_are_passed_over():
    """Just inside: a file may answer with maps."""
    assert probe(lambda inputs: [[{"cat": 1.0}], inputs["x"]]) == []


def test_ties_of_a_repeated_length_may_come_in_any_order():
    """Just inside: twice the width holds everything twice, and engines sort equals as they like."""

    def run(inputs, step):
        flat = inputs["x"].reshape(len(inputs["x"]), -1)
        places = np.argsort(flat[:, ::step], axis=1, kind="stable")
        places = places if step > 0 else flat.shape[1] - 1 - places
        return [places[:, :5]]

    x = np.random.default_rng(0).permutation(24).reshape(4, 2, 3).astype(np.float64)
    assert probe(lambda i: run(i, -1), lambda i: run(i, 1), {"x": {2: "width"}}, x=x) == []


def test_what_is_chosen_of_ties_is_compared_as_a_set():
    """Just inside: boxes of equal scores, in one order at the size of the export, in another beyond."""

    def run(inputs):
        x = inputs["x"]
        return [x if x.shape[2] == 3 else x[..., ::-1]]

    assert probe(run, lambda inputs: [inputs["x"]], {"x": {2: "width"}}) == []
