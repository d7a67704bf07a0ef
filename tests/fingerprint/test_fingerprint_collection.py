"""The fingerprint as gathered: complete, quiet, discreet, and without side effects."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator

import pytest
import torch

from pytest_modelreg.domain.environment import environment_changes
from pytest_modelreg.fingerprint import collect
from pytest_modelreg.fingerprint.fact import declared_facts

PROMISED = {
    "python": "version implementation",
    "os": "name release",
    "cpu": "model flags capability",
    "gpu": "name capability driver",
    "torch": "version git_version build cuda_version cudnn_version num_threads num_interop_threads"
    " default_dtype float32_matmul_precision mkldnn_enabled mkldnn_matmul_fp32_precision"
    " mkldnn_conv_fp32_precision sdp_flash sdp_mem_efficient sdp_math sdp_cudnn cuda_matmul_tf32"
    " cuda_matmul_fp32_precision cudnn_tf32 cudnn_conv_fp32_precision cudnn_deterministic cudnn_benchmark"
    " deterministic_algorithms",
    "pillow": "libjpeg_turbo zlib",
    "env": "ATEN_CPU_CAPABILITY ONEDNN_MAX_CPU_ISA MKL_CBWR OMP_NUM_THREADS MKL_NUM_THREADS OPENBLAS_CORETYPE"
    " CUBLAS_WORKSPACE_CONFIG NVIDIA_TF32_OVERRIDE PYTHONHASHSEED",
}
PACKAGES = (
    *("torchvision", "numpy", "pillow", "opencv", "onnx", "onnxscript", "onnxruntime"),
    *("safetensors", "transformers", "tokenizers"),
)
PROMISED_KEYS = [
    *("machine", "libc"),
    *(f"{package}.version" for package in PACKAGES),
    *(f"{subject}.{name}" for subject, names in PROMISED.items() for name in names.split()),
]


def test_keys_are_lower_case() -> None:
    """Keys are a public format: one way to write a name, except variables, which have theirs."""
    keys = [key for key in declared_facts() if not key.startswith("env.")]
    assert [key for key in keys if not re.fullmatch(r"[a-z0-9_]+(\.[a-z0-9_]+)?", key)] == []


@pytest.fixture
def threads() -> Iterator[int]:
    """Torch's own thread count, put back after the test."""
    before = torch.get_num_threads()
    yield before
    torch.set_num_threads(before)


def run_python(code: str, **variables: str) -> str:
    """Run code in a fresh interpreter and return what it printed."""
    answer = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **variables},
    )
    return answer.stdout.strip()


def test_the_promised_facts_are_there() -> None:
    """Goldens and reports rely on these names; a fact is added freely, never renamed or lost."""
    assert sorted(collect().facts) == sorted(PROMISED_KEYS)


def test_a_fingerprint_is_plain_json() -> None:
    """It goes into golden.json, the report and another process as it is."""
    collected = collect(runtime={"kind": "eager", "opset": 17, "verify": False})
    assert json.loads(json.dumps(dict(collected.facts), allow_nan=False)) == collected.facts
    assert {type(value) for value in collected.facts.values()} <= {str, int, float, bool, type(None)}


def test_keys_are_sorted() -> None:
    """A golden's diff must not move lines about."""
    assert list(collect(runtime={"a": 1}).facts) == sorted(collect(runtime={"a": 1}).facts)


def test_every_unknown_has_a_reason_and_nothing_else_has() -> None:
    """Null without a reason could mean anything."""
    collected = collect(runtime={"opset": None})
    assert set(collected.reasons) == {key for key, value in collected.facts.items() if value is None}
    assert all(collected.reasons.values())


def test_two_readings_in_one_process_agree() -> None:
    """A fact that changes by itself would make every drift look like the environment's."""
    assert collect() == collect()
    assert collect().digest == collect().digest


def test_two_processes_on_one_machine_agree() -> None:
    """Nothing in it depends on the process: no identifiers, clocks, free memory or hash order."""
    code = "from pytest_modelreg.fingerprint import collect; print(sorted(collect().facts.items()))"
    assert run_python(code) == run_python(code)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("ATEN_CPU_CAPABILITY", "avx2"),
        ("ONEDNN_MAX_CPU_ISA", "AVX2"),
        ("MKL_CBWR", "COMPATIBLE"),
        ("OMP_NUM_THREADS", "3"),
        ("MKL_NUM_THREADS", "3"),
        ("OPENBLAS_CORETYPE", "Haswell"),
        ("CUBLAS_WORKSPACE_CONFIG", ":4096:8"),
        ("NVIDIA_TF32_OVERRIDE", "0"),
        ("PYTHONHASHSEED", "7"),
    ],
)
def test_a_planted_variable_is_a_change(key: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each variable that steers kernels is seen, named with both values, and moves the digest."""
    monkeypatch.delenv(key, raising=False)
    before = collect()
    monkeypatch.setenv(key, value)
    after = collect()
    assert [
        (change.key, change.expected, change.actual) for change in environment_changes(before, after)
    ] == [(f"env.{key}", None, value)]
    assert before.digest != after.digest


def test_an_empty_variable_is_not_an_unset_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """A set but empty variable is a value that libraries read."""
    monkeypatch.setenv("MKL_CBWR", "")
    assert collect().facts["env.MKL_CBWR"] == ""


def test_a_planted_thread_count_is_a_change(threads: int) -> None:
    """Settings of torch are read anew each time, not once a process."""
    before = collect()
    torch.set_num_threads(threads + 1)
    after = collect()
    assert [change.key for change in environment_changes(before, after)] == ["torch.num_threads"]


def test_neutral_facts_are_recorded() -> None:
    """A kernel update is no difference that could explain a drift, nor is a package that is not loaded."""
    collected = collect()
    unused = {key for key in collected.neutral if key.endswith(".version")}
    assert set(collected.neutral) - unused == {"os.release", "pillow.zlib"}
    assert "torch.version" not in unused
    assert set(collected.neutral) <= set(collected.facts)


def test_runtime_options_are_facts() -> None:
    """Options of the runtime sit in a namespace of their own, and move the digest."""
    collected = collect(runtime={"kind": "onnx", "opset": None})
    assert collected.facts["runtime.kind"] == "onnx"
    assert collected.reasons["runtime.opset"] == "not set"
    assert collected.digest != collect(runtime={"kind": "eager", "opset": None}).digest


@pytest.mark.parametrize("module", ["torch", "torchvision", "numpy", "PIL", "cv2", "onnx", "onnxruntime"])
def test_nothing_is_imported_for_a_fact(module: str) -> None:
    """Asking about the environment must neither take seconds nor change it."""
    code = "from pytest_modelreg.fingerprint import collect; collect(); import sys"
    assert run_python(f"{code}; print({module!r} in sys.modules)") == "False"


def test_without_torch_loaded_only_its_version_is_known() -> None:
    """The version is the one that it would report; settings of what is not loaded do not exist."""
    code = (
        "from pytest_modelreg.fingerprint import collect; import json; c = collect();"
        "print(json.dumps([dict(c.facts), dict(c.reasons)]))"
    )
    facts, reasons = json.loads(run_python(code))
    assert facts["torch.version"] == torch.__version__
    assert reasons["torch.num_threads"] == "torch was not loaded in this run"
    assert reasons["pillow.libjpeg_turbo"] == "Pillow was not loaded in this run"


def test_cuda_is_left_alone() -> None:
    """Initialising CUDA for a name costs memory and breaks processes forked later."""
    collect()
    assert not torch.cuda.is_initialized()
    assert collect().reasons["gpu.name"] == "CUDA was not used in this run"


def test_no_secret_leaks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither host, user, paths nor any other environment variable gets in: goldens are public."""
    planted = "planted-3f9c"
    for name in (
        "AWS_SECRET_ACCESS_KEY",
        "HOSTNAME",
        "USER",
        "HOME",
        "PYTHONPATH",
        "CI_TOKEN",
        "VIRTUAL_ENV",
    ):
        monkeypatch.setenv(name, planted)
    monkeypatch.setattr("platform.node", lambda: planted)
    monkeypatch.setattr("socket.gethostname", lambda: planted)
    monkeypatch.setattr("getpass.getuser", lambda: planted)
    collected = collect()
    text = json.dumps([dict(collected.facts), dict(collected.reasons)])
    assert planted not in text
    assert os.getcwd() not in text
    assert sys.prefix not in text
    assert not re.search(r"(^|[\s\"'])(/home|/root|/Users|/tmp)/", text)


def test_a_deprecated_setting_does_not_warn() -> None:
    """The user's -W error run must not fail over how we ask torch."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        collect()
    assert caught == []


def test_a_second_fingerprint_costs_nothing() -> None:
    """It is taken for every case: 15 ms with torch loaded is what a green case can spare."""
    collect()
    durations_s = []
    for _ in range(5):
        started = time.perf_counter()
        collect()
        durations_s.append(time.perf_counter() - started)
    assert min(durations_s) < 0.015


def test_every_fact_says_where_it_comes_from_with_an_example() -> None:
    """The docstrings are the documentation of the fingerprint."""
    undocumented = [
        key
        for key, declared in declared_facts().items()
        if not re.search(r"Example: ``\S", " ".join((declared.read.__doc__ or "").split()))
    ]
    assert undocumented == []
