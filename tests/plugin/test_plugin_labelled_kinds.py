"""Masks, labels and tokens in suites of their own: planted faults are caught and named, noise is a match."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

N_SAMPLES = 6

CODE = """
import numpy as np

PARTING = 4


def read(sample):
    return np.array(sample["seed"])


def hand_over(samples):
    return list(samples)


def ask(model, batch):
    return model(batch)


class Model:
    def __init__(self, answer, change):
        self.answer, self.change = answer, CHANGES[change]

    def __call__(self, batch):
        answers = [self.change(self.answer(np.random.default_rng(int(seed)))) for seed in batch]
        if isinstance(answers[0], dict):
            return [{**answer} for answer in answers]
        return answers if answers[0].ndim == 1 and answers[0].dtype.kind == "i" else np.stack(answers)


def scores(rng):
    centres = rng.uniform(4, 12, (3, 2))
    rows, columns = np.mgrid[:16, :16]
    distance = [np.hypot(rows - row, columns - column) for row, column in centres]
    return (10 - np.stack(distance)).astype(np.float32)


def mask(rng):
    return scores(rng).argmax(0).astype(np.uint8)


def labels(rng):
    return rng.choice([0.05, 0.2, 0.8, 0.95], 6).astype(np.float32)


def tokens(rng):
    return rng.integers(3, 30, 8 + int(rng.integers(0, 5))).astype(np.int64)


def generated(rng):
    chosen = tokens(rng)
    scores = np.zeros((len(chosen), 30), np.float32)
    scores[np.arange(len(chosen)), chosen] = 5.0
    scores[PARTING, (chosen[PARTING] + 1) % 30] = 5.0 - 1e-5
    return {"ids": chosen, "scores": scores}


def part(answer, by):
    ids, scores = answer["ids"].copy(), answer["scores"].copy()
    ids[PARTING] = (ids[PARTING] + by) % 30
    ids, scores = ids[:-2], scores[:-2] + 0
    scores[PARTING + 1 :] += 1.0
    return {"ids": ids, "scores": scores}


def tie(scores, by):
    scores = scores.copy()
    first = scores[:, 0, 0].argmax()
    scores[(first + 1) % 3, 0, 0] = scores[first, 0, 0] + by
    return scores


def flip(scores):
    scores = scores.copy()
    scores[0] = 0.9 if scores[0] < 0.5 else 0.1
    return scores


CHANGES = {
    "none": lambda x: x,
    "noise": lambda x: x * np.float32(1 + 2e-6),
    "moved": lambda x: np.roll(x, 1, -1),
    "swapped": lambda x: x[[1, 0, 2]],
    "shifted-index": lambda x: x + 1,
    "between": lambda x: tie(x, 0.5),
    "flipped": flip,
    "other-token": lambda x: np.where(np.arange(len(x)) == 3, 2, x),
    "cut": lambda x: x[:6],
    "padded-left": lambda x: np.concatenate([[0, 0], x]),
    "near-tie": lambda x: part(x, 1),
    "clear": lambda x: part(x, 2),
}


def build_scores(change="none"):
    return Model(scores, change)


def build_mask(change="none"):
    return Model(mask, change)


def build_labels(change="none"):
    return Model(labels, change)


def build_tokens(change="none"):
    return Model(tokens, change)


def build_generated(change="none"):
    return Model(generated, change)
"""

SUITE = """
modelreg: 1
suite: {name}
samples: {{folder: seeds, loader: json}}
reference:
  model: answering_code:build_{name}
  runtime: callable
  preprocess: answering_code:read
  collate: answering_code:hand_over
  forward: answering_code:ask
  batch_size: 3
outputs: {outputs}
variants:
{variants}
"""

OUTPUTS = {
    "scores": "{mask: {kind: segmentation, labels: [belt, washer, plate]}}",
    "mask": "{mask: {kind: segmentation, labels: [belt, washer, plate]}}",
    "labels": "{labels: {kind: multilabel, labels: [a, b, c, d, e, f]}}",
    "tokens": "{ids: {kind: tokens}}",
    "generated": "{ids: {kind: tokens, logits: scores}}",
}

FAULTS: dict[str, dict[str, str]] = {
    "scores": {
        "moved": "pixels changed, most from",
        "swapped": "pixels changed, most from",
        "between": "1 of 256 pixels changed, most from",
    },
    "mask": {"moved": "pixels changed, most from", "shifted-index": "256 of 256 pixels changed"},
    "labels": {"flipped": "1 of 6 labels changed"},
    "tokens": {
        "other-token": "first difference at 3 of ",
        "cut": "ends after 6 of ",
        "padded-left": "first difference at 0 of ",
    },
    "generated": {"clear": "first difference at 4 of "},
}
BENIGN = {"scores": ("noise",), "labels": ("noise",), "generated": ("near-tie",)}


def run(pytester: pytest.Pytester, *arguments: str) -> dict[str, dict[str, Any]]:
    """Run and return the records of all cases by id."""
    pytester.runpytest_inprocess(
        "--modelreg", "--modelreg-diagnose=off", "--modelreg-json=report.json", *arguments
    )
    document = json.loads((pytester.path / "report.json").read_text(encoding="utf-8"))
    return {case["id"]: case for case in document["cases"]}


def show(pytester: pytest.Pytester, chosen: str, *arguments: str) -> str:
    """Run some cases and return what the terminal shows."""
    result = pytester.runpytest_inprocess("--modelreg", "--modelreg-diagnose=off", "-k", chosen, *arguments)
    return result.stdout.str()


@pytest.fixture
def suites(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A recorded suite a kind, with a variant a change."""
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p no:hypothesispytest")
    pytester.makepyfile(answering_code=CODE)
    folder = pytester.mkdir("seeds")
    table = ["id,file,sha256"]
    for seed in range(N_SAMPLES):
        text = json.dumps({"seed": seed})
        (folder / f"s{seed}.json").write_text(text, encoding="utf-8")
        table.append(f"s{seed},s{seed}.json,{hashlib.sha256(text.encode()).hexdigest()}")
    (folder / "samples.csv").write_text("\n".join(table) + "\n", encoding="utf-8")
    for name, outputs in OUTPUTS.items():
        changes = (*BENIGN.get(name, ()), *FAULTS[name])
        variants = "\n".join(f"  {change}: {{model_args: {{change: {change}}}}}" for change in changes)
        text = SUITE.format(name=name, outputs=outputs, variants=variants)
        (pytester.path / f"{name}.modelreg.yaml").write_text(text, encoding="utf-8")
    recorded = run(pytester, "--modelreg-regen=missing", "-k", "reference")
    assert {case["verdict"] for case in recorded.values()} == {"recorded"}
    return pytester


def test_planted_faults_are_caught_and_named(suites: pytest.Pytester) -> None:
    """Every fault drifts on every sample and says what changed; noise and ties are a match."""
    records = run(suites)
    for name in OUTPUTS:
        for change in ("reference", *BENIGN.get(name, ())):
            case = records[f"{name}[{change}]"]
            assert case["verdict"] == "match", (name, change, case["message"], case["notes"])
        for change, words in FAULTS[name].items():
            case = records[f"{name}[{change}]"]
            assert case["verdict"] == "drift", (name, change)
            assert len(case["drifted_samples"]) == N_SAMPLES, (name, change)
            assert words in show(suites, f"{name} and {change}"), (name, change)


def test_a_tie_is_reported_and_ends_the_comparison(suites: pytest.Pytester) -> None:
    """The sequence goes its own way from there: neither its end nor its scores are held against it."""
    case = run(suites, "-k", "generated and near")["generated[near-tie]"]
    assert all(sample["near_tie"] for sample in case["samples"])
    text = show(suites, "generated and near", "-v")
    assert any("6 near ties" in note for note in case["notes"]), case["notes"]
    assert text.count("near tie") >= 1


def test_share_within_a_written_limit_is_tolerated_and_told(suites: pytest.Pytester) -> None:
    """One pixel of 256 is below 1 %; which samples have one is a note."""
    path = suites.path / "scores.modelreg.yaml"
    text = path.read_text(encoding="utf-8")
    limits = "{rel_l2: off, pixel_agreement: 0.99, miou: 0.95}"
    path.write_text(text + f"checks: {limits}\n", encoding="utf-8")
    records = run(suites, "-k", "scores")
    assert records["scores[between]"]["verdict"] == "match", records["scores[between]"]["message"]
    assert any("6 samples with labels that changed" in note for note in records["scores[between]"]["notes"])
    assert records["scores[moved]"]["verdict"] == "drift"


def test_limit_on_a_mask_replaces_exactness(suites: pytest.Pytester) -> None:
    """Who writes how many pixels may change does not mean none."""
    path = suites.path / "mask.modelreg.yaml"
    text = path.read_text(encoding="utf-8").replace(
        "plate]}", "plate], checks: {pixel_agreement: 0.5, miou: off}}"
    )
    path.write_text(text, encoding="utf-8")
    records = run(suites, "-k", "mask and (moved or shifted)")
    assert records["mask[moved]"]["verdict"] == "match", records["mask[moved]"]["message"]
    assert records["mask[shifted-index]"]["verdict"] == "drift"


def test_goldens_read_well(suites: pytest.Pytester) -> None:
    """Areas of classes, labels that are on, the first tokens with a digest of all."""
    heads = {
        "scores": "id,mask.most,mask.second",
        "labels": "id,labels.on,labels.labels,labels.highest",
        "tokens": "id,ids.tokens,ids.first,ids.digest",
    }
    for name, head in heads.items():
        table = (suites.path / f"golden/{name}/reference/summary.csv").read_text(encoding="utf-8")
        assert table.splitlines()[0] == head
        assert len(table.splitlines()) == N_SAMPLES + 1


def test_scores_that_are_no_probabilities_need_a_threshold(suites: pytest.Pytester) -> None:
    """Labels read off at 0.5 of a logit would be believed."""
    code = suites.path / "answering_code.py"
    text = code.read_text(encoding="utf-8")
    code.write_text(text.replace("[0.05, 0.2, 0.8, 0.95]", "[-3.0, -0.2, 0.8, 4.0]"), encoding="utf-8")
    arguments = ("--modelreg-regen=all", "--modelreg-reason=logits", "-k", "labels and reference")
    case = run(suites, *arguments)["labels[reference]"]
    assert case["verdict"] == "error"
    assert "write `threshold: 0` for logits" in case["message"]
    path = suites.path / "labels.modelreg.yaml"
    text = path.read_text(encoding="utf-8").replace("kind: multilabel", "kind: multilabel, threshold: 0")
    path.write_text(text, encoding="utf-8")
    assert run(suites, *arguments)["labels[reference]"]["verdict"] == "recorded"


def test_floating_tokens_are_refused(suites: pytest.Pytester) -> None:
    """Exactness of floating numbers is nobody's wish."""
    code = suites.path / "answering_code.py"
    text = code.read_text(encoding="utf-8")
    code.write_text(text.replace("int(rng.integers(0, 5))).astype(np.int64)", "1).astype(np.float32)"))
    case = run(suites, "--modelreg-regen=all", "--modelreg-reason=floats", "-k", "tokens and reference")[
        "tokens[reference]"
    ]
    assert case["verdict"] == "error"
    assert "tokens: expected whole numbers, got float32" in case["message"]
