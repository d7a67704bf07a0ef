"""Mixed precision around forward passes.

What belongs here: entering torch's autocast for a case that asks for it, and refusing where it
would silently do nothing.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from pytest_modelreg.domain.errors import RuntimeUnavailable
from pytest_modelreg.observe.model import is_module


def make_autocast(
    dtype: str | None, *, model: Any, device: str | None, case: str
) -> Callable[[], AbstractContextManager[Any]]:
    """Return what makes the context of one forward pass.

    Parameters
    ----------
    dtype : str or None
        What operators that can do so compute in; None for no mixed precision.
    device : str or None
        The case's; None: where the model's parameters are.

    Raises
    ------
    RuntimeUnavailable
        torch is not used by the case, or this torch would switch autocast off again.
    """
    if dtype is None:
        return nullcontext
    torch: Any = sys.modules.get("torch")
    if torch is None:
        raise RuntimeUnavailable(
            f"{case}: autocast: {dtype}: needs a model that runs in torch, which nothing has imported; "
            f"remove the axis"
        )

    device_type = _find_device_type(model, device)

    def enter() -> AbstractContextManager[Any]:
        context: AbstractContextManager[Any] = torch.autocast(device_type, dtype=getattr(torch, dtype))
        return context

    with warnings.catch_warnings():  # that it is switched off is said by the error below
        warnings.simplefilter("ignore")
        try:
            is_on = getattr(enter(), "_enabled", True)
        except RuntimeError as error:
            raise RuntimeUnavailable(f"{case}: autocast: {dtype} on {device_type}: {error}") from error
    if not is_on:
        raise RuntimeUnavailable(
            f"{case}: autocast: {dtype} on {device_type}: torch {torch.__version__} cannot, and would "
            f"compute in full precision; use bfloat16, or torch 2.4 or newer"
        )
    return enter


def _find_device_type(model: Any, device: str | None) -> str:
    if device is not None:
        return device.partition(":")[0]
    first = next(iter(model.parameters()), None) if is_module(model) else None
    return "cpu" if first is None else str(first.device.type)
