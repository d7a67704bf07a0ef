"""A run as GitHub-flavoured Markdown, to be posted under a pull request.

What belongs here: what a reviewer reads, worst first, from the records of the JSON
report. How a string is made safe is ``text``'s. To add a block, add a function
that returns lines and place it in :func:`render_markdown`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from pytest_modelreg.domain.verdict import Verdict
from pytest_modelreg.report.markdown.budget import Budget
from pytest_modelreg.report.markdown.case import (
    CASE_COLUMNS,
    MAX_MESSAGE,
    Record,
    case_row,
    is_listed,
    rank_badness,
    render_details,
)
from pytest_modelreg.report.markdown.text import code, code_block, prose, rest, table
from pytest_modelreg.report.notes import group_notes, name_cases
from pytest_modelreg.report.text import summary_counts

MAX_TABLE_BYTES = 24_000
"""What the table of cases may take, so that the details of the worst still fit."""

MAX_COMMANDS = 10
MAX_COMMAND_LENGTH = 1000
MAX_RECORDED = 20
MAX_CHANGES = 20
MAX_PROBLEMS = 20
MAX_NOTES = 20


def render_markdown(
    document: Mapping[str, Any],
    *,
    commands: Mapping[str, str],
    notes: Mapping[str, Sequence[str]],
    problems: Sequence[str] = (),
    expected: Collection[str] = (),
) -> str:
    """Return the summary, of at most 60 KB of UTF-8; what is left out is said.

    Parameters
    ----------
    document : mapping
        The report, as :func:`~pytest_modelreg.report.report_document` returns it.
    commands, notes : mapping
        By case id: the one command that accepts what was seen, and facts worth a line.
    problems : sequence of str
        What is wrong with the run as a whole.
    expected : collection of str
        Ids of cases that do not pass, as their tests say beforehand.
    """
    cases: list[Record] = list(document["cases"])
    records = [record for record in cases if record["id"] not in expected]
    listed = sorted(filter(is_listed, records), key=rank_badness)
    shared = {note: ids for note, ids in group_notes(notes).items() if len(ids) > 1 or _is_match(ids, cases)}
    wanted = [commands[record["id"]] for record in listed if commands.get(record["id"])]
    text = Budget()
    text.add(_heading(records, n_expected=len(cases) - len(records)), called="the heading")
    text.add(_run_lines(document["run"], problems), called="what is wrong with the run")
    text.add_table(CASE_COLUMNS, [case_row(record) for record in listed], limit=MAX_TABLE_BYTES, called="row")
    text.add(_environment(listed), called="the environment's changes")
    text.add(_commands(wanted), called="the commands")
    text.add(_recorded(records), called="what was recorded")
    text.add(_expected(cases, expected), called="what was expected to fail")
    text.add(_notes(shared), called="the notes")
    own = {case: [note for note in texts if note not in shared] for case, texts in notes.items()}
    text.add_all(
        (render_details(record, own.get(record["id"], ())) for record in listed), called="details of a case"
    )
    return text.finish()


def _heading(records: Sequence[Record], *, n_expected: int) -> list[str]:
    verdicts = [Verdict(record["verdict"]) for record in records]
    compared = [verdict for verdict in verdicts if verdict is not Verdict.RECORDED]
    n_recorded = len(verdicts) - len(compared)
    parts = [summary_counts(compared) or "nothing was compared"]
    parts += [f"{n_recorded} recorded, not compared"] if n_recorded else []
    parts += [f"{n_expected} expected to fail"] if n_expected else []
    return [f"## modelreg: {'; '.join(parts)}"]


def _run_lines(run: Mapping[str, Any], problems: Sequence[str]) -> list[str]:
    lines = [f"- problem: {prose(problem)}" for problem in problems[:MAX_PROBLEMS]]
    if run["partial"]:
        lines.append("- partial run: something kept cases from running; an absent case proves nothing")
    commit = run["git"]["commit"]
    if commit:
        dirty = ", with changes that are not committed" if run["git"]["dirty"] else ""
        lines.append(f"- at commit {code(str(commit)[:12])}{dirty}")
    return lines


def _environment(records: Sequence[Record]) -> list[str]:
    """Return the changes of all listed cases, each once, in the cases' own order."""
    found: dict[tuple[str, str, str], int] = {}
    for record in records:
        for change in record["environment_changes"]:
            row = (str(change["key"]), _fact(change["expected"]), _fact(change["actual"]))
            found[row] = found.get(row, 0) + 1
    if not found:
        return []
    rows = [[*(code(cell, in_table=True) for cell in row), str(n_cases)] for row, n_cases in found.items()]
    return [
        "The environment differs from the goldens':",
        "",
        *table(["fact", "expected", "actual", "cases"], rows[:MAX_CHANGES]),
        *rest(len(rows) - MAX_CHANGES, "more fact(s) in the JSON report"),
    ]


def _commands(commands: Sequence[str]) -> list[str]:
    shown = [command for command in commands if len(command) <= MAX_COMMAND_LENGTH][:MAX_COMMANDS]
    if not commands:
        return []
    return [
        "If a change is intended:",
        "",
        *code_block(shown, "console"),
        *rest(len(commands) - len(shown), "more command(s), one a case"),
    ]


def _is_match(ids: Sequence[str], cases: Sequence[Record]) -> bool:
    """Whether a note is about a match, which is listed nowhere else."""
    return any(case["id"] in ids and case["verdict"] == Verdict.MATCH.value for case in cases)


def _notes(shared: Mapping[str, Sequence[str]]) -> list[str]:
    lines = [f"- {prose(name_cases(ids))}: {prose(note)}" for note, ids in shared.items()]
    if not lines:
        return []
    return ["Notes:", "", *lines[:MAX_NOTES], *rest(len(lines) - MAX_NOTES, "more note(s)")]


def _expected(cases: Sequence[Record], expected: Collection[str]) -> list[str]:
    found = [record for record in cases if record["id"] in expected]
    if not found:
        return []
    return [
        "Expected to fail, as the tests say:",
        "",
        *map(_list_line, found[:MAX_RECORDED]),
        *rest(len(found) - MAX_RECORDED, "more expected to fail"),
    ]


def _list_line(record: Record) -> str:
    told = "" if record["verdict"] == Verdict.RECORDED.value else f"{record['verdict']}: "
    return f"- {code(record['id'])}: {told}{prose(record['message'], limit=MAX_MESSAGE)}"


def _recorded(records: Sequence[Record]) -> list[str]:
    found = [record for record in records if record["verdict"] == Verdict.RECORDED.value]
    if not found:
        return []
    return [
        "Recorded in this run, so nothing was compared:",
        "",
        *map(_list_line, found[:MAX_RECORDED]),
        *rest(len(found) - MAX_RECORDED, "more recorded"),
    ]


def _fact(value: object) -> str:
    return "none" if value is None else str(value)
