"""A forward pass that raises on inputs of another form: a drift that names them, and nothing to accept."""

from __future__ import annotations

import numpy as np
import pytest

from pytest_modelreg.domain.cause import Cause
from pytest_modelreg.domain.verdict import Verdict
from pytest_modelreg.engine.regeneration import Regeneration
from pytest_modelreg.engine.run import open_run_folder
from pytest_modelreg.engine.session import Session
from pytest_modelreg.engine.suite_loading import load_suite
from pytest_modelreg.store import pin

SUITE = """
modelreg: 1
suite: tiles
samples: {folder: tiles, loader: array}
reference: {model: "net:build", preprocess: "net:chw", batch_size: 2}
variants:
"""
NET = """
import numpy as np, torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Conv2d(3, 4, 3)

    def forward(self, x):
        if x.shape[-1] == 9:
            raise ValueError("odd width")
        return self.first(x).mean((2, 3))

def build():
    return Net()

def chw(x):
    return torch.from_numpy(x).permute(2, 0, 1).float() / 255

def hwc(x):
    return torch.from_numpy(x).float() / 255

def with_axis(x):
    return chw(x)[None]

def float64(x):
    return chw(x).double()

def float16(x):
    return chw(x).half()

def larger(x):
    return torch.nn.functional.pad(chw(x), (1, 1, 1, 1))

def odd_for_one(x):
    return torch.nn.functional.pad(chw(x), (0, 1)) if x[0, 0, 0] == 1 else chw(x)

def forgetful(x):
    raise KeyError("mean")
"""


class Project:
    """A suite over four tiles, with a golden of its reference."""

    def __init__(self, path):
        self.path = path
        (path / "tiles").mkdir()
        for number in range(4):
            np.save(path / f"tiles/{number}.npy", np.full((8, 8, 3), number, np.uint8))
        pin(path / "tiles", update=False)
        (path / "net.py").write_text(NET)
        self.n_runs = 0
        self.run("larger: {preprocess: 'net:larger'}", "reference", Regeneration(mode="missing"))

    def run(self, variant, name, regeneration=None):
        """Return the outcome of one case of a suite with one variant."""
        (self.path / "modelreg.yaml").write_text(f"{SUITE}  {variant}\n")
        suite = load_suite(self.path / "modelreg.yaml", rootdir=self.path)
        self.n_runs += 1
        session = Session(run_folder=open_run_folder(self.path, f"r{self.n_runs}"), regeneration=regeneration)
        (case,) = [case for case in suite.cases if case.variant == name]
        try:
            return session.conclude(session.run_case(suite, case))
        finally:
            session.close()


@pytest.fixture
def project(tmp_path):
    """Return a project with a golden."""
    pytest.importorskip("torch")
    return Project(tmp_path)


@pytest.mark.parametrize(
    ("preprocess", "form", "cause"),
    [
        ("hwc", "float32 8 x 8 x 3", Cause.PREPROCESS_LAYOUT),
        ("with_axis", "float32 1 x 3 x 8 x 8", Cause.PREPROCESS_OTHER),
        ("float64", "float64 3 x 8 x 8", Cause.PREPROCESS_OTHER),
        ("float16", "float16 3 x 8 x 8", Cause.PREPROCESS_OTHER),
    ],
)
def test_inputs_of_another_form_are_a_drift(project, preprocess, form, cause):
    """Whoever forgot a permutation reads of axes first, and of a framework's complaint afterwards."""
    result = project.run(f"v: {{preprocess: 'net:{preprocess}'}}", "v").result
    assert result.verdict is Verdict.DRIFT
    assert f"inputs: expected float32 3 x 8 x 8, got {form} in 4 of 4 samples" in result.message
    assert "the model gives no answer to them: " in result.message
    assert [str(finding) for finding in result.structure] == [
        f"inputs: form: expected float32 3 x 8 x 8, got {form}"
    ]
    assert result.drifted_samples == ("0", "1", "2", "3")
    assert "the batch was" in result.details
    assert result.inputs_identical is False
    assert [found.cause for found in result.causes] == [cause]
    if preprocess != "with_axis":  # of one axis more, nobody knows which is which
        assert any(note.startswith("preprocessing checklist: ") for note in result.notes)


def test_there_is_nothing_to_accept(project):
    """Nothing was observed: no command, and a regeneration leaves the golden and says why."""
    (project.path / "net.py").write_text(NET.replace("def chw", "def old").replace("def hwc", "def chw"))
    golden = project.path / "golden/tiles/reference/golden.json"
    before = golden.read_bytes()
    outcome = project.run("v: {preprocess: 'net:hwc'}", "reference")
    assert (outcome.result.verdict, outcome.result.command) == (Verdict.DRIFT, "")
    regeneration = Regeneration(mode="changed", reason="try")
    result = project.run("v: {preprocess: 'net:hwc'}", "reference", regeneration).result
    assert result.verdict is Verdict.ERROR
    assert "expected answers to accept, got none: inputs: expected float32 3 x 8 x 8" in result.message
    assert golden.read_bytes() == before


def test_only_samples_of_another_form_drift(project):
    """One photo of another size in a batch: it is named, the others are not."""
    result = project.run("v: {preprocess: 'net:odd_for_one', batch_size: 1}", "v").result
    assert result.verdict is Verdict.DRIFT
    assert result.drifted_samples == ("1",)
    assert "got float32 3 x 8 x 9 in 1 of 4 samples" in result.message


def test_a_model_that_takes_any_size_is_judged_by_its_answers(project):
    """Just inside: another form that is answered is no matter of forms."""
    result = project.run("v: {preprocess: 'net:larger', checks: {rel_l2: 1000}}", "v").result
    assert result.verdict is Verdict.MATCH


def test_a_failure_that_forms_do_not_explain_stays_an_error(project):
    """Inputs as they were, and a model that breaks: its batch is told, for the next look."""
    (project.path / "net.py").write_text(NET.replace("== 9", "== 8"))
    result = project.run("v: {preprocess: 'net:hwc'}", "reference").result
    assert result.verdict is Verdict.ERROR
    assert "ValueError: odd width" in result.message
    assert "the batch was float32 2 x 3 x 8 x 8" in result.message


def test_a_preprocess_that_raises_stays_an_error(project):
    """There are no inputs to speak of."""
    result = project.run("v: {preprocess: 'net:forgetful'}", "v").result
    assert result.verdict is Verdict.ERROR
    assert "KeyError: 'mean'" in result.message
