"""A call of a model is taken apart into named inputs and constants."""

from __future__ import annotations

import numpy as np

from pytest_modelreg.runtimes.graph.captured_call import capture_call

X = np.zeros((2, 3), np.float32)
Y = np.ones((2, 3), np.float32)


def forward(image, mask=None, *rest, flag=True, **options):
    """What a model's forward may look like."""


def test_inputs_are_named_by_parameter():
    """Positional and keyword arguments alike, variable ones included."""
    call = capture_call((X, Y, X), {"flag": False, "other": Y}, forward)
    assert list(call.inputs) == ["image", "mask", "rest.0", "other"]


def test_nested_inputs_are_named_by_their_keys():
    """A batch that is one argument."""
    call = capture_call(({"ids": X, "more": [Y, None]},), {}, forward)
    assert list(call.inputs) == ["image.ids", "image.more.0"]


def test_without_a_signature_inputs_are_numbered():
    """A file has no parameters."""
    assert list(capture_call((X, Y), {}, None).inputs) == ["0", "1"]
    assert list(capture_call((X, Y), {}, 3).inputs) == ["0", "1"]


def test_a_call_is_filled_with_other_inputs():
    """Constants stay, and the captured inputs are not kept."""
    hollow = capture_call(({"ids": X, "n": 3},), {"mask": Y, "flag": False}, forward).hollow()
    args, kwargs = hollow.fill(["new ids", "new mask"])
    assert args == ({"ids": "new ids", "n": 3},)
    assert kwargs == {"mask": "new mask", "flag": False}


def test_calls_of_other_sizes_share_a_signature():
    """Other constants, dtypes, ranks and structures do not."""
    base = capture_call((X,), {"flag": True}, forward).signature
    assert capture_call((X[:1],), {"flag": True}, forward).signature == base
    for args, kwargs in [
        ((X,), {"flag": False}),
        ((X.astype(np.float64),), {"flag": True}),
        ((X[0],), {"flag": True}),
        (([X],), {"flag": True}),
        ((X,), {"flag": True, "mask": None}),
    ]:
        assert capture_call(args, kwargs, forward).signature != base
