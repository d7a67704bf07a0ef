"""The plugin never gets in the way: other settings, other plugins, the state of the process."""

from __future__ import annotations

import json
import sys

import pytest

VALUES_TEST = """
import numpy as np


def test_values(modelreg):
    modelreg.check(np.arange(6.0), name="six")
    modelreg.check(np.ones((2, 3), np.float32), name="ones")
"""

TORCH_SUITE = """
modelreg: 1
suite: toy
samples: {folder: samples, loader: json}
reference: {model: "torchmodel:build", preprocess: "torchmodel:prepare"}
"""

TORCH_MODEL = """
import torch


def build():
    return torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4), torch.nn.Dropout(0.5))


def prepare(sample):
    return torch.tensor(sample, dtype=torch.float32)
"""

MEDDLING_MODEL = """
import os
import random
import sys
import warnings

import numpy as np
import torch


def build():
    random.seed(1)
    np.random.seed(1)
    torch.manual_seed(1)
    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)
    torch.set_grad_enabled(False)
    torch.use_deterministic_algorithms(True)
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    sys.path.insert(0, "/nowhere")
    os.environ["MEDDLED"] = "1"
    os.environ.pop("KEPT", None)
    os.chdir("/")
    return torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Dropout(0.5))


def prepare(sample):
    return torch.tensor(sample, dtype=torch.float64)
"""

STATE = """
import os
import random
import sys
import warnings

import numpy as np
import torch

torch.set_num_threads(2)
OTHER = torch.nn.Sequential(torch.nn.BatchNorm1d(3), torch.nn.Dropout(0.5).eval(), torch.nn.Linear(3, 3))
BEFORE = {}


def read():
    return {
        "random": random.getstate(),
        "numpy": repr(np.random.get_state()),
        "errstate": np.geterr(),
        "torch": torch.get_rng_state().tolist(),
        "threads": torch.get_num_threads(),
        "dtype": torch.get_default_dtype(),
        "grad": torch.is_grad_enabled(),
        "deterministic": torch.are_deterministic_algorithms_enabled(),
        "training": [module.training for module in OTHER.modules()],
        "filters": list(warnings.filters),
        "path": list(sys.path),
        "suite modules": sorted(name for name in sys.modules if name.startswith("meddling")),
        "cwd": os.getcwd(),
        "environ": {key: value for key, value in os.environ.items() if key != "PYTEST_CURRENT_TEST"},
    }
"""


def run(project, *arguments: str) -> tuple[pytest.RunResult, dict[str, str]]:
    """Run in a process of its own; return the result and the verdicts by case id."""
    target = project.path / "report.json"
    target.unlink(missing_ok=True)
    result = project.pytester.runpytest_subprocess("--modelreg", f"--modelreg-json={target}", *arguments)
    report = json.loads(target.read_text(encoding="utf-8")) if target.exists() else {"cases": []}
    return result, {case["id"]: case["verdict"] for case in report["cases"]}


def assert_all_match(result: pytest.RunResult, verdicts: dict[str, str], n_cases: int) -> None:
    """Fail unless the run was green with that many cases compared."""
    assert result.ret == 0, result.stdout.str() + result.stderr.str()
    assert list(verdicts.values()) == ["match"] * n_cases


@pytest.fixture
def with_values(project):
    """A recorded project of a suite and of a Python test with two checks."""
    project.write("test_values.py", VALUES_TEST)
    project.record()
    return project


@pytest.fixture
def with_torch(project):
    """A recorded project whose suite runs a torch module."""
    project.write("torchmodel.py", TORCH_MODEL)
    project.write("modelreg.yaml", TORCH_SUITE)
    project.write("test_values.py", VALUES_TEST)
    project.pin()
    assert project.pytester.runpytest_subprocess("--modelreg", "--modelreg-regen=missing").ret == 0
    return project


@pytest.mark.skipif(pytest.version_tuple < (9,), reason="pytest reads native TOML since 9.0")
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pytest.toml", "[pytest]\nmodelreg = true\nmodelreg_strict = true\n"),
        ("pyproject.toml", "[tool.pytest]\nmodelreg = true\nmodelreg_strict = true\n"),
    ],
)
def test_native_toml_turns_it_on(with_values, name, text):
    """H2: pytest's native TOML hands over its own types instead of text."""
    with_values.write(name, text)
    result = with_values.pytester.runpytest_subprocess()
    assert result.ret == 0
    result.stdout.fnmatch_lines(["*3 match*"])


@pytest.mark.parametrize("flags", [("--strict-markers", "--strict-config"), ("-o", "strict=true")])
def test_strict_mode_is_clean(with_values, flags):
    """H3: our marker and our settings are declared; nothing of ours is unknown to pytest."""
    if "strict=true" in flags and pytest.version_tuple < (9,):
        pytest.skip("pytest has a strict mode since 9.0")
    with_values.pytester.makeini("[pytest]\nmodelreg = true\nmodelreg_strict = true\n")
    with_values.write(
        "test_marked.py", "import pytest\n\n\n@pytest.mark.modelreg\ndef test_marked():\n    pass\n"
    )
    assert_all_match(*run(with_values, *flags), 3)


@pytest.mark.parametrize(
    "flags",
    [
        ("-p", "no:cacheprovider"),
        ("-p", "no:terminal"),
        ("-p", "no:warnings"),
        ("-p", "no:junitxml"),
        ("--reruns", "1"),
        ("--import-mode=importlib",),
        ("--assert=plain",),
        ("--capture=no", "-q"),
        ("-W", "error"),
    ],
    ids=" ".join,
)
def test_other_settings_change_nothing(with_values, flags):
    """H4: the same cases are compared, whatever else is switched on or off."""
    assert_all_match(*run(with_values, *flags), 3)


@pytest.mark.parametrize("flags", [("-p", "no:terminal"), ("-p", "no:cacheprovider"), ("--reruns", "1")])
def test_drift_fails_under_other_settings(with_values, flags):
    """H4: nor do they hide a drift."""
    with_values.edit("toymodel.py", "scale=1.0", "scale=1.2")
    result, verdicts = run(with_values, *flags)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert verdicts["toy[reference]"] == "drift"
    assert len(verdicts) == 3


def test_warnings_as_errors_are_clean_with_torch(with_torch):
    """H4: no warning is ours, nor the framework's on our behalf, from import to report."""
    environ_flags = ("-W", "error", "-p", "no:cacheprovider")
    assert_all_match(*run(with_torch, *environ_flags), 3)


class TestReruns:
    """pytest-rerunfailures: the last run of a test is what counts."""

    FLAKY = (
        "from pathlib import Path\n\nimport numpy as np\n\n\ndef test_flaky(modelreg):\n"
        "    again = Path('ran').exists()\n    Path('ran').touch()\n"
        "    modelreg.check(np.arange(6.0) * (1 if again else 2), name='six')\n"
    )

    def test_last_run_is_on_record(self, with_values):
        """A drift that the rerun did not show is no drift; nor is the check called a duplicate."""
        with_values.write("test_flaky.py", self.FLAKY)
        (with_values.path / "ran").touch()
        run(with_values, "--modelreg-regen=missing")
        (with_values.path / "ran").unlink()
        result, verdicts = run(with_values, "--reruns", "1")
        assert_all_match(result, verdicts, 4)
        result.stdout.fnmatch_lines(["*1 rerun*"])

    def test_only_the_last_run_becomes_the_golden(self, with_values):
        """A run that failed after its check records nothing."""
        with_values.write("test_flaky.py", self.FLAKY + "    assert again\n")
        result, verdicts = run(with_values, "--reruns", "1", "--modelreg-regen=missing")
        assert result.ret == 0
        assert verdicts["py[test_flaky.py::test_flaky::six]"] == "recorded"
        assert_all_match(*run(with_values), 4)

    def test_what_an_earlier_run_said_is_void(self, with_values):
        """A first run that raised before its check leaves no record beside the second's."""
        with_values.write(
            "test_flaky.py", self.FLAKY.replace("    modelreg.check", "    assert again\n    modelreg.check")
        )
        _, verdicts = run(with_values, "--reruns", "1", "--modelreg-regen=missing")
        assert [case for case in verdicts if "flaky" in case] == ["py[test_flaky.py::test_flaky::six]"]


def test_no_network_at_import_or_run(with_torch, monkeypatch):
    """H5: a machine without a network compares like any other."""
    with_torch.write(
        "blocked/sitecustomize.py",
        "import socket\n\n\n"
        "def refuse(*arguments, **keywords):\n    raise SystemExit('network was used')\n\n\n"
        "socket.socket.connect = refuse\nsocket.getaddrinfo = refuse\nsocket.create_connection = refuse\n",
    )
    monkeypatch.setenv("PYTHONPATH", str(with_torch.path / "blocked"))
    check = with_torch.pytester.run(sys.executable, "-c", "import socket; socket.getaddrinfo('localhost', 1)")
    assert "network was used" in check.stderr.str()  # the block itself works
    assert_all_match(*run(with_torch), 3)


@pytest.mark.parametrize("verdict", ["match", "error"])
def test_global_state_is_as_before(project, monkeypatch, verdict):
    """H7: a test after a suite sees what a test before it left, whatever the suite's code does."""
    monkeypatch.setenv("KEPT", "1")
    project.write("state.py", STATE)
    project.write(
        "a_test.py", "import state\n\n\ndef test_before():\n    state.BEFORE.update(state.read())\n"
    )
    project.write(
        "test_z.py",
        "import state\n\n\ndef test_after():\n    after = state.read()\n"
        "    assert [key for key in after if after[key] != state.BEFORE[key]] == []\n",
    )
    project.write("inner/meddling.py", MEDDLING_MODEL)
    project.write("modelreg.yaml", "")
    (project.path / "modelreg.yaml").unlink()
    project.write(
        "inner/modelreg.yaml",
        TORCH_SUITE.replace("torchmodel", "meddling").replace("samples,", "../samples,"),
    )
    project.pin()
    order = ("a_test.py", "inner/modelreg.yaml", "test_z.py")
    project.pytester.runpytest_subprocess("--modelreg", "--modelreg-regen=missing", *order).assert_outcomes(
        passed=3
    )
    if verdict == "error":
        project.edit(
            "inner/meddling.py", "    return torch.nn.Sequential", "    raise ValueError\n    return ("
        )
    result, verdicts = run(project, *order)
    result.assert_outcomes(**({"passed": 3} if verdict == "match" else {"passed": 2, "failed": 1}))
    assert verdicts == {"toy[reference]": verdict}


def test_skip_without_the_flag_is_never_a_pass(with_values):
    """G1: a test that asks for the fixture is skipped with a reason before its body runs."""
    result = with_values.pytester.runpytest_subprocess("-rs")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["SKIPPED*comparing models is off: add --modelreg*"])


def test_fixture_asked_for_by_a_running_test_is_skipped_too(pytester):
    """G1: request.getfixturevalue is no way around it."""
    pytester.makepyfile("def test_dynamic(request):\n    request.getfixturevalue('modelreg').check([1.0])\n")
    pytester.runpytest_inprocess().assert_outcomes(skipped=1)
