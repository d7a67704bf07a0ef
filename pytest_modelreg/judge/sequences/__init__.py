"""Token sequences: rows of tokens whose lengths may differ, and the scores that they were chosen by.

A sequence that was generated goes its own way from its first other token on, so where that token was a near
tie, neither tokens nor scores behind it are compared. Modules: ``parting`` (two sequences), ``rows`` (one
side as it is compared), ``scores`` (which output holds them), ``pairing`` (all samples of a case).
"""

from __future__ import annotations

from pytest_modelreg.judge.sequences.pairing import PairedSequences, pair_sequences
from pytest_modelreg.judge.sequences.scores import list_scores_faults

__all__ = ["PairedSequences", "list_scores_faults", "pair_sequences"]
