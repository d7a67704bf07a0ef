"""From factory to runtime: the transform, models that a runtime brings, findings."""

from __future__ import annotations

import numpy as np
import pytest

from pytest_modelreg.domain.case import CheckpointRef, RuntimeSpec
from pytest_modelreg.domain.errors import ImportReferenceError, ModelError
from pytest_modelreg.domain.observation import RuntimeFinding
from pytest_modelreg.runtimes.eager import EagerRunner, EagerRuntime

FINDING = RuntimeFinding(subject="input x", what="axis 0", expected="dynamic", actual="2")


def transformed(case, body: str, **changes):
    """Observe the case with a transform of this body."""
    case.write("deploy.py", f"import torch\n\ndef transform(model):\n    {body}\n")
    return case.observe(runtime=RuntimeSpec(transform="deploy:transform"), **changes)


def test_transform_gets_the_loaded_model_in_eval_mode(torch_case):
    """Quantising and fusing need eval mode; what it returns is what runs."""
    plain = torch_case.observe()
    expected = np.stack(torch_case.rows(plain, "output"))
    body = "assert not model.training\n    return lambda x: model(x) * 2"
    observation = transformed(torch_case, body)
    np.testing.assert_array_equal(np.stack(torch_case.rows(observation, "output")), 2 * expected)
    assert observation.weights_digest == plain.weights_digest
    assert observation.training_modules == plain.training_modules


def test_what_transform_returns_is_put_in_eval(torch_case):
    """A wrapper starts in train mode: a dropout in it would be random."""
    body = "return torch.nn.Sequential(model, torch.nn.Dropout(0.5))"
    plain = torch_case.observe()
    observation = transformed(torch_case, body)
    assert observation.outputs["output"].values.sha256 == plain.outputs["output"].values.sha256


@pytest.mark.parametrize("body", ["model.eval()", "return 3", "return (model, None)"])
def test_transform_that_returns_no_model_is_an_error(torch_case, body):
    """A forgotten return, a number, a tuple."""
    with pytest.raises(ModelError, match=r"toy\[reference\]: transform 'deploy:transform'"):
        transformed(torch_case, body)


def test_transform_that_raises_names_the_line(torch_case):
    """The user finds it in their own file."""
    with pytest.raises(ModelError, match=r"transform.*ValueError: no.*deploy.py:4"):
        transformed(torch_case, "raise ValueError('no')")


def test_transform_that_does_not_exist_is_told_with_other_references(torch_case):
    """All references at once."""
    with pytest.raises(ImportReferenceError, match="transform: 'deploy:transform'"):
        torch_case.observe(runtime=RuntimeSpec(transform="deploy:transform"))


class OwnModel(EagerRuntime):
    """A runtime that brings its own model."""

    name = "own"
    needs_model = False

    def open(self, model, request):
        """Open its own model."""
        assert model is None
        return FindingRunner(lambda x: x, lambda model, batch: model(batch))


class FindingRunner(EagerRunner):
    """A runner with something to say."""

    def findings(self):
        """Return one finding."""
        return (FINDING,)


@pytest.fixture
def own_model(monkeypatch):
    """Make every case run by the runtime that brings its own model."""
    monkeypatch.setattr("pytest_modelreg.observe.case.find_runtime", lambda kind, options: OwnModel())


@pytest.mark.usefixtures("own_model")
def test_factory_is_not_called_nor_checkpoint_opened_for_a_model_of_its_own(toy_case):
    """The module of the factory is not even imported."""
    toy_case.write("model.py", "raise RuntimeError('imported')\n")
    checkpoint = CheckpointRef(path=str(toy_case.root / "absent.pt"))
    observation = toy_case.observe(checkpoint=checkpoint)
    assert observation.weights_digest is None
    assert observation.runtime_findings == (FINDING,)
    assert toy_case.observe(model=None).outputs == observation.outputs


@pytest.mark.usefixtures("own_model")
def test_a_variant_cannot_give_a_model_of_its_own_other_weights(toy_case):
    """Planted fault: a checkpoint that is never opened would be green; ``off`` asks for nothing."""
    axes = {"checkpoint": "absent.pt", "model_args": {"size": 2}, "runtime": "own"}
    with pytest.raises(ModelError, match=r"model_args, checkpoint: runtime .* brings its own model"):
        toy_case.observe(axes=axes)
    assert toy_case.observe(axes={"checkpoint": "off", "dtype": "float16"}).outputs


@pytest.mark.usefixtures("own_model")
def test_a_model_of_its_own_cannot_be_transformed(toy_case):
    """Ignoring it would be green for nothing."""
    toy_case.write("deploy.py", "def transform(model):\n    return model\n")
    with pytest.raises(ModelError, match="brings its own model"):
        toy_case.observe(runtime=RuntimeSpec(kind="own", transform="deploy:transform"))


@pytest.mark.usefixtures("own_model")
def test_tensors_are_made_where_the_suite_uses_torch(toy_case):
    """Preprocessing that imports torch feeds tensors, whoever runs the model."""
    torch = pytest.importorskip("torch")
    toy_case.write("prep.py", "import torch\n\ndef prepare(x):\n    return {'x': x, 'n': 3}\n")
    toy_case.write(
        "glue.py",
        """
        import torch

        def collate(samples):
            assert torch.is_tensor(samples[0]["n"])
            return samples[0]["x"][None].expand(len(samples), 3)
        """,
    )
    toy_case.observe(preprocess="prep:prepare", collate="glue:collate")
    assert torch.tensor(3).dtype == torch.int64


def test_a_runner_that_knows_no_findings_is_asked_none(toy_case, monkeypatch):
    """Published runtimes keep working."""

    class Old:
        name = "old"

        def open(self, model, request):
            return EagerRuntime().open(model, request)

    monkeypatch.setattr("pytest_modelreg.observe.case.find_runtime", lambda kind, options: Old())
    assert toy_case.observe().runtime_findings == ()


def test_runner_is_closed_when_a_pass_fails(toy_case, monkeypatch):
    """What a runtime holds is released, also after an error."""
    closed = []
    monkeypatch.setattr(EagerRunner, "close", lambda self: closed.append(self))
    toy_case.write("model.py", "def build():\n    return lambda x: 1 / 0\n")
    with pytest.raises(ModelError, match="ZeroDivisionError"):
        toy_case.observe()
    assert len(closed) == 1
