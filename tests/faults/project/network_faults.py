"""What goes wrong with a trained network itself: transforms that take the healthy one."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import nn
from torch.nn import functional

LABELS = Path(__file__).with_name("imagenet_labels.txt")


class TrainingInForward(nn.Module):
    """A network whose forward pass puts it in train mode: no ``eval()`` before it helps."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, batch: torch.Tensor) -> torch.Tensor:
        """Return logits, statistics taken from the batch."""
        return self.network.train()(batch)


class DeafToEval(nn.BatchNorm2d):
    """A BatchNorm that always trains."""

    def train(self, mode: bool = True) -> DeafToEval:
        """Ignore the mode."""
        return super().train(True)


class DropoutAlways(nn.Module):
    """Dropout by the functional form, which is active unless told otherwise."""

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """Drop a fifth."""
        return functional.dropout(features, 0.2)


def train_in_forward(network: nn.Module) -> nn.Module:
    """Leave train mode on, behind ``eval()``'s back."""
    return TrainingInForward(network)


def ignore_eval(network: nn.Module) -> nn.Module:
    """Leave one BatchNorm in train mode, whatever is asked of it."""
    healthy = network._bn1
    deaf = DeafToEval(healthy.num_features, eps=healthy.eps, momentum=healthy.momentum)
    deaf.load_state_dict(healthy.state_dict())
    network._bn1 = deaf
    return network


def drop_always(network: nn.Module) -> nn.Module:
    """Leave dropout active."""
    network._dropout = DropoutAlways()
    return network


def sort_classes(network: nn.Module) -> nn.Module:
    """Number the classes in the order of the alphabet, as a folder of folders would: every score stays."""
    names = LABELS.read_text(encoding="utf-8").splitlines()
    order = sorted(range(len(names)), key=names.__getitem__)
    head = network._fc
    with torch.no_grad():
        head.weight.copy_(head.weight[order].clone())
        head.bias.copy_(head.bias[order].clone())
    return network


def change_one_layer(weights: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Return a checkpoint's weights with those of one layer in the middle a percent larger."""
    name = "_blocks.7._project_conv.weight"
    return {**weights, name: weights[name] * 1.01}
