"""Building a model and its mode."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_modelreg.domain.errors import ModelError
from pytest_modelreg.observe.model import MAX_TRAINING_MODULES, apply_eval, build_model, evaluating

torch = pytest.importorskip("torch")
nn = torch.nn


def build(factory, **model_args):
    """Build a model by a factory."""
    return build_model(factory, model_args, case="toy[reference]", reference="m:build")


def test_factory_gets_the_model_args():
    """Arguments of the suite file reach the factory by name."""
    assert build(lambda n: nn.Linear(n, 2), n=3).in_features == 3


def test_class_is_a_factory():
    """A module class is called like any factory."""
    assert isinstance(build(nn.Linear, in_features=2, out_features=1), nn.Linear)


def test_module_in_place_of_a_factory_is_refused():
    """Calling it would be a forward pass without input."""
    with pytest.raises(ModelError, match="expected a factory, got a module"):
        build(nn.Linear(1, 1))


@pytest.mark.parametrize("returned", [None, (nn.Identity(), len), "model"])
def test_factory_that_returns_no_callable_is_told_what_it_returned(returned):
    """A tuple of model and transform is a common one."""
    with pytest.raises(ModelError, match=rf"to return a module or a callable, got {type(returned).__name__}"):
        build(lambda: returned)


def test_factory_that_raises_is_told_with_arguments_and_place():
    """The message says how it was called."""

    def broken(depth):
        raise ValueError("depth")

    with pytest.raises(
        ModelError, match=rf"'m:build'.*depth=5.*ValueError: depth.*{Path(__file__).name}:\d+"
    ):
        build(broken, depth=5)


def test_train_mode_is_recorded_before_eval():
    """Which modules were in train mode is a fact; eval is applied."""
    model = nn.Sequential(nn.Linear(1, 1), nn.Dropout())
    model.eval()
    model[1].train()
    mode = apply_eval(model, case="c")
    assert (mode.training_modules, mode.eval_applied, mode.warnings) == (("1",), True, ())
    assert not model[1].training


def test_train_mode_names_are_capped():
    """A deep model does not fill the golden with names."""
    mode = apply_eval(nn.Sequential(*[nn.Identity() for _ in range(50)]), case="c")
    assert len(mode.training_modules) == MAX_TRAINING_MODULES


def test_exported_program_without_eval_is_a_warning():
    """Its mode was settled at export."""

    class Exported(nn.Module):
        def eval(self):
            raise NotImplementedError("Calling eval() is not supported yet.")

    mode = apply_eval(Exported(), case="c")
    assert not mode.eval_applied
    assert "not supported yet" in mode.warnings[0]


def test_eval_that_raises_otherwise_is_an_error():
    """A broken eval() must not pass as eval mode."""

    class Broken(nn.Module):
        def eval(self):
            raise ValueError("no")

    with pytest.raises(ModelError, match="ValueError: no"):
        apply_eval(Broken(), case="c")


def test_flags_are_restored_for_modules_and_others_ignored():
    """Stages of a preprocess may be plain functions."""
    model = nn.Sequential(nn.Dropout(), nn.Dropout())
    model[0].eval()
    with evaluating([model, len, None]):
        model.eval()
    assert [part.training for part in model.modules()] == [True, False, True]
