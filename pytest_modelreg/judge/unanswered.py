"""A model that could not be run on its inputs, because they have another form than the golden's.

What belongs here: telling that as a drift. A new input shape is a finding: whoever changed
preprocessing must read what it makes now, and not only where a framework gave up on it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_modelreg.domain.cause import Cause, CauseFinding
from pytest_modelreg.domain.precheck import InputDistance
from pytest_modelreg.domain.result import CaseResult, SampleMeasures, SampleResult, StructureFinding
from pytest_modelreg.domain.verdict import Verdict
from pytest_modelreg.judge.alignment import describe_difference
from pytest_modelreg.judge.input_judgement import judge_inputs
from pytest_modelreg.judge.request import JudgeRequest
from pytest_modelreg.judge.wording import count_of

INPUTS = "inputs"
N_FORMS = 3
N_LISTED = 20

_Forms = Mapping["tuple[str, str]", Sequence[str]]


def judge_unanswered(request: JudgeRequest, *, failure: str, reason: str) -> CaseResult | None:
    """Hold the inputs of a case whose forward pass raised against those of its golden, by form.

    Parameters
    ----------
    request : JudgeRequest
        Its observation has inputs and no outputs.
    failure : str
        What was raised, with everything that is known of it.
    reason : str
        What was raised, in one line.

    Returns
    -------
    CaseResult or None
        Verdict ``drift`` with a finding for every other form; None where no form is known to differ,
        so that the inputs do not explain the failure.

    Raises
    ------
    GoldenError
        When a table of probes is not as recorded.
    """
    inputs = judge_inputs(request)
    other = {distance.sample: distance for distance in inputs.distances if distance.has_other_form}
    if not other:
        return None
    drifted = tuple(name for name in inputs.common if name in other)
    forms: dict[tuple[str, str], list[str]] = {}
    for name in drifted:
        forms.setdefault((other[name].expected_form, other[name].actual_form), []).append(name)
    return CaseResult(
        suite=request.observation.suite,
        variant=request.observation.variant,
        axes=request.observation.axes,
        verdict=Verdict.DRIFT,
        message=_describe(forms, n_common=len(inputs.common), reason=reason)
        + (
            f" (the sample set differs too: {describe_difference(inputs.difference)})"
            if inputs.difference
            else ""
        ),
        details=failure,
        n_samples=len(inputs.common),
        samples=tuple(_describe_sample(other[name]) for name in drifted[:N_LISTED]),
        drifted_samples=drifted,
        measures=SampleMeasures(ids=inputs.common, failed=tuple(name in other for name in inputs.common)),
        inputs_identical=False,
        structure=tuple(
            StructureFinding(output=INPUTS, what="form", expected=expected, actual=actual)
            for expected, actual in forms
        ),
        sample_set=inputs.difference,
        causes=(_blame_preprocess(request, forms, n_drifted=len(drifted)),),
        notes=inputs.notes,
    )


def _describe(forms: _Forms, *, n_common: int, reason: str) -> str:
    clauses = [
        f"{INPUTS}: expected {expected}, got {actual} in {len(names)} of {count_of(n_common, 'sample')}"
        for (expected, actual), names in list(forms.items())[:N_FORMS]
    ]
    more = f"; and {count_of(len(forms) - N_FORMS, 'other form')}" if len(forms) > N_FORMS else ""
    return f"{'; '.join(clauses)}{more}; the model gives no answer to them: {reason}"


def _describe_sample(distance: InputDistance) -> SampleResult:
    return SampleResult(
        id=distance.sample,
        ok=False,
        rel_l2=float("inf"),
        expected=distance.expected_form,
        actual=distance.actual_form,
        note="other input form",
    )


def _blame_preprocess(request: JudgeRequest, forms: _Forms, *, n_drifted: int) -> CauseFinding:
    is_layout = all(_is_permuted(expected, actual) for expected, actual in forms)
    expected, actual = next(iter(forms))
    what = "the same axes in another order" if is_layout else "inputs of another form"
    whose = "this variant's preprocess" if request.declares("preprocess") else "preprocessing"
    return CauseFinding(
        cause=Cause.PREPROCESS_LAYOUT if is_layout else Cause.PREPROCESS_OTHER,
        confidence=0.9,
        summary=f"{whose} makes {what} for {count_of(n_drifted, 'sample')}: "
        f"expected {expected}, got {actual}",
        evidence={
            "forms": [
                {
                    "expected": before,
                    "actual": after,
                    "n_samples": len(names),
                    "samples": list(names[:N_LISTED]),
                }
                for (before, after), names in forms.items()
            ]
        },
    )


def _is_permuted(expected: str, actual: str) -> bool:
    """Whether two forms name the same leaves, with the axes of one or more in another order."""
    return _sort_axes(expected) == _sort_axes(actual)


def _sort_axes(form: str) -> str:
    leaves = []
    for leaf in form.split(", "):
        head, _, shape = leaf.partition(" x ")
        start, _, first = head.rpartition(" ")
        leaves.append(f"{start} {sorted([first, *shape.split(' x ')])}")
    return ", ".join(leaves)
