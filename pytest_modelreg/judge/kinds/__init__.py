"""The output kinds known by name.

To add one: a module with a :class:`Kind`, listed in :data:`KINDS` and in
``domain.check.DEFAULT_CHECKS``.
"""

from __future__ import annotations

from pytest_modelreg.judge.kinds.classification import CLASSIFICATION
from pytest_modelreg.judge.kinds.detection import DETECTION
from pytest_modelreg.judge.kinds.embedding import EMBEDDING
from pytest_modelreg.judge.kinds.kind import Kind
from pytest_modelreg.judge.kinds.multilabel import MULTILABEL
from pytest_modelreg.judge.kinds.regression import REGRESSION
from pytest_modelreg.judge.kinds.segmentation import SEGMENTATION
from pytest_modelreg.judge.kinds.tensor import TENSOR
from pytest_modelreg.judge.kinds.tokens import TOKENS

KINDS = {
    kind.name: kind
    for kind in (TENSOR, REGRESSION, CLASSIFICATION, EMBEDDING, DETECTION, MULTILABEL, SEGMENTATION, TOKENS)
}
"""By name."""

__all__ = ["KINDS", "Kind"]
