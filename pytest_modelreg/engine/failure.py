"""How a case that could not run is put into words."""

from __future__ import annotations

from pytest_modelreg.observe.failure import describe_crash, describe_failure

__all__ = ["describe_crash", "describe_failure"]
