"""How the intercom listens: chunk by chunk, the network remembers what it heard before."""

import torch

from intercom.audio import RATE_HZ

CHUNK = 512
CONTEXT = 64
"""Samples of the chunk before: the door station's file wants them in front, the other keeps them itself."""


def follow(model, clips):
    """Return for every clip, from a fresh start, how surely each chunk is speech: float32 (chunk,)."""
    listen = _listen_inside if hasattr(model, "reset_states") else _listen_outside
    return [torch.stack(listen(model, clip.split(CHUNK)[: len(clip) // CHUNK])) for clip in clips]


def _listen_inside(model, chunks):
    """The TorchScript archive keeps its state."""
    model.reset_states()
    return [model(chunk[None], RATE_HZ)[0, 0] for chunk in chunks]


def _listen_outside(model, chunks):
    """The ONNX file takes its state and returns the next one."""
    state, context = torch.zeros(2, 1, 128), torch.zeros(1, CONTEXT)
    heard = []
    for chunk in chunks:
        x = torch.cat([context, chunk[None]], 1)
        answer = model(input=x, state=state, sr=torch.tensor(RATE_HZ))
        state, context = answer["stateN"], x[:, -CONTEXT:]
        heard.append(answer["output"][0, 0])
    return heard
