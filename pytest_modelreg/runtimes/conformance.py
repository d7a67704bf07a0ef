"""What every runtime must hold, as a test class to subclass.

In the tests of a package that publishes a runtime::

    from pytest_modelreg.runtimes.conformance import RuntimeConformance

    class TestTvmRuntime(RuntimeConformance):
        def make_runtime(self):
            return TvmRuntime()

pytest collects the subclass; nothing here imports pytest. Every test builds a small
torch model, opens it, and holds what comes out against the model itself. Override
:meth:`~RuntimeConformance.options` for the options to open with,
:meth:`~RuntimeConformance.make_options` where they depend on the model (a file made of
it), :meth:`~RuntimeConformance.adapt_model` for a runtime of other models than torch's, and
the class attributes for what a runtime cannot do. To add a rule of the port,
add a test method here.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from dataclasses import replace
from typing import Any, ClassVar

from pytest_modelreg.domain.errors import RuntimeUnavailable
from pytest_modelreg.domain.observation import RuntimeFinding
from pytest_modelreg.runtimes.calling import call_model
from pytest_modelreg.runtimes.graph.structure import describe_structure, list_places
from pytest_modelreg.runtimes.port import Runner, RunRequest, Runtime

_BATCH_SIZE = 4


class RuntimeConformance:
    """Tests of one runtime.

    Attributes
    ----------
    tolerance : float
        Largest absolute difference from the model itself, on numbers of size 1.
    restores_structure : bool
        False for a runtime that names outputs in its own way: then values are compared in
        order, and nesting is not.
    refuses_unknown_options : bool
        False for a runtime that hands its options on unchecked.
    """

    tolerance: ClassVar[float] = 1e-5
    restores_structure: ClassVar[bool] = True
    refuses_unknown_options: ClassVar[bool] = True

    def make_runtime(self) -> Runtime:
        """Return the runtime under test."""
        raise AssertionError(f"{type(self).__name__} must override make_runtime()")

    def options(self) -> Mapping[str, Any]:
        """Return the options to open with, as a suite file has them."""
        return {}

    def make_options(self, model: Any, batch: Any) -> Mapping[str, Any]:
        """Return the options for a model; :meth:`options` unless overridden."""
        return self.options()

    def adapt_model(self, model: Any) -> Any:
        """Return what the runtime is given for a torch model: itself unless overridden."""
        return model

    @contextmanager
    def opened(self, model: Any, batch: Any, **fields: Any) -> Iterator[Runner]:
        """Open a model as a case does, and close it again."""
        request = RunRequest(case="conformance[runtime]", options=self.make_options(model, batch))
        runtime = self.make_runtime()
        needs_model = getattr(runtime, "needs_model", True)
        runner = runtime.open(self.adapt_model(model) if needs_model else None, replace(request, **fields))
        try:
            yield runner
        finally:
            runner.close()

    def test_the_runtime_has_a_name(self) -> None:
        """Messages and facts call it by what a suite's ``runtime`` says."""
        name = self.make_runtime().name
        assert isinstance(name, str)
        assert name

    def test_a_tensor_is_the_only_argument(self) -> None:
        """What comes out is what the model itself gives."""
        model, batch = _make_model(lambda linear, x: linear(x)), _make_batch()
        with self.opened(model, batch) as runner:
            self.compare(model, batch, runner(batch))

    def test_a_mapping_becomes_keyword_arguments(self) -> None:
        """Also where its order is not that of the parameters."""
        model = _make_model(lambda linear, left, right: linear(left) - right)
        batch = {"right": _make_batch(seed=1), "left": _make_batch()}
        with self.opened(model, batch) as runner:
            self.compare(model, batch, runner(batch))

    def test_a_tuple_becomes_positional_arguments(self) -> None:
        """In order."""
        model = _make_model(lambda linear, left, right: linear(left) - right)
        batch = (_make_batch(), _make_batch(seed=1))
        with self.opened(model, batch) as runner:
            self.compare(model, batch, runner(batch))

    def test_a_structure_is_returned_as_the_model_returns_it(self) -> None:
        """Output paths must be the same whatever runs the model."""
        model = _make_model(lambda linear, x: {"logits": linear(x), "more": [x + 1, (x.sum(1),)]})
        batch = _make_batch()
        with self.opened(model, batch) as runner:
            self.compare(model, batch, runner(batch))

    def test_batches_may_be_of_another_size(self) -> None:
        """The last batch of a sample set is shorter, down to one sample."""
        model, batch = _make_model(lambda linear, x: linear(x)), _make_batch()
        with self.opened(model, batch) as runner:
            runner(batch)
            for size in (_BATCH_SIZE - 1, 1, _BATCH_SIZE + 1):
                other = _make_batch(size, seed=size)
                self.compare(model, other, runner(other))

    def test_a_first_batch_of_one_freezes_nothing(self) -> None:
        """Where the runtime learns from its first batch, one sample must be enough."""
        model = _make_model(lambda linear, x: linear(x))
        with self.opened(model, _make_batch(1)) as runner:
            runner(_make_batch(1))
            self.compare(model, _make_batch(), runner(_make_batch()))

    def test_a_healthy_model_has_no_findings(self) -> None:
        """A tool that cries wolf is switched off."""
        model, batch = _make_model(lambda linear, x: linear(x)), _make_batch()
        with self.opened(model, batch) as runner:
            runner(batch)
            findings: tuple[RuntimeFinding, ...] = getattr(runner, "findings", tuple)()
            assert all(isinstance(finding, RuntimeFinding) for finding in findings)
            assert tuple(findings) == ()

    def test_the_suites_forward_is_used(self) -> None:
        """It gets something to call as the model, and the batch as collated."""
        model, batch = _make_model(lambda linear, x: linear(x)), _make_batch()

        def forward(called: Callable[..., Any], given: Any) -> Any:
            return called(given["image"])

        with self.opened(model, batch, forward=forward) as runner:
            self.compare(model, batch, runner({"image": batch, "name": "unused"}))

    def test_runs_are_repeatable(self) -> None:
        """The same batch gives the same bits."""
        model, batch = _make_model(lambda linear, x: linear(x)), _make_batch()
        with self.opened(model, batch) as runner:
            first, again = runner(batch), runner(batch)
            assert _list_values(first)[0].equal(_list_values(again)[0])

    def test_inputs_and_model_are_left_alone(self) -> None:
        """Neither the batch nor weights nor modes are other ones afterwards."""
        import torch

        model, batch = _make_model(lambda linear, x: linear(x)), _make_batch()
        before = {name: value.clone() for name, value in model.state_dict().items()}
        given, modes = batch.clone(), [part.training for part in model.modules()]
        with self.opened(model, batch) as runner:
            runner(batch)
        assert torch.equal(batch, given)
        assert modes == [part.training for part in model.modules()]
        assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())

    def test_no_gradients_are_recorded(self) -> None:
        """And the caller's own mode is as before."""
        import torch

        model, batch = _make_model(lambda linear, x: linear(x)), _make_batch()
        with self.opened(model, batch) as runner:
            values = _list_values(runner(batch))
        assert not any(getattr(value, "requires_grad", False) for value in values)
        assert torch.is_grad_enabled()
        assert not torch.is_inference_mode_enabled()

    def test_nothing_is_printed(self) -> None:
        """A test run's output belongs to pytest."""
        model, batch = _make_model(lambda linear, x: linear(x)), _make_batch()
        printed = io.StringIO()
        with redirect_stdout(printed), self.opened(model, batch) as runner:
            runner(batch)
        assert printed.getvalue() == ""

    def test_facts_are_scalars(self) -> None:
        """The fingerprint records them as ``runtime.<key>``, before and after the first batch."""
        model, batch = _make_model(lambda linear, x: linear(x)), _make_batch()
        with self.opened(model, batch) as runner:
            _check_facts(runner.facts())
            runner(batch)
            _check_facts(runner.facts())

    def test_closing_needs_no_batch(self) -> None:
        """A case that fails before its first batch is closed too."""
        model, batch = _make_model(lambda linear, x: linear(x)), _make_batch()
        with self.opened(model, batch):
            pass

    def test_an_unknown_option_is_refused(self) -> None:
        """An option that does nothing is refused, never ignored."""
        if not self.refuses_unknown_options:
            return
        model, batch = _make_model(lambda linear, x: linear(x)), _make_batch()
        options = {**self.make_options(model, batch), "no_such_option": 1}
        refused = ""
        try:
            with self.opened(model, batch, options=options):
                pass
        except RuntimeUnavailable as error:
            refused = str(error)
        assert "no_such_option" in refused

    def test_a_dtype_is_computed_in_or_refused(self) -> None:
        """Limits are those of the declared dtype. Only a runtime with its own model can forget it."""
        if getattr(self.make_runtime(), "needs_model", True):
            return
        model, batch = _make_model(lambda linear, x: linear(x)), _make_batch()
        try:
            with self.opened(model, batch, dtype="float16") as runner:
                (returned,) = _list_values(runner(batch))
        except RuntimeUnavailable:
            return
        (expected,) = _list_values(model(batch))
        is_rounded = float((returned - expected.detach()).abs().max()) > self.tolerance
        assert str(returned.dtype) == "torch.float16" or is_rounded

    def compare(self, model: Any, batch: Any, actual: Any) -> None:
        """Hold what a runner returned against what the model itself does."""
        import torch

        with torch.inference_mode():
            expected = call_model(model, batch)
        if self.restores_structure:
            assert describe_structure(actual) == describe_structure(expected)
        pairs = list(zip(_list_values(expected), _list_values(actual), strict=True))
        assert pairs
        for wanted, got in pairs:
            assert got.shape == wanted.shape
            assert got.dtype == wanted.dtype
            assert float((got.detach() - wanted).abs().max()) <= self.tolerance


def _make_model(run: Callable[..., Any]) -> Any:
    """Return a module in eval mode whose forward has the parameters of ``run`` behind the first."""
    import inspect

    import torch

    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = torch.nn.Linear(3, 3)

        def forward(self, *args: Any, **kwargs: Any) -> Any:
            return run(self.linear, *args, **kwargs)

    torch_state = torch.random.get_rng_state()
    torch.default_generator.manual_seed(7)
    model = Model().eval()
    torch.random.set_rng_state(torch_state)
    parameters = list(inspect.signature(run).parameters.values())[1:]
    own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    Model.forward.__signature__ = inspect.Signature([own, *parameters])  # type: ignore[attr-defined]
    return model


def _make_batch(size: int = _BATCH_SIZE, *, seed: int = 0) -> Any:
    """Return float32 of axes (sample, feature)."""
    import torch

    return torch.randn(size, 3, generator=torch.Generator().manual_seed(seed))


def _list_values(returned: Any) -> list[Any]:
    import torch

    return [torch.as_tensor(place.value) for place in list_places(returned)]


def _check_facts(facts: Mapping[str, Any]) -> None:
    assert facts
    for key, value in facts.items():
        assert isinstance(key, str)
        assert value is None or isinstance(value, (str, int, float, bool)), key
