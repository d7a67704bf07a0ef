"""Where and in which numbers a model runs: device, dtype and memory format, of the model and of its inputs.

What belongs here: moving and casting. Samples are digested before: two cases whose preprocessing
is the same say so, whatever their placement. Mixed precision is ``autocast``'s.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from pytest_modelreg.domain.case import CaseSpec
from pytest_modelreg.domain.errors import CaseSkipped, ModelError, RuntimeUnavailable
from pytest_modelreg.observe.arrays import is_tensor
from pytest_modelreg.observe.model import is_module
from pytest_modelreg.observe.user_code import attributed

_AXES_OF_FORMAT = {"channels_last": (4,), "channels_last_3d": (5,), "contiguous": (4, 5)}


def require_device(device: str | None, *, case: str, needs_torch: bool = True) -> None:
    """Make sure that this machine has the device, before anything expensive is done.

    Parameters
    ----------
    needs_torch : bool
        False for a runtime that may have the device without torch.

    Raises
    ------
    CaseSkipped
        It has not: no fault of the model.
    RuntimeUnavailable
        torch is not installed, or knows no such device.
    """
    if device is None or (device == "cpu" and not needs_torch):
        return
    try:
        import torch
    except ModuleNotFoundError as error:
        if not needs_torch:
            return
        raise RuntimeUnavailable(
            f"{case}: device {device!r}: needs torch, which is not installed: "
            f"pip install 'pytest-modelreg[torch]'"
        ) from error
    try:
        wanted = torch.device(device)
    except RuntimeError as error:
        raise RuntimeUnavailable(f"{case}: device: expected cpu, cuda or cuda:1, got {device!r}") from error
    if wanted.type == "cuda":
        n_devices = torch.cuda.device_count() if torch.cuda.is_available() else 0
        if (wanted.index or 0) >= n_devices:
            found = (
                f"only {n_devices} CUDA device{'s' if n_devices > 1 else ''}"
                if n_devices
                else "no CUDA device"
            )
            raise CaseSkipped(f"device {device!r}: this machine has {found} (torch {torch.__version__})")
    elif wanted.type != "cpu":
        try:
            torch.empty(1, device=wanted)
        except (RuntimeError, AssertionError, NotImplementedError, ImportError) as error:
            raise CaseSkipped(
                f"device {device!r}: this machine has none (torch {torch.__version__})"
            ) from error


@dataclass(frozen=True, kw_only=True)
class Placement:
    """What a case says of device, dtype and memory format; None leaves things as they are.

    Parameters
    ----------
    device, dtype, memory_format : str or None
        As in :class:`~pytest_modelreg.domain.case.CaseSpec`.
    """

    device: str | None = None
    dtype: str | None = None
    memory_format: str | None = None

    @classmethod
    def of(cls, spec: CaseSpec) -> Placement:
        """Return the placement that a case asks for."""
        return cls(device=spec.device, dtype=spec.dtype, memory_format=spec.memory_format)

    @property
    def is_given(self) -> bool:
        """Whether anything is to be moved or cast."""
        return (self.device, self.dtype, self.memory_format) != (None, None, None)

    @contextmanager
    def placing(self, model: Any, *, case: str) -> Iterator[None]:
        """Move and cast a model's parameters and buffers, and put the old ones back afterwards.

        A factory may return a module that the next case, or the user's own tests, get too:
        loaded again into float16 parameters, its float32 weights would be lost.

        Raises
        ------
        ModelError
            The model is no module, or refuses.
        """
        asked = {"device": self.device, "dtype": self.dtype, "memory_format": self.memory_format}
        # A plain callable runs where it runs, which is no fault for the one device that all have.
        asked = {axis: value for axis, value in asked.items() if value not in (None, "cpu")}
        if not is_module(model):
            if asked:
                named = ", ".join(f"{axis}: {value}" for axis, value in asked.items())
                raise ModelError(
                    f"{case}: {named}: needs a torch.nn.Module whose parameters can be moved and cast, "
                    f"got {type(model).__name__}; return a module from the factory, or remove the axis"
                )
            yield
            return
        if not self.is_given:
            yield
            return
        before = [
            (part, dict(part._parameters), dict(part._buffers), [one.data for one in _list_parameters(part)])
            for part in model.modules()
        ]
        try:
            with attributed(ModelError, f"{case}: placing the model ({_format(asked)})"):
                model._apply(self._convert)
            yield
        finally:
            for part, parameters, buffers, data in before:
                for own, old in ((part._parameters, parameters), (part._buffers, buffers)):
                    for name, value in old.items():
                        own[name] = value
                for parameter, value in zip(_list_parameters(part), data, strict=True):
                    parameter.data = value

    def place(self, inputs: Any) -> Any:
        """Return a batch whose tensors are moved and, where floating, cast.

        Parameters
        ----------
        inputs : Any
            What collate returned: tensors in mappings, tuples and lists. Everything else is
            left as it is, also integers, which are indices and masks.
        """
        return _map_tensors(inputs, self._convert) if self.is_given else inputs

    def _convert(self, tensor: Any) -> Any:
        import torch

        changes: dict[str, Any] = {}
        if self.device is not None:
            changes["device"] = self.device
        if tensor.is_floating_point():
            if self.dtype is not None:
                changes["dtype"] = getattr(torch, self.dtype)
            name = self.memory_format
            if name is not None and tensor.dim() in _AXES_OF_FORMAT[name]:
                changes["memory_format"] = getattr(torch, f"{name}_format" if name == "contiguous" else name)
        return tensor.to(**changes) if changes else tensor


def _list_parameters(part: Any) -> list[Any]:
    return [parameter for parameter in part._parameters.values() if parameter is not None]


def _map_tensors(value: Any, convert: Callable[[Any], Any]) -> Any:
    if is_tensor(value):
        return convert(value)
    if isinstance(value, Mapping):
        placed = {key: _map_tensors(item, convert) for key, item in value.items()}
        if type(value) is dict:
            return placed
        # A tokenizer's batch is a mapping with methods of its own.
        same: Any = copy.copy(value)
        for key, item in placed.items():
            same[key] = item
        return same
    if isinstance(value, tuple):
        items = [_map_tensors(item, convert) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    if isinstance(value, list):
        return [_map_tensors(item, convert) for item in value]
    return value


def _format(asked: Mapping[str, Any]) -> str:
    return ", ".join(f"{axis}: {value}" for axis, value in asked.items()) or "device: cpu"
