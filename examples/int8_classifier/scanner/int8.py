"""The network's weights in 8 bits, as the scanner's flash memory holds them."""

import torch


def quantize(model):
    """Round the weights of every convolution and linear layer to 255 steps an output channel."""
    for module in model.modules():
        if isinstance(module, torch.nn.Conv2d | torch.nn.Linear):
            weight = module.weight.detach()
            step = weight.abs().amax(dim=tuple(range(1, weight.ndim)), keepdim=True) / 127
            levels = torch.clamp(torch.round(weight / step), -127, 127).to(torch.int8)
            module.weight = torch.nn.Parameter(levels.to(weight.dtype) * step, requires_grad=False)
    return model
