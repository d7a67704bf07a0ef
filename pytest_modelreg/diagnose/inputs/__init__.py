"""How today's inputs differ from the golden's: named changes of preprocessing, replayed.

What belongs here: everything that takes what the model was fed on both sides, with the samples' files
where they are known, and answers which change turns one into the other, and how closely. A family of
hypotheses is a module that returns findings, called by :func:`explain_inputs`.
"""

from __future__ import annotations

from pytest_modelreg.diagnose.inputs.explanation import explain_inputs
from pytest_modelreg.diagnose.inputs.known_points import KnownPoints, PointPair
from pytest_modelreg.diagnose.inputs.pair import InputPair
from pytest_modelreg.diagnose.inputs.point_explanation import explain_points

__all__ = ["InputPair", "KnownPoints", "PointPair", "explain_inputs", "explain_points"]
