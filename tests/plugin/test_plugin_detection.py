"""A detector in a suite of its own: planted faults are caught and named, benign changes are a match."""

from __future__ import annotations

import hashlib
import json
import sys
from typing import Any

import pytest

COMMAND = (sys.executable, "-m", "pytest_modelreg")

SCENES: dict[str, list[list[float]]] = {
    "empty": [],
    "one": [[12, 30, 80, 120, 0.99, 0]],
    "three": [[12, 30, 80, 120, 0.99, 0], [100, 40, 160, 130, 0.93, 1], [300, 20, 350, 90, 0.71, 0]],
    "two": [[5, 5, 55, 65, 0.88, 1], [115.5, 5, 175, 65, 0.81, 0]],
}

CODE = """
import numpy as np
import torch


class Detector(torch.nn.Module):
    def __init__(self, change, packed):
        super().__init__()
        self.change, self.packed = change, packed

    def forward(self, batch):
        return [self.find(np.array(rows)) for rows in batch]

    def find(self, rows):
        rows = CHANGES[self.change](rows.astype(np.float64))
        boxes = torch.tensor(rows[:, :4], dtype=torch.float32)
        scores = torch.tensor(rows[:, 4], dtype=torch.float32)
        if self.packed:
            return torch.tensor(rows, dtype=torch.float32)
        marks = boxes.reshape(-1, 2, 2) + (self.change == "mark") * (scores > 0.9)[:, None, None]
        return {"boxes": boxes, "scores": scores, "labels": torch.tensor(rows[:, 5]).long(), "marks": marks}


def edit(rows, column, change, row=slice(None)):
    rows[row, column] = change(rows[row, column])
    return rows


CHANGES = {
    "none": lambda rows: rows,
    "mark": lambda rows: rows,
    "shifted": lambda rows: edit(rows, 0, lambda x: x + 1, slice(1, 2)),
    "lost": lambda rows: np.delete(rows, slice(1, 2), axis=0),
    "new": lambda rows: np.concatenate([rows, [[200, 200, 240, 250, 0.77, 1]]]) if len(rows) == 3 else rows,
    "relabelled": lambda rows: edit(rows, 5, lambda number: 1 - number, slice(1, 2)),
    "score": lambda rows: edit(rows, 4, lambda score: score - 0.01, slice(1, 2)),
    "swapped": lambda rows: rows[::-1].copy(),
    "noise": lambda rows: edit(rows[::-1].copy(), slice(0, 5), lambda x: x * (1 + 1e-6)),
    "blind-to-three": lambda rows: rows[:0] if len(rows) == 3 else rows,
    "blind": lambda rows: rows[:0],
    "corner-and-size": lambda rows: rows - np.pad(rows[:, :2], ((0, 0), (2, 2))),
    "class-order": lambda rows: edit(rows, 5, lambda number: 1 - number),
}


def build(change="none", packed=False):
    return Detector(change, packed)


def to_rows(scene):
    return np.array(scene, dtype=np.float64).reshape(-1, 6)


def collate(scenes):
    return list(scenes)


def detect(model, batch):
    return model(batch)
"""

SUITE = """
modelreg: 1
suite: {name}
samples: {{folder: scenes, loader: json}}
reference:
  model: detector_code:build
  model_args: {{packed: {packed}}}
  preprocess: detector_code:to_rows
  collate: detector_code:collate
  forward: detector_code:detect
  batch_size: 3
outputs:
  {output}
variants:
{variants}
"""

BOXES = "boxes: {kind: detection, scores: scores, classes: labels, labels: [face, mask], along: [marks]}"
PACKED = "found: {kind: detection, labels: [face, mask]}"

BENIGN = ("swapped", "noise")
FAULTS: dict[str, tuple[set[str], str]] = {
    "shifted": ({"three", "two"}, "rel_l2"),
    "lost": ({"three", "two"}, ": 2 boxes lost"),
    "new": ({"three"}, ": 1 box new"),
    "relabelled": ({"three", "two"}, ": 2 boxes of another class"),
    "score": ({"three", "two"}, "rel_l2"),
    "blind-to-three": ({"three"}, ": 3 boxes lost"),
    "blind": ({"one", "three", "two"}, ": 6 boxes lost"),
    "corner-and-size": ({"one", "three", "two"}, "boxes lost"),
    "class-order": ({"one", "three", "two"}, ": 6 boxes of another class"),
}


def write_suite(
    pytester: pytest.Pytester, name: str, output: str, changes: list[str], *, packed: bool
) -> None:
    """Write a suite with a variant a change."""
    variants = "\n".join(
        f"  {change}: {{model_args: {{change: {change}, packed: {str(packed).lower()}}}}}"
        for change in changes
    )
    text = SUITE.format(name=name, output=output, packed=str(packed).lower(), variants=variants)
    (pytester.path / f"{name}.modelreg.yaml").write_text(text, encoding="utf-8")


def run(pytester: pytest.Pytester, *arguments: str) -> dict[str, dict[str, Any]]:
    """Run and return the records of all cases by id."""
    pytester.runpytest_inprocess("--modelreg", "--modelreg-json=report.json", *arguments)
    document = json.loads((pytester.path / "report.json").read_text(encoding="utf-8"))
    return {case["id"]: case for case in document["cases"]}


@pytest.fixture
def detectors(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """Two recorded suites: boxes beside their scores and classes, and all in one array."""
    pytest.importorskip("torch")
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p no:hypothesispytest")
    pytester.makepyfile(detector_code=CODE)
    scenes = pytester.mkdir("scenes")
    for name, rows in SCENES.items():
        (scenes / f"{name}.json").write_text(json.dumps(rows), encoding="utf-8")
    digests = {name: hashlib.sha256(json.dumps(rows).encode()).hexdigest() for name, rows in SCENES.items()}
    table = ["id,file,sha256", *(f"{name},{name}.json,{digest}" for name, digest in digests.items())]
    (scenes / "samples.csv").write_text("\n".join(table) + "\n", encoding="utf-8")
    changes = [*BENIGN, *FAULTS]
    write_suite(pytester, "apart", BOXES, [*changes, "mark"], packed=False)
    write_suite(pytester, "packed", PACKED, changes, packed=True)
    recorded = run(pytester, "--modelreg-regen=missing", "-k", "reference")
    assert {case["verdict"] for case in recorded.values()} == {"recorded"}
    return pytester


def test_planted_faults_are_caught_and_named(detectors: pytest.Pytester) -> None:
    """Every fault drifts on exactly its samples; order and noise alone are a match without a word."""
    records = run(detectors, "--modelreg-diagnose=off")
    for suite in ("apart", "packed"):
        for change in ("reference", *BENIGN):
            case = records[f"{suite}[{change}]"]
            assert case["verdict"] == "match", case["message"]
            assert not [sample for sample in case["samples"] if not sample["ok"]]
        for change, (samples, words) in FAULTS.items():
            case = records[f"{suite}[{change}]"]
            assert case["verdict"] == "drift", change
            assert set(case["drifted_samples"]) == samples, change
            assert words in case["message"], change
    moved = records["apart[mark]"]
    assert {check["output"] for check in moved["checks"] if not check["ok"]} == {"marks"}
    assert any("read as xywh" in note for note in records["apart[corner-and-size]"]["notes"])


def test_lost_box_is_told_on_the_terminal(detectors: pytest.Pytester) -> None:
    """Which box of which sample, with its name, its score and its place."""
    result = detectors.runpytest_inprocess("--modelreg", "--modelreg-diagnose=off", "-k", "apart and lost")
    text = result.stdout.str()
    assert "3 boxes: mask 0.93 [100 40 160 130], ..." in text
    assert "3 boxes expected, 2 got; lost: mask 0.93 [100 40 160 130]" in text


def test_golden_of_boxes_reads_well(detectors: pytest.Pytester) -> None:
    """``summary.csv`` has count, best score and best box; rows are kept as they were, with their counts."""
    folder = detectors.path / "golden/apart/reference"
    lines = (folder / "summary.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("id,boxes.boxes,boxes.best_score,boxes.best_box,")
    assert [line.split(",")[:4] for line in lines[1:3]] == [
        ["empty", "0", "", ""],
        ["one", "1", "0.99", "face [12.0 30.0 80.0 120.0]"],
    ]
    assert len(list(folder.glob("outputs.boxes.counts.*.npy"))) == 1


def test_boxes_are_judged_again_and_recorded_again(detectors: pytest.Pytester) -> None:
    """Another limit is tried on what was observed, and recorded once more the golden is as it was."""
    run(detectors, "--modelreg-diagnose=off", "-k", "apart and lost")
    again = detectors.run(*COMMAND, "rejudge", "--checks", "boxes.iou_match=0.4")
    again.stdout.fnmatch_lines(["apart?lost?: drift -> match: *"])
    accepted = detectors.run(*COMMAND, "regen", "apart[reference]", "--mode", "all", "--reason", "x", "--yes")
    assert accepted.ret == 0
    assert run(detectors, "-k", "apart and swapped")["apart[swapped]"]["verdict"] == "match"


LISTS = """
import os
import numpy as np

A = np.array([[12, 30, 80, 120, 0.99, 0], [100, 40, 160, 130, 0.93, 1]], np.float32)
FOUND = {
    "all": [A, A[:0], A[:1]],
    "lost": [A[:1], A[:0], A[:1]],
    "turned": [A[::-1], A[:0], A[:1]],
    "fewer": [A, A[:0]],
}


def find():
    return FOUND[os.environ["FOUND"]]


def test_packed(modelreg):
    modelreg.check(find(), kind="detection", labels=["face", "mask"])


def test_named(modelreg):
    parts = {"boxes": slice(0, 4), "scores": 4, "labels": 5}
    found = [{name: rows[:, part] for name, part in parts.items()} for rows in find()]
    ids = ["a", "b", "c"][: len(found)]
    outputs = {"boxes": {"kind": "detection", "scores": "scores", "classes": "labels"}}
    modelreg.check(found, sample_ids=ids, outputs=outputs)
"""


def test_list_of_a_python_test_holds_an_array_a_sample(module: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without ids too: boxes differ in number, so that a list is the only way to hand them over."""
    (module.path / "test_m.py").write_text(LISTS, encoding="utf-8")
    monkeypatch.setenv("FOUND", "all")
    module.record()
    expected = {
        "all": ("match", "match"),
        "turned": ("match", "match"),
        "lost": ("drift", "drift"),
        "fewer": ("drift", "stale"),
    }
    for found, (packed, named) in expected.items():
        monkeypatch.setenv("FOUND", found)
        assert module.verdicts() == {
            "test_m.py::test_packed::output": packed,
            "test_m.py::test_named::output": named,
        }, found


def test_declaration_of_boxes_survives_review(module: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test said of its boxes is kept with the run, so that it can be judged and accepted later."""
    body = LISTS.replace('"classes": "labels"', '"classes": "labels", "threshold": 0.5')
    (module.path / "test_m.py").write_text(body, encoding="utf-8")
    monkeypatch.setenv("FOUND", "all")
    module.record()
    monkeypatch.setenv("FOUND", "lost")
    module.run()
    again = module.pytester.run(*COMMAND, "rejudge", "--checks", "iou_match=0.4")
    again.stdout.fnmatch_lines(["2 judged again: 2 match; 2 with another verdict"])
    accepted = module.pytester.run(*COMMAND, "review", "--accept-all", "--reason", "meant")
    assert accepted.ret == 0, accepted.stdout.str() + accepted.stderr.str()
    assert set(module.verdicts().values()) == {"match"}
