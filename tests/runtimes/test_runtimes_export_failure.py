"""What a failed export is told as: operator, module and line, without the framework's advice."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_modelreg.runtimes.export_failure import describe_failure, find_operator, summarise

torch = pytest.importorskip("torch")


class Failing(torch.nn.Module):
    """Raises in its forward."""

    def forward(self, x):
        """Fail."""
        raise ValueError("cannot go on with torch.ops.mylib.foo.default(x)")


class Outer(torch.nn.Module):
    """Has two of them."""

    def __init__(self):
        super().__init__()
        self.body = torch.nn.Sequential(torch.nn.Identity(), Failing())
        self.other = Failing()

    def forward(self, x):
        """Pass on."""
        return self.body(x)


def catch(model):
    """Return what a model raises, as an exporter re-raises it."""
    try:
        try:
            model(torch.ones(1))
        except ValueError as error:
            raise RuntimeError("export failed, see https://example.org") from error
    except RuntimeError as error:
        return error


def test_the_innermost_module_is_named_by_the_frames():
    """Of two modules of one class, the one that was running; what was raised first is told."""
    model = Outer()
    told = describe_failure(catch(model), model)
    assert told.startswith("ValueError: cannot go on")
    assert "operator mylib.foo.default" in told
    assert "in module body.1 (Failing)" in told


def test_a_module_is_named_by_the_lines_of_a_message():
    """A tracer reads code without running it; where two modules share it, both are named."""
    line = Failing.forward.__code__.co_firstlineno + 2
    error = RuntimeError(f'no\n\nfrom user code:\n   File "{__file__}", line {line}, in forward')
    told = describe_failure(error, Outer())
    assert "in module body.1 (or other)" in told
    assert told.endswith(f"at test_runtimes_export_failure.py:{line}")


def test_nothing_is_named_that_is_not_known():
    """An error from elsewhere, and no model."""
    assert describe_failure(RuntimeError("no"), Outer()) == "RuntimeError: no"
    assert describe_failure(RuntimeError("no")) == "RuntimeError: no"


@pytest.mark.parametrize(
    ("message", "operator"),
    [
        ("call_function[target=torch.ops.aten.foo.default](args = ())", "aten.foo.default"),
        ("unrecognized namespace mylib::foo. If you", "mylib::foo"),
        ("Exporting the operator 'aten::fft_fft' to ONNX opset version 17 is not supported", "aten::fft_fft"),
        ("terminate: std::bad_alloc", None),
        ("shapes differ: [1] and [2]", None),
    ],
)
def test_an_operator_is_read_from_a_message(message, operator):
    """As the exporters spell it."""
    assert find_operator(RuntimeError(message)) == operator


def test_a_summary_is_one_line_without_advice_and_colours():
    """Graphs and links for developers follow it."""
    assert summarise("\x1b[96mno\x1b[0m  way\n  Hint: do\n more") == "no way"
    assert len(summarise("x " * 1000)) == 500


def test_files_of_the_session_are_named_without_their_folder(tmp_path):
    """Planted fault: a folder of its own for every process would make their reports differ."""
    file = tmp_path / ".work-123" / "model.pt2"
    told = describe_failure(OSError(f"{file}: cannot write {file.parent / 'data.bin'}"), None, file)
    assert told == "OSError: model.pt2: cannot write data.bin"


def test_other_paths_are_left(tmp_path):
    """Just inside: what is not beside the graph is told whole."""
    told = describe_failure(OSError("no /opt/lib/custom.so"), None, tmp_path / "model.pt2")
    assert told == "OSError: no /opt/lib/custom.so"


def data_dependent(tmp_path: Path, line: str) -> RuntimeError:
    """Return what a tracer raises at a line of the user's code."""
    path = tmp_path / "network.py"
    path.write_text(f"{line}\n")
    return RuntimeError(
        f'Could not guard on data-dependent expression u0\n  File "{path}", line 1, in forward\n'
    )


@pytest.mark.parametrize("line", ["x = x / float(x.max())", "n = x.sum().item()", "y = x[: int(x.mean())]"])
def test_a_number_taken_out_of_a_tensor_is_told_as_such(tmp_path: Path, line: str):
    """It would be a constant of the graph; nothing branches there."""
    told = describe_failure(data_dependent(tmp_path, line))
    assert "a Python number was taken out of a tensor there" in told
    assert "control flow" not in told


@pytest.mark.parametrize("line", ["if float(x.mean()) > 0:", "while x.sum() > 1:", "y = f(x)"])
def test_a_branch_on_a_tensor_is_told_as_control_flow(tmp_path: Path, line: str):
    """Just inside: also where the branch takes a number out."""
    told = describe_failure(data_dependent(tmp_path, line))
    assert "its control flow depends on the values of a tensor" in told
