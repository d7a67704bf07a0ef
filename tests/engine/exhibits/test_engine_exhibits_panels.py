"""What is looked at of a sample: bars, masks, boxes and inputs, from both sides of a case."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from pytest_modelreg.domain.case import OutputSpec
from pytest_modelreg.domain.environment import Fingerprint
from pytest_modelreg.domain.exhibit import SampleFace
from pytest_modelreg.domain.golden import Acceptance, Golden
from pytest_modelreg.domain.observation import Observation, ObservedSample
from pytest_modelreg.engine.exhibits.both_sides import BothSides
from pytest_modelreg.engine.exhibits.box_pairs import draw_boxes
from pytest_modelreg.engine.exhibits.class_bars import draw_class_bars
from pytest_modelreg.engine.exhibits.fed_inputs import as_picture, draw_input_difference
from pytest_modelreg.engine.exhibits.mask_pairs import draw_masks
from pytest_modelreg.engine.exhibits.value_pairs import pick_value_pairs
from pytest_modelreg.store import OutputWriter

LABELS = ("cat", "dog", "bird", "fish")


@pytest.fixture
def sides(tmp_path):
    """Return a function that opens a case: arrays of both sides by output path, and what they mean."""

    def record(name, outputs, ids):
        folder = tmp_path / name
        folder.mkdir()
        records = {}
        for path, values in outputs.items():
            writer = OutputWriter(folder, path, per="sample", n_rows=len(values))
            if isinstance(values, list):
                writer.append_ragged(values, dtype=values[0].dtype.name)
            else:
                writer.append(values, dtype=values.dtype.name)
            records[path] = writer.close()
        return Observation(
            suite="toy",
            variant="reference",
            axes={},
            batch_size=1,
            samples=tuple(ObservedSample(id=name, sha256=name, input_digest=None) for name in ids),
            outputs=records,
            weights_digest=None,
            fingerprint=Fingerprint(facts={}),
        )

    def open_sides(expected, actual, outputs, ids=("a", "b")):
        golden = Golden(
            observation=record("golden", expected, ids),
            accepted=Acceptance(date="2026-01-01T00:00:00Z", reason="first"),
            profiles={},
        )
        return BothSides(
            golden=golden,
            golden_folder=tmp_path / "golden",
            observation=record("run", actual, tuple(reversed(ids))),
            folder=tmp_path / "run",
            outputs=outputs,
        )

    return open_sides


def read_levels(picture):
    """Return a picture's levels, axes (row, column, channel)."""
    return np.asarray(Image.open(io.BytesIO(picture.data))).astype(int)


def test_bars_are_the_classes_that_either_side_ranks_highest(sides):
    """Rows are found by sample, whatever the order of either side; logits become shares."""
    then = np.log(np.array([[0.7, 0.2, 0.08, 0.02], [0.25] * 4], np.float32))
    now = np.log(np.array([[0.25] * 4, [0.02, 0.1, 0.08, 0.8]], np.float32))
    case = sides({"y": then}, {"y": now}, {"y": OutputSpec(kind="classification", labels=LABELS)})
    panel = draw_class_bars(case, "y", "a")
    assert [bar.label for bar in panel.bars] == ["cat", "dog", "bird", "fish"]
    assert panel.bars[0].expected == pytest.approx(0.7, rel=1e-5)
    assert panel.bars[3].actual == pytest.approx(0.8, rel=1e-5)


def test_labels_of_a_multilabel_output_are_shares_by_themselves(sides):
    """They sum up to nothing in particular; logits are squashed one by one."""
    values = np.array([[0.0, 100.0, -100.0, 0.0]] * 2, np.float32)
    case = sides({"y": values}, {"y": values}, {"y": OutputSpec(kind="multilabel", labels=LABELS)})
    assert {bar.label: bar.expected for bar in draw_class_bars(case, "y", "b").bars} == {
        "dog": 1.0,
        "cat": 0.5,
        "fish": 0.5,
        "bird": pytest.approx(0.0),
    }


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (np.array([[np.nan, 1.0], [0.0, 1.0]], np.float32), "classification"),
        (np.array([[1, 2], [3, 4]]), "classification"),
        (np.ones((2, 4), np.float32), "embedding"),
    ],
)
def test_what_holds_no_scores_has_no_bars(sides, values, kind):
    """NaN, integers, vectors: a bar would say something that is not so."""
    assert (
        draw_class_bars(sides({"y": values}, {"y": values}, {"y": OutputSpec(kind=kind)}), "y", "a") is None
    )


def test_masks_are_coloured_and_what_changed_is_marked(sides):
    """Class 0 is clear; one pixel of sixteen changed."""
    then = np.zeros((2, 4, 4), np.int64)
    then[:, :2] = 1
    now = then.copy()
    now[:, 3, 3] = 2
    case = sides({"m": then}, {"m": now}, {"m": OutputSpec(kind="segmentation", labels=LABELS)})
    panel = draw_masks(case, "m", "a")
    assert (panel.n_changed, panel.n_places) == (1, 16)
    assert read_levels(panel.expected)[3, 3, 3] == 0
    assert read_levels(panel.expected)[0, 0, 3] > 0
    assert np.argwhere(read_levels(panel.changed)[..., 3]).tolist() == [[3, 3]]
    assert [name for name, _ in panel.legend] == ["dog", "bird"]


def test_scores_by_class_are_read_as_a_mask(sides):
    """The highest wins, pixel by pixel."""
    scores = np.zeros((2, 3, 2, 2), np.float32)
    scores[:, 2, 0, 0] = 1.0
    case = sides({"m": scores}, {"m": scores}, {"m": OutputSpec(kind="segmentation")})
    panel = draw_masks(case, "m", "a")
    assert panel.n_changed == 0
    assert [name for name, _ in panel.legend] == ["class 2"]


@pytest.mark.parametrize(
    ("factor", "inputs", "stored", "scale"),
    [
        (1.0, {}, (200, 100), "shares"),
        (100.0, {}, (200, 100), "pixels of the file"),
        (100.0, {"a": {"": np.zeros((3, 100, 100))}}, (200, 100), "pixels of the model's input"),
        (400.0, {"a": {"": np.zeros((3, 100, 100))}}, (200, 100), "not known"),
    ],
)
def test_boxes_are_relative_to_what_they_fit_into(sides, factor, inputs, stored, scale):
    """Shares, the model's own input before the file behind it, or nothing that is known."""
    rows = [np.array([[0.1, 0.2, 0.5, 0.9]], np.float32) * np.float32(factor)] * 2
    scores = [np.array([0.75], np.float32)] * 2
    outputs = {"boxes": OutputSpec(kind="detection", scores="scores")}
    both = {"boxes": rows, "scores": scores}
    case = sides(both, both, outputs)
    faces = {name: SampleFace(stored_size=stored) for name in ("a", "b")}
    found = draw_boxes(case, ["a", "b"], faces, (inputs, {}))
    (panel,) = found["a"]
    assert scale in panel.scale
    (box,) = panel.expected
    assert box.label == "0.75"
    assert box.right == pytest.approx({"shares": 0.5, "pixels of the file": 0.25}.get(scale, box.right))


def test_boxes_that_cannot_be_read_are_left_out(sides):
    """Three numbers are no box."""
    rows = [np.ones((1, 3), np.float32)] * 2
    case = sides({"boxes": rows}, {"boxes": rows}, {"boxes": OutputSpec(kind="detection")})
    assert draw_boxes(case, ["a"], {}, ({}, {})) == {}


def test_difference_of_inputs_is_amplified():
    """One part in a hundred of the range is not seen as it is."""
    then = np.linspace(-1, 1, 3 * 16 * 16, dtype=np.float32).reshape(3, 16, 16)
    now = then.copy()
    now[:, 4:8, 4:8] += 0.02
    panel = draw_input_difference(({"a": {"": then}}, {"a": {"": now}}), "a")
    assert panel.largest == pytest.approx(0.02, rel=1e-3)
    assert panel.gain == pytest.approx(100, rel=0.02)
    shown = read_levels(panel.difference)
    side = shown.shape[0] / 16
    assert shown[int(6 * side), int(6 * side)].min() > 240
    assert shown[int(12 * side), int(12 * side)].max() < 15


def test_equal_inputs_are_not_drawn_and_other_shapes_have_no_difference():
    """Nothing to see; and what cannot be subtracted is shown side by side."""
    then = np.ones((8, 8, 3), np.uint8)
    assert draw_input_difference(({"a": {"": then}}, {"a": {"": then.copy()}}), "a") is None
    panel = draw_input_difference(({"a": {"": then}}, {"a": {"": np.ones((4, 8, 3), np.uint8)}}), "a")
    assert panel.difference is None
    assert draw_input_difference(({"a": {"": then}}, {}), "a") is None


@pytest.mark.parametrize(
    ("shape", "shown"),
    [
        ((3, 32, 24), (32, 24, 3)),
        ((32, 24, 3), (32, 24, 3)),
        ((1, 3, 32, 24), (32, 24, 3)),
        ((32, 24), (32, 24, 1)),
        ((1, 32, 24), (32, 24, 1)),
        ((16000,), None),
        ((2, 16000), None),
        ((12, 32, 24), None),
        ((0, 32, 24), None),
        ((), None),
    ],
)
def test_pictures_are_recognised_among_inputs(shape, shown):
    """Channels first or last, one or three; sound and features are none."""
    picture = as_picture(np.zeros(shape, np.float32))
    assert (None if picture is None else picture.shape) == shown


def test_input_that_is_not_finite_is_drawn():
    """A NaN in the preprocessing is what somebody has to see."""
    then = np.zeros((1, 8, 8), np.float32)
    now = np.full((1, 8, 8), np.nan, np.float32)
    panel = draw_input_difference(({"a": {"": then}}, {"a": {"": now}}), "a")
    assert read_levels(panel.difference).min() > 240


def test_value_pairs_are_of_the_output_that_drifted_most(sides):
    """Elements stand beside their own; what is not finite has no place in a plot."""
    small, large = np.ones((2, 3), np.float32), np.arange(6, dtype=np.float32).reshape(2, 3)
    moved = large[::-1] + 1
    moved[0, 0] = np.nan
    case = sides({"x": small, "y": large}, {"x": small, "y": moved}, {})
    pairs = pick_value_pairs(case, {"x": {"rel_l2": 0.0}, "y": {"rel_l2": 0.5}})
    assert pairs.output == "y"
    assert pairs.expected == (0.0, 1.0, 2.0, 4.0, 5.0)
    assert pairs.actual == tuple(value + 1 for value in pairs.expected)


def test_outputs_without_numbers_to_compare_have_no_pairs(sides):
    """Rows of other shapes, and tokens, whose numbers are no sizes."""
    then, now = np.ones((2, 3), np.float32), np.ones((2, 4), np.float32)
    assert pick_value_pairs(sides({"x": then}, {"x": now}, {}), {"x": {"rel_l2": None}}) is None
