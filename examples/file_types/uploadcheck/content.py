"""From a file's bytes to what the network is fed: its first and its last 1,024 bytes, as numbers."""

import numpy as np

N_BYTES = 1024
BLOCK = 4096
PADDING = 256
"""Stands for no byte."""


def read_ends(content):
    first = content[:BLOCK].lstrip()[:N_BYTES]
    last = content[-BLOCK:].rstrip()[-N_BYTES:]
    ends = np.full(2 * N_BYTES, PADDING, dtype=np.int32)
    ends[: len(first)] = list(first)
    ends[len(ends) - len(last) :] = list(last)
    return ends
