"""Which of many environment changes are named, and how."""

from __future__ import annotations

from pytest_modelreg.domain.environment import EnvironmentChange
from pytest_modelreg.judge.environment import describe_changes, rank_changes


def _changes(*keys: str) -> list[EnvironmentChange]:
    return [EnvironmentChange(key=key, expected="1", actual="2") for key in sorted(keys)]


def test_changes_are_ranked_by_how_telling_they_are() -> None:
    """What computes comes first, then what prepares, then the machine; thread counts and the rest last."""
    ranked = [
        "torch.version",
        "torch.default_dtype",
        "torch.mkldnn_enabled",
        "onnxruntime.version",
        "torchvision.version",
        "Pillow.version",
        "pillow.libjpeg_turbo",
        "numpy.version",
        "cpu.capability",
        "cpu.model",
        "gpu.name",
        "env.MKL_CBWR",
        "env.OMP_NUM_THREADS",
        "torch.num_interop_threads",
        "torch.num_threads",
        "libc",
        "onnx.version",
        "project.fact",
        "torch.build",
        "torch.git_version",
    ]
    assert [change.key for change in rank_changes(_changes(*ranked))] == ranked


def test_another_build_of_the_same_torch_is_telling() -> None:
    """The build's text follows from the version; where the version is equal, it is what changed."""
    keys = [change.key for change in rank_changes(_changes("torch.build", "numpy.version"))]
    assert keys == ["torch.build", "numpy.version"]


def test_a_few_changes_are_named_and_the_others_counted() -> None:
    """Three and a count; exactly three need none."""
    changes = _changes("a", "b", "c", "d", "e")
    assert describe_changes(changes, n_named=3) == "a 1 -> 2, b 1 -> 2, c 1 -> 2, 2 more"
    assert describe_changes(changes[:3], n_named=3) == "a 1 -> 2, b 1 -> 2, c 1 -> 2"


def test_a_long_value_is_named_by_key_only() -> None:
    """All flags of a CPU would bury what drifted; up to the limit a value is shown."""
    flags = EnvironmentChange(key="cpu.flags", expected="avx2", actual="x" * 49)
    model = EnvironmentChange(key="cpu.model", expected="y" * 48, actual=None)
    assert describe_changes([flags, model], n_named=3) == f"cpu.flags, cpu.model {'y' * 48} -> none"


def test_a_value_with_line_breaks_stays_on_the_line() -> None:
    """A variable may hold anything; a message is one line."""
    change = EnvironmentChange(key="env.MKL_CBWR", expected=None, actual="AVX2\nSTRICT")
    assert describe_changes([change], n_named=1) == "env.MKL_CBWR none -> AVX2 STRICT"
