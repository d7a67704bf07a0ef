"""The readers against what other systems and other releases of torch answer."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from pytest_modelreg.fingerprint.collectors import cpu, gpu, interpreter, packages, torch_build, torch_knobs
from pytest_modelreg.fingerprint.collectors.loaded import ask_torch
from pytest_modelreg.fingerprint.fact import Unknown

X86 = """processor\t: 0
vendor_id\t: GenuineIntel
model name\t: Intel(R) Xeon(R)   Platinum 8375C CPU @ 2.90GHz
cpu MHz\t\t: 2900.123
flags\t\t: fpu sse sse2 smep sme avx2 fma avx sse4_2 avx512f avx512_vnni amx_tile hypervisor avx_vnni

processor\t: 1
model name\t: another
flags\t\t: avx512_fp16
"""

ARM = """processor\t: 0
BogoMIPS\t: 243.75
Features\t: fp asimd evtstrm aes crc32 atomics fphp asimdhp asimddp sve bf16 i8mm
CPU implementer\t: 0x41
CPU architecture: 8
CPU variant\t: 0x1
CPU part\t: 0xd40
CPU revision\t: 1
"""

CONFIGURATION_2 = """PyTorch built with:
  - Intel(R) oneAPI Math Kernel Library Version 2024.2-Product Build 20240605 for Intel(R) 64 applications
  - Intel(R) MKL-DNN v3.12.0 (Git Hash 80afa71049cd69a3df32adcccb623b12cd7baa22)
  - OpenMP 201511 (a.k.a. OpenMP 4.5)
  - CPU capability usage: AVX512
  - Build settings: BLAS_INFO=mkl, CUDA_VERSION=13.0, CUDNN_VERSION=9.24.0, LAPACK_INFO=mkl, """

CONFIGURATION_1 = """PyTorch built with:
  - Intel(R) MKL-DNN v2.6.3 (Git Hash N/A)
  - OpenMP 201511 (a.k.a. OpenMP 4.5)
  - CPU capability usage: AVX2
  - Build settings: BLAS_INFO=generic, LAPACK_INFO=generic, USE_CUDA=0, """


@pytest.fixture
def planted_torch(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """An empty module that answers to the name of torch."""
    module = ModuleType("torch")
    monkeypatch.setitem(sys.modules, "torch", module)
    return module


def plant_cpuinfo(text: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the readers see another machine's /proc/cpuinfo."""
    file = folder / "cpuinfo"
    file.write_text(text)
    monkeypatch.setattr(cpu, "CPUINFO", file)
    monkeypatch.setattr("platform.system", lambda: "Linux")


def test_x86_flags_are_those_that_kernels_dispatch_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the first processor's, sorted, without flags that move no number or look alike (smep)."""
    plant_cpuinfo(X86, tmp_path, monkeypatch)
    assert cpu.read_cpu_flags() == "amx_tile avx avx2 avx512_vnni avx512f avx_vnni fma sse4_2"
    assert cpu.read_cpu_model() == "Intel(R) Xeon(R) Platinum 8375C CPU @ 2.90GHz"


def test_arm_names_no_model_but_an_identity(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Arm's /proc/cpuinfo has no model name."""
    plant_cpuinfo(ARM, tmp_path, monkeypatch)
    assert cpu.read_cpu_flags() == "asimd asimddp asimdhp bf16 fphp i8mm sve"
    assert cpu.read_cpu_model() == "implementer 0x41, architecture 8, variant 0x1, part 0xd40, revision 1"


def test_cpuinfo_without_flags_is_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some virtual machines tell nothing."""
    plant_cpuinfo("processor : 0\n", tmp_path, monkeypatch)
    with pytest.raises(Unknown, match="lists no flags"):
        cpu.read_cpu_flags()


def test_a_system_without_cpuinfo_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows and macOS have no /proc; the model falls back to platform's word."""
    monkeypatch.setattr(cpu, "CPUINFO", tmp_path / "absent")
    monkeypatch.setattr("platform.system", lambda: "Windows")
    monkeypatch.setattr("platform.processor", lambda: "Intel64 Family 6")
    assert cpu.read_cpu_model() == "Intel64 Family 6"
    with pytest.raises(Unknown, match="which this system does not have"):
        cpu.read_cpu_flags()
    monkeypatch.setattr("platform.processor", lambda: "")
    with pytest.raises(Unknown, match="processor's model"):
        cpu.read_cpu_model()


def test_macos_asks_sysctl(monkeypatch: pytest.MonkeyPatch) -> None:
    """There platform.processor() is just "arm"."""
    monkeypatch.setattr("platform.system", lambda: "Darwin")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: SimpleNamespace(stdout="Apple M2\n"))
    assert cpu.read_cpu_model() == "Apple M2"


def test_macos_without_sysctl_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sandbox may forbid it."""

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError("no")

    monkeypatch.setattr("platform.system", lambda: "Darwin")
    monkeypatch.setattr(subprocess, "run", refuse)
    with pytest.raises(Unknown, match="gave no answer"):
        cpu.read_cpu_model()


def test_capability_before_torch_2_comes_from_its_configuration(planted_torch: ModuleType) -> None:
    """torch 1.13 has no get_cpu_capability."""
    planted_torch.__config__ = SimpleNamespace(show=lambda: CONFIGURATION_1)
    assert cpu.read_cpu_capability() == "AVX2"


def test_libc_falls_back_where_confstr_has_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """musl knows the name but not the value; Windows has neither."""
    monkeypatch.setattr("os.confstr", lambda _: None)
    monkeypatch.setattr("platform.libc_ver", lambda: ("", ""))
    with pytest.raises(Unknown, match="libc"):
        interpreter.read_libc()


def test_build_of_a_current_torch() -> None:
    """The libraries that compute, in one line; compiler flags stay out."""
    assert (
        torch_build.describe_build(CONFIGURATION_2)
        == "BLAS mkl, LAPACK mkl, MKL 2024.2, oneDNN 3.12.0, OpenMP 4.5, CUDA 13.0, cuDNN 9.24.0"
    )


def test_build_of_torch_1() -> None:
    """Parts that a build does not have are left out."""
    assert (
        torch_build.describe_build(CONFIGURATION_1)
        == "BLAS generic, LAPACK generic, oneDNN 2.6.3, OpenMP 4.5"
    )


def test_a_build_that_names_nothing_is_unknown() -> None:
    """An empty line would look like a fact."""
    with pytest.raises(Unknown):
        torch_build.describe_build("PyTorch built with:\n")


def test_an_attribute_that_this_torch_lacks_is_unknown(planted_torch: ModuleType) -> None:
    """Releases differ in what they tell."""
    with pytest.raises(Unknown, match=r"no torch\.backends\.cuda\.cudnn_sdp_enabled"):
        torch_knobs.read_sdp_cudnn()


def test_torch_1_refuses_attributes_by_assertion(planted_torch: ModuleType) -> None:
    """torch.backends.cuda.matmul of 1.13 raises AssertionError where others raise AttributeError."""

    class Matmul:
        def __getattr__(self, name: str) -> bool:
            raise AssertionError("Unknown attribute " + name)

    planted_torch.backends = SimpleNamespace(cuda=SimpleNamespace(matmul=Matmul()))
    with pytest.raises(Unknown, match="this version of torch has no"):
        torch_knobs.read_cuda_matmul_fp32_precision()


def test_mixed_precision_settings_are_unknown_not_an_error() -> None:
    """Since 2.9 torch raises when the older interface is asked after the newer one was used."""
    code = (
        "import torch; torch.backends.cuda.matmul.fp32_precision = 'tf32'\n"
        "from pytest_modelreg.fingerprint import collect; c = collect()\n"
        "print(c.facts['torch.cuda_matmul_fp32_precision'], c.reasons['torch.cuda_matmul_tf32'])"
    )
    answer = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True
    )
    assert answer.stdout.strip() == f"tf32 {torch_knobs.MIXED_SETTINGS}"


def test_torch_that_is_not_loaded_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reason says so."""
    monkeypatch.delitem(sys.modules, "torch")
    with pytest.raises(Unknown, match="torch was not loaded in this run"):
        ask_torch("version.cuda")
    assert "torch" not in sys.modules


def test_a_gpu_in_use_is_named(
    planted_torch: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Name, capability and the driver that compiled its kernels."""
    planted_torch.cuda = SimpleNamespace(
        is_initialized=lambda: True,
        current_device=lambda: 0,
        get_device_name=lambda: "NVIDIA A100-SXM4-40GB",
        get_device_capability=lambda: (8, 0),
    )
    driver = tmp_path / "version"
    driver.write_text(
        "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  550.54.14  Release Build\nGCC 12\n"
    )
    monkeypatch.setattr(gpu, "DRIVER_VERSION", driver)
    assert (gpu.read_gpu_name(), gpu.read_gpu_capability()) == ("NVIDIA A100-SXM4-40GB", "8.0")
    assert gpu.read_gpu_driver() == "550.54.14"
    driver.write_text(
        "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19 01:15:15 UTC 2023\n"
    )
    assert gpu.read_gpu_driver() == "535.104.05"
    driver.unlink()
    with pytest.raises(Unknown, match="does not have"):
        gpu.read_gpu_driver()


def test_a_version_does_not_depend_on_what_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A build suffix of the loaded module would make two runs on one machine differ."""
    installed = packages.read_installed_version("numpy")
    loaded = ModuleType("numpy")
    loaded.__version__ = f"{installed}+cu130"
    monkeypatch.setitem(sys.modules, "numpy", loaded)
    assert packages.read_installed_version("numpy") == installed


def test_a_loaded_package_of_another_release_is_the_fact(monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder in front of the path hides the installed distribution."""
    loaded = ModuleType("numpy")
    loaded.__version__ = "0.1"
    monkeypatch.setitem(sys.modules, "numpy", loaded)
    assert packages.read_installed_version("numpy") == "0.1"


def test_a_loaded_package_without_distribution_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Debian's cv2 comes without metadata."""
    loaded = ModuleType("planted_vision")
    loaded.__version__ = "4.6.0"
    monkeypatch.setitem(sys.modules, "planted_vision", loaded)
    assert packages.read_installed_version("planted_vision") == "4.6.0"


def test_a_package_that_is_not_there_is_unknown() -> None:
    """Not installed is a reason like any other."""
    with pytest.raises(Unknown, match="not installed"):
        packages.read_installed_version("no_such_package_of_ours")


def test_pillow_tells_its_libraries_once_loaded() -> None:
    """The JPEG decoder decides pixels, so its release is on record."""
    pytest.importorskip("PIL.Image")
    assert packages.read_pillow_libjpeg_turbo()[0].isdigit()
    assert packages.read_pillow_zlib()[0].isdigit()


@pytest.mark.parametrize(
    "text",
    ["__version__ = '9.1.0+cu130'\n", 'from x import y\n__version__: str = "9.1.0+cu130"\ngit = "1"\n'],
)
def test_torch_that_is_not_loaded_has_the_version_that_it_reports_when_loaded(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its distribution may lack the build: one machine would have two versions of it."""
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch/__init__.py").write_text("raise ImportError('imported')")
    version = tmp_path / "torch/version.py"
    version.write_text(text)
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    assert torch_build.read_torch_version() == "9.1.0+cu130"
    version.write_text("debug = False\n")
    assert torch_build.read_torch_version() == packages.read_installed_version("torch")
