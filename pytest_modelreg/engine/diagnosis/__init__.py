"""Diagnosis of a session's drifts: what ``diagnose`` asks, carried out with what the session has.

What belongs here: the time that it may take and the port's implementation. What an answer means is
``diagnose``'s. :mod:`~.explanation` is imported when something drifted and not before: a run in which all
is well pays nothing for it.
"""

from __future__ import annotations

from pytest_modelreg.engine.diagnosis.budget import DIAGNOSE_MODES, DiagnosisBudget

__all__ = ["DIAGNOSE_MODES", "DiagnosisBudget"]
