"""Values on a curve, and pixels mixed with their neighbours: planted, and told from what resembles them."""

from __future__ import annotations

import numpy as np
import pytest

from tests.diagnose.test_diagnose_inputs_arrays import explain, imagenet, lite, unit

CURVES = {
    "gamma": (imagenet, lambda x: imagenet(255 * (x / 255) ** 2.2), "levels to the power of 2.2, a gamma"),
    "mild gamma": (unit, lambda x: unit(255 * (x / 255) ** 0.9), "levels to the power of 0.9, a gamma"),
    "tanh": (imagenet, lambda x: np.tanh(imagenet(x)), "their hyperbolic tangent"),
    "logistic": (lite, lambda x: 1 / (1 + np.exp(-lite(x))), "their logistic function"),
    "brighter, cut off": (imagenet, lambda x: imagenet(np.minimum(1.4 * x, 255)), "in the first channel"),
    "fewer levels": (unit, lambda x: unit(np.floor(x / 24) * 24), "cut off to steps"),
    "solarised": (lite, lambda x: lite(np.where(x < 128, x, 255 - x)), "becomes"),
}


@pytest.mark.parametrize("case", CURVES)
def test_curve_is_a_change_of_values_and_no_other_normalisation(case):
    """The best line leaves a third of it, and would be believed."""
    golden, today, words = CURVES[case]
    (finding,) = explain(golden, today)
    assert finding.cause.value == "preprocess.value_range"
    assert words in finding.summary
    assert finding.evidence["residual_after"] < 0.02
    assert finding.confidence > 0.9


def test_line_is_no_curve():
    """What fewer numbers say is what is told."""
    (finding,) = explain(imagenet, lambda x: imagenet(x) * 1.5 + 0.2)
    assert finding.evidence["hypothesis"] in ("line", "scaling")


def test_curve_that_half_of_the_values_deny_is_not_told():
    """Noise follows a curve that bends enough, until other values are asked."""
    rng = np.random.default_rng(0)
    (finding,) = explain(imagenet, lambda x: rng.standard_normal(x.shape))
    assert finding.evidence["hypothesis"] == "none"


PRECISIONS = {"float16": 2.0**-11, "bfloat16": 2.0**-8}


@pytest.mark.parametrize("dtype", PRECISIONS)
def test_inputs_that_went_through_fewer_bits_are_told_exactly(dtype):
    """A cast there and back, which differs from rounding to steps: small values keep more."""
    torch = pytest.importorskip("torch")

    def cast(levels):
        return torch.from_numpy(imagenet(levels)).to(getattr(torch, dtype)).double().numpy()

    (finding,) = explain(imagenet, cast)
    assert finding.evidence["actual"] == f"rounded to {dtype}"
    assert finding.evidence["residual_before"] < PRECISIONS[dtype]
    assert finding.evidence["residual_after"] < 1e-6


def mix(levels, kernel):
    """Return levels mixed with their neighbours, edges repeated."""
    padded = np.pad(levels, ((0, 0), (1, 1), (1, 1)), mode="edge")
    shifted = [
        weight * padded[:, dy : dy + levels.shape[1], dx : dx + levels.shape[2]]
        for dy, row in enumerate(kernel)
        for dx, weight in enumerate(row)
    ]
    return sum(shifted)


BLUR = np.outer([1, 2, 1], [1, 2, 1]) / 16
SHARPEN = np.array([[0, -1, 0], [-1, 8, -1], [0, -1, 0]]) / 4


@pytest.mark.parametrize(("kernel", "word"), [(BLUR, "blurred"), (SHARPEN, "sharpened")])
def test_filter_after_the_resize_is_named(kernel, word):
    """No file is needed: the golden's own pixels make today's."""
    (finding,) = explain(lite, lambda x: lite(mix(x, kernel)))
    assert finding.cause.value == "preprocess.other"
    assert finding.evidence["actual"] == word
    assert np.allclose(np.array(finding.evidence["constants"]["kernel"])[1:4, 1:4], kernel, atol=0.02)
    assert finding.confidence > 0.9


def test_move_is_no_filter():
    """One pixel aside is a kernel too, but that is told in pixels."""
    (finding,) = explain(
        lambda x: lite(x)[:, 8:72, 8:72], lambda x: lite(x)[:, 8:72, 9:73], height=80, width=80
    )
    assert finding.cause.value == "preprocess.geometry"
