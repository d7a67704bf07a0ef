"""Options are held against what they must look like before any framework is loaded."""

from __future__ import annotations

import subprocess
import sys

import pytest

from pytest_modelreg.runtimes import BUILTIN, list_builtin_faults, list_builtin_options


def faults(name, root, **options):
    """Return the faults of options by key."""
    return dict(list_builtin_faults(name, options, root))


GOOD = {
    "eager": {},
    "compile": {"backend": "inductor", "mode": "max-autotune", "fullgraph": True, "dynamic": False},
    "export": {"dynamic": {"x": {0: "batch", "2": "height"}}, "strict": True},
    "torchscript": {"mode": "trace", "dynamic": {"x": {0: "batch"}}},
    "callable": {"method": "predict_proba"},
    "onnx": {
        "exporter": "torchscript",
        "opset": 17,
        "dynamic": {},
        "optimization": "basic",
        "providers": ["CPUExecutionProvider", {"CUDAExecutionProvider": {"device_id": 1}}],
        "session_options": {"intra_op_num_threads": 1, "session.x": "1", "enable_mem_pattern": False},
        "custom_ops": ["file.onnx", "package.module:function"],
    },
    "onnx-file": {
        "path": "file.onnx",
        "inputs": {"input.1": "batch.0", "b": 0},
        "outputs": {"out": "logits"},
    },
}

BAD = [
    ("compile", "mode", "max-autotun", "got 'max-autotun' (did you mean max-autotune?)"),
    ("compile", "fullgraph", "yes", "expected true or false, got 'yes'"),
    ("compile", "backend", "", "expected text, got ''"),
    ("export", "strict", 1, "expected true or false, got 1"),
    ("export", "dynamic", ["x"], "expected inputs with their dynamic axes, such as {input: {0: batch}}"),
    ("export", "dynamic", {"x": 0}, "expected axes with names behind x"),
    ("export", "dynamic", {"x": {-1: "batch"}}, "expected an axis (0, 1, ...) behind x, got -1"),
    ("export", "dynamic", {"x": {0: 3}}, "expected a name for axis 0 of x, got 3"),
    ("export", "dynamic", {1: {0: "b"}}, "expected names of inputs, got 1"),
    (
        "onnx",
        "exporter",
        "dinamo",
        "expected one of dynamo, torchscript, got 'dinamo' (did you mean dynamo?)",
    ),
    ("onnx", "opset", True, "expected a whole number of at least 7, got true"),
    ("onnx", "opset", 6, "expected a whole number of at least 7, got 6"),
    ("onnx", "optimization", False, "expected one of all, extended, basic, disabled, got false"),
    ("onnx", "providers", "CPUExecutionProvider", "expected a list of execution providers"),
    ("onnx", "providers", [{"a": 1}], "got a mapping ({'a': 1}) among them"),
    ("onnx", "session_options", 3, "expected settings such as {intra_op_num_threads: 1}, got 3"),
    ("onnx", "session_options", {"a": [1]}, "expected a single value behind a, got a list ([1])"),
    ("onnx", "session_options", {"a": float("nan")}, "expected a single value behind a"),
    ("onnx", "session_options", {1: 1}, "expected names of settings, got 1"),
    ("onnx", "custom_ops", "ops.so", "expected a list of shared libraries or of module:fn, got 'ops.so'"),
    ("onnx", "custom_ops", [1], "expected paths of shared libraries or module:fn, got 1"),
    ("onnx", "custom_ops", ["fil.onnx"], "(no such file) (did you mean file.onnx?)"),
    ("onnx-file", "path", "fiel.onnx", "got 'fiel.onnx' (no such file) (did you mean file.onnx?)"),
    ("onnx-file", "path", ".", "(a folder)"),
    ("onnx-file", "path", None, "expected the path of a file, got nothing"),
    ("onnx-file", "inputs", {"a": []}, "expected a name behind a, got a list ([])"),
    ("onnx-file", "inputs", [], "expected names with names, such as {input: x}, got a list ([])"),
    ("onnx-file", "outputs", {"a": "x", "b": "x"}, "expected every name once, got x twice"),
]


@pytest.fixture
def root(tmp_path):
    """A suite's folder with a file."""
    (tmp_path / "file.onnx").write_bytes(b"")
    return tmp_path


@pytest.mark.parametrize("name", BUILTIN)
def test_well_formed_options_have_no_faults(name, root):
    """Just inside: every option of every runtime."""
    assert faults(name, root, **GOOD[name]) == {}
    assert GOOD[name].keys() <= list_builtin_options(name)


@pytest.mark.parametrize(("name", "option", "value", "said"), BAD)
def test_a_fault_is_told_with_what_was_expected(name, option, value, said, root):
    """Planted faults, one a check."""
    found = faults(name, root, **{"path": "file.onnx", option: value})
    assert list(found) == [option]
    assert said in found[option]


def test_all_faults_are_told_at_once(root):
    """By option, in the order in which they were written."""
    assert list(faults("onnx", root, opset=1, exporter="no", providers=[])) == [
        "opset",
        "exporter",
        "providers",
    ]


def test_a_missing_path_is_told(root):
    """A file's runtime without a file."""
    assert faults("onnx-file", root) == {"path": "expected the path of an ONNX file, got nothing"}


def test_keys_that_are_not_options_are_passed_over(root):
    """Whoever reads a suite file knows them by the list of options."""
    assert faults("compile", root, no_such=1) == {}


def test_looking_for_faults_loads_no_framework(root):
    """Reading a suite file must not take seconds."""
    code = (
        "import sys, pathlib\n"
        "from pytest_modelreg.runtimes import BUILTIN, list_builtin_faults, list_builtin_options\n"
        "for name in BUILTIN:\n"
        "    list_builtin_options(name)\n"
        "    list_builtin_faults(name, {'path': 'a', 'backend': 'b'}, pathlib.Path('.'))\n"
        "print(sorted({'torch', 'onnx', 'onnxruntime', 'onnxscript'} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
