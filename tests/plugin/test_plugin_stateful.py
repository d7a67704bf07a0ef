"""Models with a state, fed chunk by chunk through ``forward``: right when every sample begins anew."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

MODEL = """
import torch

CHUNK = 8


class Detector(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.head = torch.nn.GRUCell(CHUNK, 6), torch.nn.Linear(6, 1)
        self.register_buffer("state", torch.zeros(1, 6))

    def forward(self, chunk, state):
        state = self.cell(chunk, state)
        return torch.sigmoid(self.head(state)), state


def build():
    torch.manual_seed(0)
    return Detector()


def follow(model, batch):
    state = batch.new_zeros(len(batch), 6)
    answers = []
    for chunk in batch.split(CHUNK, dim=1):
        answer, state = model(chunk, state)
        answers.append(answer)
    return torch.cat(answers, dim=1)


def follow_without_end(model, batch):
    state = model.state if len(model.state) == len(batch) else batch.new_zeros(len(batch), 6)
    answers = []
    for chunk in batch.split(CHUNK, dim=1):
        answer, state = model(chunk, state)
        answers.append(answer)
    model.state = state
    return torch.cat(answers, dim=1)


KEPT = []


def follow_from_anywhere(model, batch):
    state = KEPT[-1][: len(batch)] if KEPT and len(KEPT[-1]) >= len(batch) else batch.new_zeros(len(batch), 6)
    answers = []
    for chunk in batch.split(CHUNK, dim=1):
        answer, state = model(chunk, state)
        answers.append(answer)
    KEPT.append(state)
    return torch.cat(answers, dim=1)
"""

SUITE = """
modelreg: 1
suite: voice
samples: {file: clips.jsonl, id: clip, input: wave}
reference: {model: voice:build, preprocess: voice_data:prepare, forward: "voice:follow", batch_size: 4}
variants:
  alone: {batch_size: 1}
  fives: {batch_size: 5}
  traced: {runtime: torchscript}
"""


@pytest.fixture
def voice(project):
    """A project with a stateful model, not yet recorded."""
    project.write("voice.py", MODEL)
    project.write(
        "voice_data.py",
        "import torch\n\n\ndef prepare(wave):\n    return torch.tensor(wave, dtype=torch.float32)\n",
    )
    lines = []
    for index in range(8):
        wave = [round(((index + 2) * 37 * step % 101) / 50 - 1, 3) for step in range(32)]
        lines.append(f'{{"clip": "k{index}", "wave": {wave}}}\n')
    project.write("clips.jsonl", "".join(lines))
    project.write("modelreg.yaml", SUITE)
    assert project.modelreg("pin", "clips.jsonl", "--id", "clip").ret == 0
    return project


def record(project):
    """Record the reference."""
    assert project.pytest("--modelreg-regen=missing", "-k", "reference").ret == 0


def test_a_state_that_begins_anew_depends_on_no_batch(voice):
    """In batches of any size, and traced: the runtime runs the step, the suite's forward the steps."""
    record(voice)
    cases = voice.report()["cases"]
    assert {case["variant"]: case["verdict"] for case in cases} == dict.fromkeys(
        ("reference", "alone", "fives", "traced"), "match"
    )


@pytest.mark.parametrize("fault", ["follow_without_end", "follow_from_anywhere"])
def test_a_state_that_is_kept_is_found(voice, fault):
    """Planted fault: the next batch begins with what the last one left, in the model or beside it."""
    record(voice)
    voice.edit("modelreg.yaml", "voice:follow", f"voice:{fault}")
    case = next(case for case in voice.report("-k", "reference")["cases"])
    assert case["verdict"] == "drift"
    assert case["causes"][0]["cause"] == "nondeterminism"
    assert "run again on the same inputs with the same seeds" in case["causes"][0]["summary"]
    if fault == "follow_without_end":
        assert "a forward pass changes state" in case["causes"][0]["summary"]


def test_a_state_that_was_kept_when_recording_is_found_by_another_batch_size(voice):
    """Planted fault: golden and run share it, so that only the order of samples tells."""
    voice.edit("modelreg.yaml", "voice:follow", "voice:follow_without_end")
    record(voice)
    cases = {case["variant"]: case for case in voice.report("-k", "reference or alone")["cases"]}
    assert cases["reference"]["verdict"] == "match"
    assert cases["alone"]["verdict"] == "drift"
    first = cases["alone"]["causes"][0]
    assert first["cause"] == "nondeterminism"
    assert "and so did the golden's" in first["summary"]
