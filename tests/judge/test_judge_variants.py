"""A variant against the reference's golden: what it declares is no news, and everything else is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pytest_modelreg.domain.observation import Stage
from pytest_modelreg.domain.verdict import Verdict

VALUES = np.ones((4, 3), np.float32)
VARIANT = {"is_variant": True}


def _sides(side: Any, *, factor: float = 2.0, facts: Any = ({}, {}), axes: Any = None, **more: Any) -> Any:
    """Return the reference's golden and a variant whose outputs are ``factor`` times as large."""
    before = {key: value[0] for key, value in more.items()}
    after = {key: value[1] for key, value in more.items()}
    return (
        side(outputs={"y": VALUES}, facts=facts[0], **before),
        side(outputs={"y": VALUES * np.float32(factor)}, facts=facts[1], variant="fast", axes=axes or {},
             **after),
    )  # fmt: skip


def test_the_result_is_the_variant_s(court: Any, side: Any) -> None:
    """Suite, variant and axes are those of the observation, not of the golden."""
    result = court.judge(*_sides(side, axes={"runtime": "onnx"}), **VARIANT)
    assert (result.id, result.axes) == ("toy[fast]", {"runtime": "onnx"})


@pytest.mark.parametrize(
    ("axes", "key", "before", "after", "is_listed"),
    [
        ({"runtime": "onnx"}, "runtime.kind", "eager", "onnx", False),
        ({"runtime": "onnx"}, "runtime.opset", None, 20, False),
        ({"runtime": "onnx"}, "onnxruntime.providers", None, "CPU", False),
        ({"runtime": "onnx"}, "torch.version", "2.13", "2.14", True),
        ({"runtime": "onnx"}, "env.OMP_NUM_THREADS", None, "1", True),
        ({"threads": 1}, "torch.num_threads", 4, 1, False),
        ({"threads": 1}, "torch.num_interop_threads", 4, 1, True),
        ({"batch_size": 1}, "torch.num_threads", 4, 1, True),
        ({"autocast": "bfloat16"}, "runtime.autocast", None, "bfloat16", False),
        ({"batch_size": 1}, "runtime.opset", 19, 20, True),
        ({"preprocess": "a:b"}, "pillow.libjpeg_turbo", None, "3.1", False),
        ({"device": "cuda"}, "gpu.name", None, "A100", False),
        ({"checkpoint": "b.pt"}, "gpu.name", None, "A100", True),
    ],
)
def test_environment_changes_that_axes_declare_are_not_listed(
    court: Any, side: Any, axes: Any, key: str, before: Any, after: Any, is_listed: bool
) -> None:
    """A runtime's own options, threads that were set, packages that only this variant loads."""
    sides = _sides(side, facts=({key: before}, {key: after}), axes=axes)
    result = court.judge(*sides, **VARIANT)
    assert bool(result.environment_changes) is is_listed
    assert result.message.startswith("environment differs") is is_listed
    # Against a golden of its own, every change is one.
    assert len(court.judge(*sides).environment_changes) == 1


OTHER = {"s0": "other", "s1": "other"}


@pytest.mark.parametrize("factor", [1.0, 2.0])
def test_a_preprocess_of_its_own_that_makes_the_same_inputs_says_so(
    court: Any, side: Any, factor: float
) -> None:
    """Whether outputs match or not."""
    notes = court.judge(*_sides(side, factor=factor, axes={"preprocess": "a:b"}), **VARIANT).notes
    assert notes == ("inputs bit-identical to the reference's",)


@pytest.mark.parametrize("factor", [1.0, 2.0])
def test_a_preprocess_of_its_own_that_makes_other_inputs_is_no_accident(
    court: Any, side: Any, factor: float
) -> None:
    """The note counts samples and accuses nobody."""
    sides = _sides(side, factor=factor, axes={"preprocess": "a:b"}, inputs=({}, OTHER))
    assert court.judge(*sides, **VARIANT).notes == (
        "this variant's preprocess makes other inputs for 2 of 4 samples, e.g. s0, s1",
    )


def test_inputs_that_differ_without_a_preprocess_of_its_own_changed_since(court: Any, side: Any) -> None:
    """A runtime does not make other inputs: the data or its code moved since the golden was recorded."""
    sides = _sides(side, axes={"runtime": "onnx"}, inputs=({}, OTHER))
    (note,) = court.judge(*sides, **VARIANT).notes
    assert note == (
        "inputs differ from the reference's for 2 of 4 samples, e.g. s0, s1, although this variant declares "
        "no other preprocess: they changed since the golden was recorded"
    )
    assert court.judge(*_sides(side, factor=1.0, inputs=({}, OTHER)), **VARIANT).notes == ()


def test_a_golden_of_its_own_speaks_of_changes(court: Any, side: Any) -> None:
    """Its preprocess is on both sides: inputs that differ are news."""
    (note,) = court.judge(*_sides(side, axes={"preprocess": "a:b"}, inputs=({}, OTHER))).notes
    assert note.endswith("the change is at or before the preprocessed tensors")


@pytest.mark.parametrize(
    ("axes", "weights", "options", "is_noted"),
    [
        ({"runtime": "onnx"}, "w2", VARIANT, True),
        ({"checkpoint": "b.pt"}, "w2", VARIANT, False),
        ({"checkpoint": "b.pt"}, "w2", {}, True),
        ({"dtype": "float16"}, "w2", {**VARIANT, "allows_other_dtype": True}, False),
        ({"runtime": "onnx-file"}, None, VARIANT, False),
        ({}, None, {}, False),
    ],
)
def test_other_weights_are_noted_where_they_are_news(
    court: Any, side: Any, axes: Any, weights: Any, options: Any, is_noted: bool
) -> None:
    """A checkpoint or a precision of its own makes other weights; a file has none that could be asked."""
    notes = court.judge(*_sides(side, axes=axes, weights=("w1", weights)), **options).notes
    assert any("weights differ" in note for note in notes) is is_noted


def _stages(*stages: tuple[str, str, str]) -> tuple[Stage, ...]:
    return tuple(
        Stage(name=name, description=description, digests=tuple(digests))
        for name, description, digests in stages
    )


BEFORE = _stages(("decode", "decode(RGB)", "abcd"), ("Resize", "Resize(8, antialias=True)", "efgh"))


@pytest.mark.parametrize(
    ("after", "note"),
    [
        (
            _stages(("decode", "decode(RGB)", "abcd"), ("Resize", "Resize(8, antialias=False)", "EFgh")),
            "first stage whose output differs: 2 (Resize), for 2 of 4 samples: "
            "expected Resize(8, antialias=True), got Resize(8, antialias=False)",
        ),
        (
            _stages(("decode", "decode(RGB)", "Abcd"), ("Resize", "Resize(8, antialias=True)", "Efgh")),
            "first stage whose output differs: 1 (decode), for 1 of 4 samples: decode(RGB) on both sides",
        ),
        (
            _stages(*[("decode", "decode(RGB)", "abcd")]),
            "first stage that differs: 2: expected Resize(8, antialias=True), got none",
        ),
        (BEFORE, None),
        (_stages(("decode", "decode(RGB)", "A")), "first stage that differs: 2"),
        ((), None),
    ],
)
def test_the_first_stage_that_differs_is_named(court: Any, side: Any, after: Any, note: Any) -> None:
    """Number, name, share of samples and how its settings differ; nothing where stages tell nothing."""
    notes = court.judge(*_sides(side, inputs=({}, OTHER), stages=(BEFORE, after))).notes
    staged = [each for each in notes if each.startswith("first stage")]
    assert len(staged) == (note is not None)
    assert note is None or staged[0].startswith(note)


def test_stages_follow_the_samples(court: Any, side: Any) -> None:
    """Digests are in row order: another order of samples is no difference."""
    after = _stages(("decode", "decode(RGB)", "dcba"), ("Resize", "Resize(8)", "Hgfe"))
    ids = ["s0", "s1", "s2", "s3"]
    golden, run = _sides(
        side, inputs=({}, {"s3": "x"}), stages=(BEFORE, after), ids=(ids, ids[::-1]), digests=({}, {})
    )
    notes = court.judge(golden, run).notes
    assert notes[1].startswith("first stage whose output differs: 2 (Resize), for 1 of 4 samples")


def test_stages_are_not_named_where_inputs_are_equal(court: Any, side: Any) -> None:
    """A stage may differ and the tensors be equal: then preprocessing is innocent."""
    after = _stages(("decode", "x", "ABCD"))
    assert court.judge(*_sides(side, stages=(BEFORE, after))).notes == (
        "inputs: bit-identical for all 4 samples",
    )


def _entry(value: Any) -> dict[str, Any]:
    return {"value": value, "source": "read"}


def test_checklist_entries_that_differ_are_listed(court: Any, side: Any) -> None:
    """What both sides know and differs, four at most; noise in what was measured is none."""
    before = {
        "size": _entry([224, 224]), "interpolation": _entry("bicubic"), "antialias": _entry(True),
        "mean": _entry([0.48501, 0.456]), "range": _entry({"min": 0.0, "max": 1.0}), "order": _entry("RGB"),
        "std": {"value": None, "reason": "opaque"}, "only": _entry(1),
    }  # fmt: skip
    after = {
        "size": _entry([256, 224]), "interpolation": _entry("nearest"), "antialias": _entry(False),
        "mean": _entry([0.48502, 0.456]), "range": _entry({"min": 0.0, "max": 255.0}),
        "order": _entry("BGR"), "std": _entry(1.0),
    }  # fmt: skip
    notes = court.judge(*_sides(side, inputs=({}, OTHER), checklist=(before, after))).notes
    assert notes[-1] == (
        "preprocessing checklist: size: expected [224, 224], got [256, 224]; "
        "interpolation: expected bicubic, got nearest; antialias: expected yes, got no; "
        "range: expected min 0, max 1, got min 0, max 255; and 1 more"
    )
    same = court.judge(*_sides(side, inputs=({}, OTHER), checklist=(before, before))).notes
    assert not [note for note in same if "checklist" in note]


def test_other_batches_of_a_variant_are_not_compared(court: Any, side: Any) -> None:
    """One value a batch has no counterpart under another batch size."""
    golden = side(outputs={"y": VALUES, "loss": np.ones(2)}, per={"loss": "batch"})
    run = side(outputs={"y": VALUES, "loss": np.ones(1)}, per={"loss": "batch"}, batch_size=4,
               axes={"batch_size": 4}, variant="b4")  # fmt: skip
    result = court.judge(golden, run, **VARIANT)
    assert result.verdict is Verdict.MATCH
    assert result.notes[-1].startswith("loss: not compared: one value a batch")
