"""Judging: an observation held against a golden, and what comes of it.

Modules, in the order of the work: ``request`` (both sides), ``alignment`` (sample set),
``structure`` and ``pairing`` (outputs and rows), ``plan`` with ``defaults`` (which checks and
limits), ``output`` with ``evaluation`` (measured and judged), ``standings`` (of all samples),
``samples``, ``environment``, ``message``, ``cause``, ``notes`` (what to say), ``case`` (all of it).
``checks`` and ``kinds`` hold what a suite can name.
``profile`` and ``summary`` serve recording.
"""

from __future__ import annotations

from pytest_modelreg.judge.case import judge_case
from pytest_modelreg.judge.profile import profile_observation
from pytest_modelreg.judge.request import JudgeRequest
from pytest_modelreg.judge.summary import summarise

__all__ = ["JudgeRequest", "judge_case", "profile_observation", "summarise"]
