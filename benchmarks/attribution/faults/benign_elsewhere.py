"""Ways to run that must not matter: batches, threads, layouts, kernels, exports, another process."""

from __future__ import annotations

from benchmarks.attribution.edits import Append, Vary
from benchmarks.attribution.fault import BENIGN, Fault
from benchmarks.attribution.faults.planting import edit_suite, plant

DYNAMIC_TOKENS = "dynamic: {ids: {0: batch, 1: position}, mask: {0: batch, 1: position}}"
DEPLOY = '''"""What may be done to the network before it ships."""

import torch
from torch.nn.utils.fusion import fuse_conv_bn_weights


class WithoutMkldnn(torch.nn.Module):
    """A network on torch's own kernels."""

    def __init__(self, network):
        super().__init__()
        self.network = network

    def forward(self, values):
        """Answer."""
        with torch.backends.mkldnn.flags(enabled=False):
            return self.network(values)


def switch_mkldnn_off(network):
    """Run without oneDNN."""
    return WithoutMkldnn(network)


def fold(network):
    """Fold every BatchNorm of EfficientNet into the convolution before it."""
    pairs = [(network, "_conv_stem", "_bn0"), (network, "_conv_head", "_bn1")]
    for block in network._blocks:
        if hasattr(block, "_expand_conv"):
            pairs.append((block, "_expand_conv", "_bn0"))
        pairs += [(block, "_depthwise_conv", "_bn1"), (block, "_project_conv", "_bn2")]
    for owner, convolution, norm in pairs:
        conv, bn = getattr(owner, convolution), getattr(owner, norm)
        conv.weight, conv.bias = fuse_conv_bn_weights(
            conv.weight, conv.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias
        )
        setattr(owner, norm, torch.nn.Identity())
    return network
'''


def _vary(name: str, body: str) -> Fault:
    return plant(name, BENIGN, Append("deploy.py", DEPLOY), Vary(body), variant="changed")


FAULTS = (
    plant("photos-rerun", BENIGN),
    plant("staged-rerun", BENIGN),
    plant("tensors-rerun", BENIGN),
    plant("audio-rerun", BENIGN),
    plant("table-rerun", BENIGN),
    plant("tokens-rerun", BENIGN),
    plant("ranking-rerun", BENIGN),
    plant("photos-portable-kernels", BENIGN, variables={"ATEN_CPU_CAPABILITY": "default"}),
    plant("staged-portable-kernels", BENIGN, variables={"ATEN_CPU_CAPABILITY": "default"}),
    plant("tokens-hash-seed-set", BENIGN, variables={"PYTHONHASHSEED": "5"}),
    plant("audio-two-threads", BENIGN, variables={"OMP_NUM_THREADS": "2"}),
    edit_suite("photos-batch-1", BENIGN, "batch_size: 5", "batch_size: 1"),
    edit_suite("staged-batch-14", BENIGN, "batch_size: 6", "batch_size: 14"),
    edit_suite("tokens-batch-7", BENIGN, "batch_size: 4", "batch_size: 7"),
    _vary("photos-threads", "{threads: 2}"),
    _vary("photos-memory-channels-last", "{memory_format: channels_last}"),
    _vary("photos-mkldnn-off", '{runtime: {kind: eager, transform: "deploy:switch_mkldnn_off"}}'),
    _vary("photos-folded", '{runtime: {kind: eager, transform: "deploy:fold"}}'),
    _vary("photos-traced", "{runtime: {kind: onnx, exporter: torchscript}}"),
    _vary("staged-exported", "{runtime: export}"),
    _vary("staged-onnx", "{runtime: onnx}"),
    _vary("tensors-onnx", "{runtime: onnx}"),
    _vary("audio-traced", "{runtime: {kind: onnx, exporter: torchscript}}"),
    _vary("audio-exported", "{runtime: export}"),
    _vary("table-onnx", "{runtime: onnx}"),
    _vary("table-variable", "{environment: {variables: {SHOP_UNUSED: '1'}}}"),
    _vary("tokens-traced", f"{{runtime: {{kind: onnx, exporter: torchscript, {DYNAMIC_TOKENS}}}}}"),
    _vary("ranking-exported", "{runtime: export}"),
    _vary("staged-float64", "{dtype: float64, checks: {rel_l2: 1e-5}}"),
)
