"""The causes that judging itself can name, because both sides say so. All others take a diagnosis.

To add one: a function that returns findings, called by :func:`find_causes`.
"""

from __future__ import annotations

from collections.abc import Sequence

from pytest_modelreg.domain.cause import Cause, CauseFinding
from pytest_modelreg.domain.observation import PreprocessHabit
from pytest_modelreg.judge.alignment import Alignment
from pytest_modelreg.judge.inputs import list_habits
from pytest_modelreg.judge.request import JudgeRequest
from pytest_modelreg.judge.structure import list_new_findings
from pytest_modelreg.judge.tie_order import TieOrder
from pytest_modelreg.judge.wording import count_of

N_SAMPLES = 20
"""Ids in a cause's evidence: the others are counted."""

RANDOM = ("random", "unseeded")


def find_causes(
    request: JudgeRequest,
    alignment: Alignment,
    *,
    has_compared: bool,
    has_drifted: bool,
    tie_orders: Sequence[TieOrder],
) -> tuple[CauseFinding, ...]:
    """Return every cause that judging can name.

    Parameters
    ----------
    has_compared : bool
        Whether a value of a common sample was compared.
    has_drifted : bool
        Whether the case did.
    tie_orders : sequence of TieOrder
        Outputs of which nothing but the order of ties changed.
    """
    found = [*_find_export_causes(request)]
    if has_drifted and alignment.changed_inputs and alignment.knows_inputs:
        found += [_blame_habit(request, alignment, habit) for habit in list_habits(request)]
    found += [_blame_tie_order(order) for order in tie_orders]
    found += find_sample_cause(alignment, has_compared=has_compared, has_drifted=has_drifted)
    return tuple(found)


def _find_export_causes(request: JudgeRequest) -> list[CauseFinding]:
    findings = list_new_findings(request)
    if not findings:
        return []
    first = findings[0]
    more = f", and {len(findings) - 1} more" if len(findings) > 1 else ""
    return [
        CauseFinding(
            cause=Cause.RUNTIME_EXPORT,
            confidence=1.0,
            summary="what the runtime made of the model is not as declared: "
            f"{first.what} of {first.subject}: expected {first.expected}, got {first.actual}{more}",
            evidence={
                "findings": [
                    {
                        "subject": finding.subject,
                        "what": finding.what,
                        "expected": finding.expected,
                        "actual": finding.actual,
                    }
                    for finding in findings
                ]
            },
        )
    ]


def _blame_habit(request: JudgeRequest, alignment: Alignment, habit: PreprocessHabit) -> CauseFinding:
    """Return the cause of a drift whose inputs differ too; another preprocess, if declared, may be it."""
    is_random = habit.habit in RANDOM
    return CauseFinding(
        cause=Cause.NONDETERMINISM if is_random else Cause.PREPROCESS_OTHER,
        confidence=0.5 if request.declares("preprocess") else 0.9,
        summary=f"of preprocessing, not of the model: {habit.summary}" if is_random else habit.summary,
        evidence={
            "habit": habit.habit,
            "samples": list(habit.samples[:N_SAMPLES]),
            "n_samples": len(habit.samples),
            "n_inputs_differ": len(alignment.changed_inputs),
        },
    )


def _blame_tie_order(order: TieOrder) -> CauseFinding:
    return CauseFinding(
        cause=Cause.TIE_ORDER,
        confidence=0.9,
        summary=f"{order.output} changed in the order of ties only: "
        f"in {count_of(len(order.samples), 'sample')} it swaps entries "
        f"that {order.scores} holds equal in the golden",
        evidence={
            "output": order.output,
            "scores": order.scores,
            "samples": list(order.samples[:N_SAMPLES]),
            "n_samples": len(order.samples),
            "n_swapped": order.n_swapped,
        },
    )


def find_sample_cause(
    alignment: Alignment, *, has_compared: bool, has_drifted: bool
) -> tuple[CauseFinding, ...]:
    """Return cause ``samples.content`` where the sample set differs from the golden's.

    It explains why a golden is stale. It does not explain a drift among samples whose files
    are as they were, hence the low confidence there.

    Parameters
    ----------
    has_compared : bool
        Whether a value of a common sample was compared.
    has_drifted : bool
        Whether the common samples drifted.
    """
    difference = alignment.difference
    if not difference:
        return ()
    return (
        CauseFinding(
            cause=Cause.SAMPLES_CONTENT,
            confidence=0.2 if has_drifted else 1.0,
            summary=_summarise(len(alignment.common), has_compared=has_compared, has_drifted=has_drifted),
            evidence={
                "added": list(difference.added),
                "removed": list(difference.removed),
                "changed": list(difference.changed),
            },
        ),
    )


def _summarise(n_common: int, *, has_compared: bool, has_drifted: bool) -> str:
    """Return what the message does not say already: which samples differ is in there."""
    common = f"the {count_of(n_common, 'common sample')}" if n_common > 1 else "the only common sample"
    if has_drifted:
        return (
            f"the pinned samples changed, which does not explain the drift: it is in {common}, "
            f"{'whose files are' if n_common > 1 else 'whose file is'} unchanged"
        )
    if not has_compared:
        return "the pinned samples changed; whether the model did, no common sample can tell"
    return f"the pinned samples changed, not the model: {common} {'agree' if n_common > 1 else 'agrees'}"
