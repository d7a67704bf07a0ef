"""Calls of functions that no module's flag shows."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_modelreg.observe.tracing.function_watch import watch_functions

torch = pytest.importorskip("torch")
F = torch.nn.functional


def notice(run: Any) -> list[tuple[str, bool]]:
    """Return what was noticed while something ran."""
    found: list[tuple[str, bool]] = []

    def note(function: str, *, trains: bool) -> None:
        found.append((function, trains))

    with watch_functions(note):
        run(torch.ones(2, 3, 4))
    return found


@pytest.mark.parametrize(
    "run",
    [
        lambda x: F.dropout(x, 0.5),
        lambda x: F.dropout(x, 0.5, True),
        lambda x: torch.dropout(x, 0.5, True),
        lambda x: torch.nn.Dropout(0.5)(x),
    ],
    ids=["default", "by position", "torch.dropout", "module in train mode"],
)
def test_dropout_that_drops_is_noticed(run: Any):
    """However it is called."""
    assert ("dropout", True) in notice(run)


@pytest.mark.parametrize(
    "run",
    [
        lambda x: F.dropout(x, 0.5, training=False),
        lambda x: torch.nn.Dropout(0.5).eval()(x),
        lambda x: torch.nn.BatchNorm1d(3).eval()(x),
        lambda x: x * 2 + x.mean(),
    ],
    ids=["switched off", "module in eval mode", "normalisation in eval mode", "arithmetic"],
)
def test_what_is_as_in_evaluation_is_not_noticed(run: Any):
    """A dropout that passes everything on is none."""
    assert notice(run) == []


def test_a_normalisation_over_the_batch_is_noticed():
    """Statistics of the batch are those of training."""
    assert ("batch_norm", True) in notice(lambda x: torch.nn.BatchNorm1d(3)(x))


@pytest.mark.parametrize("name", ["rand", "randn", "randint"])
def test_a_drawing_function_is_noticed(name: str):
    """Whatever generator it draws from."""
    arguments = (10, (2,)) if name == "randint" else (2,)
    found = notice(lambda _: getattr(torch, name)(*arguments, generator=torch.Generator()))
    assert found == [(name, False)]
