"""Rows as they are."""

import torch


def prepare(row: list[float]) -> torch.Tensor:
    """Return float32 (feature,)."""
    return torch.tensor(row, dtype=torch.float32)
