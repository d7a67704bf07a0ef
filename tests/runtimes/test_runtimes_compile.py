"""The runtime compile: options, failures, and what it leaves behind."""

from __future__ import annotations

import pytest

from pytest_modelreg.domain.errors import ExportError, RuntimeUnavailable

torch = pytest.importorskip("torch")
pytest.importorskip("torch._dynamo")


class Branching(torch.nn.Module):
    """Branches on values, one module down."""

    class Inner(torch.nn.Module):
        """The module that is named."""

        def forward(self, x):
            """Branch."""
            if x.sum() > 0:
                return x + 1
            return x - 1

    def __init__(self):
        super().__init__()
        self.head = self.Inner()

    def forward(self, x):
        """Pass on."""
        return self.head(x)


def broken_backend(graph, inputs):
    """Fail, as a backend does on an operator that it does not have."""
    raise NotImplementedError("no kernel for torch.ops.aten.addmm.default")


def counting_backend(graph, inputs):
    """Run the graph as it is."""
    BUILT.append(len(inputs))
    return graph.forward


BUILT: list[int] = []


def test_nothing_is_compiled_before_the_first_call(open_runner):
    """A case that fails earlier must not have waited."""
    BUILT.clear()
    resolve = {"mine.backends:count": counting_backend}.get
    runner = open_runner(
        "compile", torch.nn.Linear(2, 2), options={"backend": "mine.backends:count"}, resolve=resolve
    )
    assert BUILT == []
    runner(torch.ones(3, 2))
    assert len(BUILT) == 1
    assert runner.findings() == ()


def test_facts_say_what_is_torchs_default(open_runner):
    """Two cases with other options have other facts."""
    facts = open_runner("compile", torch.nn.Linear(2, 2)).facts()
    assert facts == {
        "kind": "compile",
        "backend": "inductor",
        "mode": "default",
        "fullgraph": False,
        "dynamic": None,
    }


def test_what_cannot_compile_names_operator_and_module(open_runner):
    """Planted fault: data-dependent control flow where one graph is asked for."""
    runner = open_runner("compile", Branching(), options={"backend": "eager", "fullgraph": True})
    with pytest.raises(ExportError) as caught:
        runner(torch.ones(2, 2))
    told = str(caught.value)
    assert "toy[variant]: runtime 'compile': the model cannot be compiled" in told
    assert "in module head (Inner)" in told
    assert "test_runtimes_compile.py:" in told


def test_a_backend_that_fails_names_the_operator(open_runner):
    """Planted fault: an operator that the backend does not have."""
    resolve = {"mine:broken": broken_backend}.get
    runner = open_runner(
        "compile", torch.nn.Linear(2, 2), options={"backend": "mine:broken"}, resolve=resolve
    )
    with pytest.raises(ExportError, match=r"NotImplementedError.*operator aten\.addmm\.default"):
        runner(torch.ones(2, 2))


def test_errors_of_the_model_itself_pass_through(open_runner):
    """They are told as the forward pass's."""

    def run(x):
        torch._dynamo.graph_break()
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        open_runner("compile", run, options={"backend": "eager"})(torch.ones(2))


def test_a_graph_break_is_no_failure(open_runner):
    """Just inside: torch runs what it cannot trace as Python."""
    runner = open_runner("compile", Branching(), options={"backend": "eager"})
    assert torch.equal(runner(torch.ones(2, 2)), torch.ones(2, 2) + 1)
    assert torch.equal(runner(-torch.ones(2, 2)), -torch.ones(2, 2) - 1)
    assert runner.findings() == ()


def test_a_model_of_which_nothing_is_compiled_is_found(open_runner):
    """Planted fault: it would be green with eager compared with eager."""
    model = torch.nn.Linear(2, 2)
    model.forward = torch._dynamo.disable(model.forward)
    runner = open_runner("compile", model, options={"backend": "eager"})
    runner(torch.ones(2, 2))
    (finding,) = runner.findings()
    assert (finding.subject, finding.what) == ("model", "compiled graphs")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"backend": "inducto"}, r"got 'inducto' \(did you mean inductor\?\)"),
        ({"mode": "fast"}, "mode: expected one of default"),
        ({"backend": "eager", "opset": 3}, r"expected backend, dynamic, fullgraph, mode, got 'opset'"),
    ],
)
def test_wrong_options_are_refused_when_opening(open_runner, options, said):
    """With the nearest name."""
    with pytest.raises(RuntimeUnavailable, match=said):
        open_runner("compile", torch.nn.Linear(2, 2), options=options)


def test_closing_forgets_what_was_compiled(open_runner):
    """The next case compiles its own."""
    BUILT.clear()
    resolve = {"mine:count": counting_backend}.get
    model = torch.nn.Linear(2, 2)
    for _ in range(2):
        runner = open_runner("compile", model, options={"backend": "mine:count"}, resolve=resolve)
        runner(torch.ones(3, 2))
        runner.close()
    assert len(BUILT) == 2


def test_another_batch_size_runs(open_runner):
    """The last batch is shorter."""
    model = torch.nn.Linear(2, 2)
    for dynamic in (True, False):
        runner = open_runner("compile", model, options={"backend": "aot_eager", "dynamic": dynamic})
        for size in (4, 3, 1):
            torch.testing.assert_close(runner(torch.ones(size, 2)), model(torch.ones(size, 2)))


@pytest.mark.full
def test_generated_code_computes_the_same(open_runner):
    """The default backend, on a network with every usual layer."""
    model = torch.nn.Sequential(
        torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.GELU(), torch.nn.Flatten()
    ).eval()
    batch = torch.randn(2, 3, 8, 8)
    torch.testing.assert_close(open_runner("compile", model)(batch), model(batch), rtol=1e-4, atol=1e-5)
