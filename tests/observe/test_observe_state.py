"""The state guard: a case neither sees nor leaves global state."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import textwrap
import warnings

import numpy as np
import pytest

from pytest_modelreg.observe.settings import read_settings
from pytest_modelreg.observe.state import StateGuard
from pytest_modelreg.observe.warning_log import MAX_LENGTH, MAX_WARNINGS, WarningLog

torch = pytest.importorskip("torch")


def disturb() -> None:
    """Change everything that user code may change."""
    random.seed(1)
    np.random.seed(1)
    torch.manual_seed(1)
    np.seterr(all="raise")
    torch.set_grad_enabled(False)
    torch.set_default_dtype(torch.float64)
    torch.set_num_threads(torch.get_num_threads() + 1)
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.set_float32_matmul_precision("medium")
    torch.backends.cudnn.benchmark = True
    torch.backends.cudnn.deterministic = True
    torch.backends.cudnn.enabled = False
    if hasattr(torch, "set_default_device"):
        torch.set_default_device("meta")
    os.environ["MODELREG_TEST_ADDED"] = "1"
    os.environ["MODELREG_TEST_CHANGED"] = "after"
    del os.environ["MODELREG_TEST_REMOVED"]
    os.chdir("/")


@pytest.fixture
def environment(monkeypatch, tmp_path):
    """Variables to change and remove, a folder to leave."""
    monkeypatch.setenv("MODELREG_TEST_CHANGED", "before")
    monkeypatch.setenv("MODELREG_TEST_REMOVED", "before")
    monkeypatch.chdir(tmp_path)


def draw() -> tuple[float, float, float]:
    """Draw a number from every generator."""
    return random.random(), float(np.random.rand()), float(torch.rand(1))


@pytest.mark.usefixtures("environment")
@pytest.mark.parametrize("raises", [False, True])
def test_everything_is_as_before(raises):
    """Whatever user code changes is put back, also when it raises."""
    random.seed(5), np.random.seed(5), torch.manual_seed(5)
    expected = draw()
    random.seed(5), np.random.seed(5), torch.manual_seed(5)
    before = read_settings()

    def run() -> None:
        with StateGuard(threads=2, deterministic=True) as guard:
            guard.prepare()
            disturb()
            if raises:
                raise RuntimeError("user")

    if raises:
        with pytest.raises(RuntimeError, match="user"):
            run()
    else:
        run()
    assert read_settings() == before
    assert "torch.grad_enabled" in before
    assert draw() == expected


def test_seeds_are_the_same_in_every_case():
    """What the process drew before does not matter inside."""
    draws = []
    for seed in (1, 2):
        random.seed(seed), np.random.seed(seed), torch.manual_seed(seed)
        with StateGuard() as guard:
            guard.prepare()
            draws.append(draw())
            guard.prepare()
            draws.append(draw())
    assert len(set(draws)) == 1


def test_threads_and_determinism_are_set_inside():
    """A suite's threads and deterministic hold between building and the last pass."""
    threads = torch.get_num_threads()
    with StateGuard(threads=threads + 1, deterministic=True) as guard:
        guard.prepare()
        assert torch.get_num_threads() == threads + 1
        assert torch.are_deterministic_algorithms_enabled()
        assert os.environ["CUBLAS_WORKSPACE_CONFIG"] == ":4096:8"
    assert torch.get_num_threads() == threads
    assert not torch.are_deterministic_algorithms_enabled()


def test_threads_are_left_alone_when_the_suite_sets_none():
    """torch's own default is what the fingerprint records."""
    threads = torch.get_num_threads()
    with StateGuard() as guard:
        guard.prepare()
        assert torch.get_num_threads() == threads


def test_default_threads_hold_inside_and_are_put_back():
    """A worker's share of the machine applies where the suite sets no threads."""
    threads = torch.get_num_threads()
    with StateGuard(default_threads=threads + 1) as guard:
        assert "torch.num_threads" not in guard.imported_settings()
        guard.prepare()
        assert torch.get_num_threads() == threads + 1
    assert torch.get_num_threads() == threads


def test_threads_of_the_suite_win_over_the_default():
    """Bit-equal results whatever the number of workers is what a suite sets threads for."""
    threads = torch.get_num_threads()
    with StateGuard(threads=threads + 1, default_threads=threads + 2) as guard:
        guard.prepare()
        assert torch.get_num_threads() == threads + 1
    assert torch.get_num_threads() == threads


@pytest.mark.parametrize("place", ["top", "factory"])
def test_threads_that_user_code_sets_win_over_the_default(torch_case, place):
    """At import or in the factory, in the first case and the next; also when it is torch's own number."""
    own = torch.get_num_threads()
    call = f"torch.set_num_threads({own})"
    torch_case.write(
        "model.py",
        f"""
        import torch
        {call if place == "top" else ""}

        def build():
            {call if place == "factory" else ""}
            return lambda x: torch.full((len(x),), torch.get_num_threads())
        """,
    )
    for variant in ("one", "two"):
        observation = torch_case.observe(variant=variant, default_threads=own + 1)
        assert torch_case.rows(observation, "output")[0] == own
        assert observation.fingerprint.facts["torch.num_threads"] == own
    assert torch.get_num_threads() == own


def test_default_threads_are_on_record(torch_case):
    """The fingerprint has the number that was used, and the next case without a default none of it."""
    own = torch.get_num_threads()
    first = torch_case.observe(default_threads=own + 1)
    second = torch_case.observe()
    recorded = [each.fingerprint.facts["torch.num_threads"] for each in (first, second)]
    assert recorded == [own + 1, own]


def test_default_threads_reach_a_torch_that_is_imported_inside():
    """The first suite of a worker may be what imports torch."""
    script = """
        from pytest_modelreg.observe.state import StateGuard

        with StateGuard(default_threads=3) as guard:
            import torch
            assert torch.get_num_threads() == 3
            assert "torch.num_threads" not in guard.imported_settings()
            guard.prepare()
            assert torch.get_num_threads() == 3
        assert torch.get_num_threads() == 1
        """
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    subprocess.run([sys.executable, "-c", textwrap.dedent(script)], check=True, env=environment)


def test_a_working_folder_that_is_gone_is_no_error(tmp_path, monkeypatch):
    """A test may remove the folder that it stands in."""
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    with StateGuard():
        pass


def test_mixed_tf32_settings_do_not_break_the_guard():
    """torch refuses to read its old switches after the new ones were used."""
    before = read_settings()
    if "torch.backends.cuda.matmul.fp32_precision" not in before:
        pytest.skip("this torch has one set of switches")
    with StateGuard() as guard:
        guard.prepare()
        torch.backends.cuda.matmul.fp32_precision = "tf32"
        torch.backends.cudnn.conv.fp32_precision = "ieee"
    assert read_settings() == before


def test_case_restores_state_and_flags_of_a_shared_model(torch_case):
    """A model that the user's own tests share keeps its train mode."""
    torch_case.write(
        "model.py",
        """
        import torch

        MODEL = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.Dropout())
        MODEL[1].eval()

        def build():
            torch.set_default_dtype(torch.float64)
            return MODEL

        def modes():
            return [part.training for part in MODEL.modules()]
        """,
    )
    first = torch_case.observe()
    second = torch_case.observe()
    assert first.training_modules == second.training_modules == ("(model)", "0")
    assert torch.get_default_dtype() == torch.float32


def test_what_imports_set_holds_for_every_case_and_none_after(torch_case):
    """A module sets the default dtype once, when imported: the second case needs it too."""
    torch_case.write(
        "model.py",
        """
        import os
        import torch

        torch.set_default_dtype(torch.float64)
        os.environ["MODELREG_TEST_IMPORT"] = "1"

        def build():
            assert os.environ["MODELREG_TEST_IMPORT"] == "1"
            return lambda x: torch.zeros(len(x))
        """,
    )
    first = torch_case.observe(variant="one", deterministic=True)
    second = torch_case.observe(variant="two")
    assert first.outputs["output"].dtype == second.outputs["output"].dtype == "float64"
    assert torch.get_default_dtype() == torch.float32
    assert "MODELREG_TEST_IMPORT" not in os.environ


def test_determinism_of_one_case_does_not_reach_the_next(torch_case):
    """What the guard itself sets is not taken for the work of an import."""
    torch_case.write(
        "model.py",
        """
        import os
        import torch

        def build():
            flag = torch.are_deterministic_algorithms_enabled()
            assert ("CUBLAS_WORKSPACE_CONFIG" in os.environ) == flag
            return lambda x: torch.full((len(x),), flag)
        """,
    )
    values = [
        bool(torch_case.rows(torch_case.observe(deterministic=wanted), "output")[0])
        for wanted in (True, False)
    ]
    assert values == [True, False]


def test_torch_imported_inside_gets_its_defaults_back(tmp_path):
    """The first suite imports torch: what it sets must not reach the second."""
    (tmp_path / "mrlate.py").write_text(
        "import torch\ntorch.set_default_dtype(torch.float64)\ntorch.set_grad_enabled(False)\n"
    )
    script = f"""
        import sys
        from pytest_modelreg.observe.imports import suite_imports
        from pytest_modelreg.observe.state import StateGuard

        with StateGuard() as guard, suite_imports([{str(tmp_path)!r}]) as suite:
            import mrlate
            assert guard.imported_settings()["torch.grad_enabled"] is False
        import torch
        assert torch.get_default_dtype() == torch.float32
        assert torch.is_grad_enabled()
        assert not [one for one in sys.meta_path if type(one).__module__.startswith("pytest_modelreg")]
        assert "exec_module" not in vars(torch.__spec__.loader)
        """
    subprocess.run([sys.executable, "-c", textwrap.dedent(script)], check=True)


def test_warnings_are_recorded_once_each_and_filters_restored():
    """A warning a batch is one line, and an error filter does not raise it."""
    filters = list(warnings.filters)
    with WarningLog() as log:
        for _ in range(3):
            warnings.warn("old\nway", FutureWarning, stacklevel=1)
            log.drain()
        warnings.warn("left open", ResourceWarning, stacklevel=1)
        log.note("ours")
    assert log.lines == ("FutureWarning: old way", "ours")
    assert list(warnings.filters) == filters


def test_many_or_long_warnings_are_capped():
    """The observation stays small whatever a framework has to say."""
    with WarningLog() as log:
        for index in range(MAX_WARNINGS + 5):
            warnings.warn(f"{index}" * MAX_LENGTH, UserWarning, stacklevel=1)
    assert len(log.lines) == MAX_WARNINGS
    assert max(map(len, log.lines)) == MAX_LENGTH


FLAGS = {
    "torch.set_flush_denormal(True)": lambda: not float(torch.tensor(1e-38) * 1e-3),
    "torch.autograd.set_detect_anomaly(True)": torch.is_anomaly_enabled,
    "torch.utils.deterministic.fill_uninitialized_memory = False": (
        lambda: torch.utils.deterministic.fill_uninitialized_memory
    ),
    "torch.jit.enable_onednn_fusion(True)": torch.jit.onednn_fusion_enabled,
    "torch.backends.mha.set_fastpath_enabled(False)": torch.backends.mha.get_fastpath_enabled,
    "torch.backends.cuda.enable_flash_sdp(False)": torch.backends.cuda.flash_sdp_enabled,
    "torch.backends.cuda.enable_math_sdp(False)": torch.backends.cuda.math_sdp_enabled,
    "torch.backends.opt_einsum.enabled = False": lambda: torch.backends.opt_einsum.enabled,
    "torch.set_autocast_cpu_enabled(True)": lambda: torch.is_autocast_cpu_enabled(),
    "torch.set_warn_always(True)": torch.is_warn_always_enabled,
}


@pytest.mark.filterwarnings("ignore:.*deprecated")
@pytest.mark.parametrize("place", ["factory", "forward"])
@pytest.mark.parametrize("call", FLAGS)
def test_flag_set_by_user_code_does_not_leak(torch_case, call, place):
    """Whatever a factory or a forward pass switches, the user's own tests do not notice."""
    torch_case.write(
        "model.py",
        f"""
        import torch

        def build():
            {call if place == "factory" else ""}
            return run

        def run(x):
            {call if place == "forward" else ""}
            return torch.zeros(len(x))
        """,
    )
    read = FLAGS[call]
    try:
        before = read()
    except AttributeError:
        pytest.skip("this torch has no such flag")
    torch_case.observe()
    assert read() == before


def test_flag_that_the_process_had_set_is_kept():
    """Just inside: flushing denormals that the user's own session chose survives a case."""
    torch.set_flush_denormal(True)
    try:
        with StateGuard() as guard:
            guard.prepare()
            assert read_settings()["torch.flush_denormal"] is True
            torch.set_flush_denormal(False)
        assert read_settings()["torch.flush_denormal"] is True
    finally:
        torch.set_flush_denormal(False)
    assert read_settings()["torch.flush_denormal"] is False
