"""Default limits: every dtype that can be recorded has one, with its source."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import pytest_modelreg
from pytest_modelreg.domain.environment import Fingerprint
from pytest_modelreg.judge.defaults import find_default_limit, is_exact
from pytest_modelreg.store.element_type import DTYPE_NAMES

NOWHERE = Fingerprint(facts={})


@pytest.mark.parametrize("dtype", DTYPE_NAMES)
def test_every_recordable_dtype_has_a_default(dtype: str) -> None:
    """No output that can be stored is left without a limit, and only integers and bool have 0."""
    default = find_default_limit(dtype, NOWHERE, NOWHERE)
    assert default is not None
    assert default.source == f"dtype default ({dtype})"
    assert (default.value == 0.0) == is_exact(dtype)


@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        ("float64", 1e-10),
        ("float32", 1e-5),
        ("float16", 5e-3),
        ("bfloat16", 2e-2),
        ("complex64", 1e-5),
        ("complex128", 1e-10),
        ("float8_e4m3fn", 6.25e-2),
        ("float8_e5m2", 1.25e-1),
    ],
)
def test_defaults_are_the_documented_numbers(dtype: str, value: float) -> None:
    """The numbers that documentation and goldens rely on do not move by accident."""
    default = find_default_limit(dtype, NOWHERE, NOWHERE)
    assert default is not None
    assert default.value == value


def test_an_unknown_dtype_has_no_default() -> None:
    """A dtype nobody measured gets no number out of thin air."""
    assert find_default_limit("float4_e2m1", NOWHERE, NOWHERE) is None


GPU = {"gpu.name": "A100"}

REDUCED = [
    ("torch.cuda_matmul_tf32", True, GPU, "TF32", 5e-3),
    ("torch.cudnn_tf32", True, GPU, "TF32", 5e-3),
    ("torch.cuda_matmul_fp32_precision", "tf32", GPU, "TF32", 5e-3),
    ("torch.cudnn_conv_fp32_precision", "tf32", GPU, "TF32", 5e-3),
    ("torch.mkldnn_matmul_fp32_precision", "tf32", {}, "TF32", 5e-3),
    ("torch.mkldnn_conv_fp32_precision", "tf32", {}, "TF32", 5e-3),
    ("torch.mkldnn_matmul_fp32_precision", "bf16", {}, "bfloat16", 2e-2),
    ("torch.mkldnn_conv_fp32_precision", "bf16", {}, "bfloat16", 2e-2),
]
"""Every setting alone: key, value, what else has to be known, the precision's name and its limit."""


@pytest.mark.parametrize(("key", "value", "more", "name", "limit"), REDUCED)
@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_each_setting_alone_widens_the_default_on_either_side(
    key: str, value: Any, more: dict[str, Any], name: str, limit: float, dtype: str
) -> None:
    """Products of fewer bits move results by as much; the source says where and names the fact."""
    plain, reduced = Fingerprint(facts=more), Fingerprint(facts={**more, key: value})
    for expected, actual, where in (
        (reduced, plain, "the golden's"),
        (plain, reduced, "this"),
        (reduced, reduced, "the golden's and this"),
    ):
        default = find_default_limit(dtype, expected, actual)
        assert default is not None
        assert default.value == limit
        assert default.source == f"{name} enabled in {where} environment ({key})"


@pytest.mark.parametrize(
    "facts",
    [
        *({key: value} for key, value, more, _, _ in REDUCED if more),
        *({key: value, "gpu.name": None} for key, value, more, _, _ in REDUCED if more),
        *({key: value, "torch.mkldnn_enabled": False} for key, value, more, _, _ in REDUCED if not more),
        *({**more, key: False if value is True else "none"} for key, value, more, _, _ in REDUCED),
        *({**more, key: False if value is True else "ieee"} for key, value, more, _, _ in REDUCED),
        *({**more, key: None} for key, value, more, _, _ in REDUCED),
    ],
)
def test_a_setting_without_its_device_or_at_rest_widens_nothing(facts: dict[str, Any]) -> None:
    """cuDNN's switch is on by default, also where no GPU can use it; oneDNN's is idle when oneDNN is off."""
    default = find_default_limit("float32", Fingerprint(facts=facts), Fingerprint(facts=facts))
    assert default is not None
    assert (default.value, default.source) == (1e-5, "dtype default (float32)")


def test_the_coarsest_precision_counts() -> None:
    """TF32 on one side and bfloat16 on the other are judged at bfloat16's limit, and named for it."""
    default = find_default_limit(
        "float32",
        Fingerprint(facts={**GPU, "torch.cudnn_tf32": True}),
        Fingerprint(facts={"torch.mkldnn_conv_fp32_precision": "bf16"}),
    )
    assert default is not None
    assert default.value == 2e-2
    assert default.source == "bfloat16 enabled in this environment (torch.mkldnn_conv_fp32_precision)"


@pytest.mark.parametrize("dtype", ["float64", "float16", "bfloat16", "int64"])
def test_reduced_products_are_about_float32_only(dtype: str) -> None:
    """Other dtypes keep their own limit."""
    reduced = Fingerprint(facts={"torch.mkldnn_matmul_fp32_precision": "bf16"})
    assert find_default_limit(dtype, reduced, reduced) == find_default_limit(dtype, NOWHERE, NOWHERE)


def test_every_collected_precision_setting_is_decided_about() -> None:
    """A setting of float32 precision that a fingerprint records and no limit heeds would go unseen."""
    source = Path(pytest_modelreg.__file__).parent / "fingerprint" / "collectors" / "torch_knobs.py"
    recorded = set(re.findall(r'@fact\("(torch\.\w+(?:_tf32|_fp32_precision))"', source.read_text("utf-8")))
    assert recorded == {key for key, *_ in REDUCED}
