"""Judging a case with what its suite declares: dtypes, functions of its own, whose golden it meets.

What belongs here: bringing a plan's declarations to ``judge``, which knows no suites.
"""

from __future__ import annotations

from dataclasses import replace

from pytest_modelreg.domain.result import CaseResult
from pytest_modelreg.engine.suite import CasePlan
from pytest_modelreg.judge import JudgeRequest, judge_case
from pytest_modelreg.observe import suite_functions


def judge_as(case: CasePlan | None, request: JudgeRequest) -> CaseResult:
    """Judge what a case asks; values of a Python test have no case and declare nothing more.

    Raises
    ------
    JudgeError
        As :func:`~pytest_modelreg.judge.judge_case`.
    ImportReferenceError
        When a function that the suite names as a check cannot be imported.
    """
    if case is None:
        return judge_case(request)
    with suite_functions(case.template.python_path, case.functions, case=case.id) as functions:
        return judge_case(
            replace(
                request,
                compute_dtypes=case.compute_dtypes,
                allows_other_dtype=case.allows_other_dtype,
                is_variant=not case.keeps_golden,
                functions=functions,
            )
        )
