"""The closed vocabulary of causes, and one cause as found with its evidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

N_DIGITS = 3
"""Decimal places of a confidence."""


class Cause(str, Enum):
    """Why behaviour can drift. A detector names one of these or stays silent."""

    SAMPLES_CONTENT = "samples.content"
    PREPROCESS_DECODE = "preprocess.decode"
    PREPROCESS_CHANNEL_ORDER = "preprocess.channel_order"
    PREPROCESS_LAYOUT = "preprocess.layout"
    PREPROCESS_VALUE_RANGE = "preprocess.value_range"
    PREPROCESS_NORMALIZATION = "preprocess.normalization"
    PREPROCESS_INTERPOLATION = "preprocess.interpolation"
    PREPROCESS_GEOMETRY = "preprocess.geometry"
    PREPROCESS_OTHER = "preprocess.other"
    WEIGHTS_CHANGED = "weights.changed"
    WEIGHTS_NOT_LOADED = "weights.not_loaded"
    MODEL_MODE = "model.mode"
    MODEL_CODE = "model.code"
    NONDETERMINISM = "nondeterminism"
    BATCH_DEPENDENCE = "batch_dependence"
    RUNTIME_EXPORT = "runtime.export"
    RUNTIME_OPTIMIZATION = "runtime.optimization"
    RUNTIME_PRECISION = "runtime.precision"
    ENVIRONMENT = "environment"
    TIE_ORDER = "tie_order"
    UNKNOWN = "unknown"


@dataclass(frozen=True, kw_only=True)
class CauseFinding:
    """A named explanation of a drift.

    Parameters
    ----------
    cause : Cause
        From the closed vocabulary.
    confidence : float
        Dimensionless, 0 to 1; kept to :data:`N_DIGITS` digits.
    summary : str
        One sentence for people.
    evidence : mapping
        Builtin scalars, lists and mappings only: it goes into the report as it is.
    """

    cause: Cause
    confidence: float
    summary: str
    evidence: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # Weighed by products of shares: digits beyond say nothing and read as if they did.
        object.__setattr__(self, "confidence", round(self.confidence, N_DIGITS))
