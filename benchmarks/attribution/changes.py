"""Changes of files that are not text: weights and samples.

What belongs here: functions ``(path, *arguments)`` that rewrite one file, named by rows of the
list through :class:`benchmarks.attribution.edits.Change`. All are deterministic.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np


def _rewrite(path: Path, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Read a state dict, change it, and write it in the file's own format."""
    import torch
    from safetensors.torch import load_file, save_file

    is_safetensors = path.suffix == ".safetensors"
    state = load_file(path) if is_safetensors else torch.load(path, weights_only=True)
    state = change(dict(state))
    if is_safetensors:
        save_file({name: tensor.contiguous() for name, tensor in state.items()}, path)
    else:
        torch.save(state, path)


def _change_floats(path: Path, change: Callable[[str, Any], Any], names: str = "") -> None:
    """Change every floating-point tensor whose name holds ``names``."""

    def change_all(state: dict[str, Any]) -> dict[str, Any]:
        chosen = [name for name in state if names in name and state[name].is_floating_point()]
        if not chosen:
            raise ValueError(f"{path.name}: expected tensors named like {names!r}, got {', '.join(state)}")
        return {**state, **{name: change(name, state[name]) for name in chosen}}

    _rewrite(path, change_all)


def scale(path: Path, names: str, factor: float) -> None:
    """Multiply the tensors whose name holds ``names``."""
    _change_floats(path, lambda _, tensor: tensor * factor, names)


def shift(path: Path, names: str, amount: float) -> None:
    """Add to the tensors whose name holds ``names``."""
    _change_floats(path, lambda _, tensor: tensor + amount, names)


def round_to(path: Path, dtype: str) -> None:
    """Round every tensor to a narrower dtype and back."""
    import torch

    _change_floats(path, lambda _, tensor: tensor.to(getattr(torch, dtype)).to(tensor.dtype))


def add_noise(path: Path, strength: float, names: str = "") -> None:
    """Add noise, relative to each tensor's deviation; variances stay positive."""
    import torch

    generator = torch.Generator().manual_seed(99)

    def change(name: str, tensor: Any) -> Any:
        if name.endswith("running_var"):
            return tensor
        spread = tensor.std() if tensor.numel() > 1 else tensor.abs().mean()
        return tensor + strength * spread * torch.randn(tensor.shape, generator=generator)

    _change_floats(path, change, names)


def quantise(path: Path, n_levels: int) -> None:
    """Round every matrix to a few levels of its largest magnitude."""

    def change(_: str, tensor: Any) -> Any:
        if tensor.dim() < 2:
            return tensor
        step = tensor.abs().max() / n_levels
        return (tensor / step).round() * step

    _change_floats(path, change)


def prune(path: Path, share: float) -> None:
    """Set the smallest weights of every matrix to zero."""

    def change(_: str, tensor: Any) -> Any:
        if tensor.dim() < 2:
            return tensor
        return tensor * (tensor.abs() > tensor.abs().flatten().quantile(share))

    _change_floats(path, change)


def move_statistics(path: Path, share: float) -> None:
    """Move running statistics as a pass in train mode over other data would."""
    import torch

    generator = torch.Generator().manual_seed(98)

    def change(name: str, tensor: Any) -> Any:
        other = tensor + tensor.abs().mean() * torch.randn(tensor.shape, generator=generator)
        return torch.lerp(tensor, other.abs() if name.endswith("var") else other, share)

    _change_floats(path, change, "running_")


def set_row(path: Path, name: str, row: int) -> None:
    """Draw one row of a tensor anew."""
    import torch

    def change(_: str, tensor: Any) -> Any:
        tensor = tensor.clone()
        tensor[row] = torch.randn(tensor.shape[1:], generator=torch.Generator().manual_seed(97))
        return tensor

    _change_floats(path, change, name)


def swap(path: Path, first: str, second: str) -> None:
    """Exchange two tensors of the same shape."""
    _rewrite(path, lambda state: {**state, first: state[second].clone(), second: state[first].clone()})


def prefix(path: Path, text: str, names: str = "") -> None:
    """Put text before the names that hold ``names``, as a wrapper around the model does."""
    _rewrite(path, lambda state: {(text + k if names in k else k): v for k, v in state.items()})


def drop(path: Path, pattern: str) -> None:
    """Leave out the tensors in whose name the pattern is found."""
    _rewrite(path, lambda state: {k: v for k, v in state.items() if not re.search(pattern, k)})


def reorder(path: Path) -> None:
    """Write the same tensors in the opposite order."""
    _rewrite(path, lambda state: dict(reversed(state.items())))


def recompress(path: Path, quality: int) -> None:
    """Store a photo as JPEG of another quality."""
    from PIL import Image

    with Image.open(path) as image:
        image.convert("RGB").save(path, "JPEG", quality=quality)


def shrink(path: Path, factor: float) -> None:
    """Store a photo smaller."""
    from PIL import Image

    with Image.open(path) as image:
        size = (round(image.width * factor), round(image.height * factor))
        image.resize(size).save(path)


def copy_from(path: Path, other: str) -> None:
    """Give a file the content of its neighbour."""
    path.write_bytes((path.parent / other).read_bytes())


def rename(path: Path, other: str) -> None:
    """Give a file another name."""
    path.rename(path.parent / other)


def remove(path: Path) -> None:
    """Delete a file."""
    path.unlink()


def cut(path: Path, n_samples: int) -> None:
    """Drop the end of a waveform."""
    np.save(path, np.load(path)[:, :-n_samples])


def set_field(path: Path, key: str, value: float) -> None:
    """Change one number of a row."""
    row = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**row, key: value}), encoding="utf-8")
