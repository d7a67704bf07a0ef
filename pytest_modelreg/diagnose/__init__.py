"""Diagnosing: why a case drifted, by replaying it with one thing changed at a time.

What belongs here: from both sides of a drift, and answers to replays, to causes with evidence. What does
not: running a model (the port :class:`~.port.Replay` asks for that), verdicts, rendering.

To add a cause, add a step that returns findings and call it from ``diagnosis``, which holds the order.
"""

from __future__ import annotations

from pytest_modelreg.diagnose.diagnosis import explain_drift
from pytest_modelreg.diagnose.inputs import InputPair
from pytest_modelreg.diagnose.port import Answer, Change, DriftCase, Replay, TraceAt

__all__ = ["Answer", "Change", "DriftCase", "InputPair", "Replay", "TraceAt", "explain_drift"]
