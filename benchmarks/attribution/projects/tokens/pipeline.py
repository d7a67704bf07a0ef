"""Sentences to token ids, padded to the longest of the batch."""

import torch
from vocabulary import WORDS

IDS = {word: index + 2 for index, word in enumerate(WORDS)}
PAD, UNKNOWN = 0, 1


def prepare(sentence: str) -> torch.Tensor:
    """Return int64 (position,)."""
    words = sentence.strip().lower().split()
    return torch.tensor([IDS.get(word, UNKNOWN) for word in words])


def collate(sentences: list[torch.Tensor]) -> dict[str, torch.Tensor]:
    """Return ids and mask, (batch, position)."""
    ids = torch.nn.utils.rnn.pad_sequence(sentences, batch_first=True, padding_value=PAD)
    lengths = torch.tensor([len(sentence) for sentence in sentences])
    return {"ids": ids, "mask": torch.arange(ids.shape[1])[None] < lengths[:, None]}
