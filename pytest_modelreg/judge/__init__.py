"""Judging: an observation held against a golden, and what comes of it.

Modules, in the order of the work: ``request`` (both sides), ``alignment`` (sample set),
``sides`` (an output), ``structure`` and ``pairing`` (outputs and rows), ``plan`` with ``limits``,
``defaults`` and ``labels`` (what is ``applied``: which checks and limits), ``measurement`` (numbers),
``evaluation`` and ``functions`` (held against limits), ``output`` (one output judged), ``standings``
(of all samples), ``samples``,
``environment``, ``inputs``, ``tie_order``, ``message``, ``cause``, ``notes``, ``wording`` (what to say),
``case`` (all of it), ``input_judgement`` (the inputs alone, without a forward pass), ``unanswered``
(inputs of another form, to which the model gave no answer).
``checks`` and ``kinds`` hold what a suite can name, ``detection`` finds out which box is which.
``profile`` and ``summary`` serve recording.
"""

from __future__ import annotations

from pytest_modelreg.judge.alignment import describe_difference
from pytest_modelreg.judge.case import judge_case
from pytest_modelreg.judge.input_judgement import judge_inputs
from pytest_modelreg.judge.profile import profile_observation
from pytest_modelreg.judge.request import JudgeRequest
from pytest_modelreg.judge.summary import summarise
from pytest_modelreg.judge.unanswered import judge_unanswered

__all__ = [
    "JudgeRequest",
    "describe_difference",
    "judge_case",
    "judge_inputs",
    "judge_unanswered",
    "profile_observation",
    "summarise",
]
