"""Changes of a trained network that must not matter: transforms that take the network as it was."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import nn
from torch.nn.utils.fusion import fuse_conv_bn_weights


class WithoutMkldnn(nn.Module):
    """A network that runs on torch's own kernels."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, batch: torch.Tensor) -> torch.Tensor:
        """Return logits."""
        with torch.backends.mkldnn.flags(enabled=False):
            return self.network(batch)


class ScaleAndShift(nn.Module):
    """A BatchNorm in eval mode, its four vectors made two beforehand."""

    def __init__(self, norm: nn.BatchNorm2d) -> None:
        super().__init__()
        scale = norm.weight / torch.sqrt(norm.running_var + norm.eps)
        self.register_buffer("scale", scale.detach().view(-1, 1, 1))
        self.register_buffer("shift", (norm.bias - norm.running_mean * scale).detach().view(-1, 1, 1))

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """Return features of the same shape."""
        return features * self.scale + self.shift


class Refactored(nn.Module):
    """The same network in other words: BatchNorm as a line, pooling as a mean, the head as a product."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network
        for owner, _, norm in _list_norms(network):
            setattr(owner, norm, ScaleAndShift(getattr(owner, norm)))

    def forward(self, batch: torch.Tensor) -> torch.Tensor:
        """Return logits."""
        head = self.network._fc
        features = self.network.extract_features(batch).mean(dim=(2, 3))
        return torch.einsum("nf,cf->nc", features, head.weight) + head.bias


def _list_norms(network: nn.Module) -> Iterator[tuple[nn.Module, str, str]]:
    """Yield owner and names of every convolution with a BatchNorm behind it."""
    yield network, "_conv_stem", "_bn0"
    yield network, "_conv_head", "_bn1"
    for block in network._blocks:
        if hasattr(block, "_expand_conv"):
            yield block, "_expand_conv", "_bn0"
        yield block, "_depthwise_conv", "_bn1"
        yield block, "_project_conv", "_bn2"


def switch_mkldnn_off(network: nn.Module) -> nn.Module:
    """Run without oneDNN."""
    return WithoutMkldnn(network)


def refactor(network: nn.Module) -> nn.Module:
    """Write the network in another way."""
    return Refactored(network)


def fold(network: nn.Module) -> nn.Module:
    """Fold every BatchNorm into the weights before it, as a deployment does: each is rounded anew."""
    for owner, convolution, norm in _list_norms(network):
        conv, bn = getattr(owner, convolution), getattr(owner, norm)
        conv.weight, conv.bias = fuse_conv_bn_weights(
            conv.weight, conv.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias
        )
        setattr(owner, norm, nn.Identity())
    return network
