"""A precheck in words for a terminal, and as Markdown: inputs first, then behaviour, then what to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pytest_modelreg.domain.listing import name_some
from pytest_modelreg.domain.precheck import InputDistance, InputResult, PrecheckResult
from pytest_modelreg.domain.result import CaseResult
from pytest_modelreg.domain.verdict import Verdict
from pytest_modelreg.report.markdown.text import code, code_block, prose, table
from pytest_modelreg.report.table import printable
from pytest_modelreg.report.text import render_case

N_CAUSES = 3
N_NAMED = 5
ENVIRONMENT_NOTE = "environment differs"
"""How the note of a match begins that explains why its inputs moved."""

MARKDOWN_COLUMNS = ("pipeline", "verdict", "what")


def render_precheck(result: PrecheckResult, *, verbose: bool = False) -> str:
    """Return the text of one pipeline, below no heading.

    Parameters
    ----------
    verbose : bool
        List every sample instead of the first few.
    """
    sharing = f" (and what is fed the same: {', '.join(result.sharing)})" if result.sharing else ""
    lines = [f"{result.id}{sharing}: {result.verdict.value}: {result.message}"]
    lines += [f"  {line}" for line in result.details.splitlines()]
    lines += [f"  cause: {finding.cause.value}: {finding.summary}" for finding in result.causes[:N_CAUSES]]
    if result.inputs is not None:
        lines += _inputs(result.inputs, is_match=result.verdict is Verdict.MATCH, verbose=verbose)
        if not _blames_habits(result):
            lines += [f"  preprocess: {habit.summary}" for habit in result.inputs.habits]
    lines += [f"  {note}" for note in result.notes]
    if result.behaviour is not None:
        lines += _behaviour(result.behaviour, verbose=verbose)
    if result.verdict is not Verdict.MATCH and result.command:
        word = "record it" if result.verdict is Verdict.MISSING else "if this change is intended"
        if result.advice:
            lines.append(f"  {word}: {result.advice}")
            word = "then"
        lines.append(f"  {word}: {result.command}")
    return "\n".join(printable(line) for line in lines)


def render_precheck_markdown(results: Sequence[PrecheckResult], left_out: Sequence[str] = ()) -> str:
    """Return a precheck as Markdown, for a comment on a merge request or a step summary.

    Parameters
    ----------
    left_out : sequence of str
        Suites that were not looked at, each with the reason.
    """
    n_bad = sum(result.verdict is not Verdict.MATCH for result in results)
    head = "nothing differs" if not n_bad else f"{n_bad} of {len(results)} pipelines differ"
    rows = [
        [code(result.id, in_table=True), result.verdict.value, prose(result.message)] for result in results
    ]
    lines = [f"### modelreg precheck: {head if results else 'nothing to look at'}", ""]
    if rows:
        lines += [*table(MARKDOWN_COLUMNS, rows), ""]
    for result in results:
        if result.verdict is not Verdict.MATCH:
            lines += [*code_block(render_precheck(result).splitlines()), ""]
    lines += [f"- {prose(line)}" for line in left_out]
    return "\n".join(lines).rstrip() + "\n"


def _behaviour(behaviour: CaseResult, *, verbose: bool) -> list[str]:
    """Return what the model makes of other inputs, but for its first line, which the message has."""
    if behaviour.verdict is Verdict.MATCH:
        return [f"  {note}" for note in behaviour.notes if note.startswith(ENVIRONMENT_NOTE)]
    if behaviour.verdict is not Verdict.DRIFT:
        return []
    # Notes on the inputs were given above; single elements say little when all inputs moved.
    shown = replace(behaviour, causes=(), notes=(), command="", advice="")
    if not verbose:
        shown = replace(shown, outputs={}, checks=())
    return [line.rstrip() for line in render_case(shown, verbose=verbose).splitlines()[1:]]


def _blames_habits(result: PrecheckResult) -> bool:
    """Whether what preprocessing does and should not is among the causes already."""
    return any("habit" in finding.evidence for finding in result.causes)


def _inputs(inputs: InputResult, *, is_match: bool, verbose: bool) -> list[str]:
    distances = inputs.distances
    if not distances or (is_match and inputs.dtypes and not verbose):
        return []  # the verdict has told it: dtypes, the same for every sample
    shown = distances if verbose else distances[:N_NAMED]
    named = name_some(map(_describe, shown), len(shown), n_total=len(distances))
    order = "farthest first: " if len(distances) > 1 and any(map(_is_known, distances)) else ""
    lines = [f"  {order}{named}"]
    if not any(map(_is_known, distances)):
        lines.append(
            "  how far is not on record: this golden keeps no probes of its inputs, or no number differs"
        )
    # What explains a difference that does not matter is noise.
    return lines + ([] if is_match and not verbose else [f"  {note}" for note in inputs.notes])


def _is_known(distance: InputDistance) -> bool:
    return distance.rel_l2 is not None or distance.has_other_form


def _describe(distance: InputDistance) -> str:
    if distance.has_other_form:
        return f"{distance.sample} (expected {distance.expected_form}, got {distance.actual_form})"
    if distance.rel_l2 is None:
        return distance.sample
    return f"{distance.sample} (rel_l2 about {distance.rel_l2:.2g})"
