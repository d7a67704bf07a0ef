"""The output kinds known by name.

To add one: a module with a :class:`Kind`, listed in :data:`KINDS` and in
``domain.check.DEFAULT_CHECKS``.
"""

from __future__ import annotations

from pytest_modelreg.judge.kinds.classification import CLASSIFICATION
from pytest_modelreg.judge.kinds.embedding import EMBEDDING
from pytest_modelreg.judge.kinds.kind import Kind
from pytest_modelreg.judge.kinds.regression import REGRESSION
from pytest_modelreg.judge.kinds.tensor import TENSOR

KINDS = {kind.name: kind for kind in (TENSOR, REGRESSION, CLASSIFICATION, EMBEDDING)}
"""By name."""

__all__ = ["KINDS", "Kind"]
