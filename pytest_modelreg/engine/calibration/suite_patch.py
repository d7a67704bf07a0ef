"""Proposed limits as text that a user applies: a diff against the suite file, else lines to paste.

What belongs here: the text, and whether it says what was meant, which the suite loader decides. What is
proposed where is ``proposal``'s. The suite file itself is never written.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pytest_modelreg.domain.case import OutputSpec
from pytest_modelreg.domain.check import Limit, OutputChecks
from pytest_modelreg.domain.errors import SuiteFileError
from pytest_modelreg.domain.output_path import find_entry
from pytest_modelreg.engine.calibration.calibration import GoldenCalibration
from pytest_modelreg.engine.calibration.case_advice import GATE
from pytest_modelreg.engine.calibration.proposal import (
    ProposedLimit,
    SuiteLine,
    find_prefix,
    list_lines,
    list_proposals,
)
from pytest_modelreg.engine.calibration.suite_edit import render_key, set_value
from pytest_modelreg.engine.suite import CasePlan, Suite
from pytest_modelreg.engine.suite_loading import parse_suite

_BOM = "\ufeff"
_LINES = re.compile(r"[^\n]*\n|[^\n]+")


@dataclass(frozen=True, kw_only=True)
class SuitePatch:
    """What a user may apply to a suite file.

    Parameters
    ----------
    file : pathlib.Path
        The suite file.
    text : str
        A unified diff, or YAML to paste.
    is_diff : bool
        Which of both.
    base : pathlib.Path
        Folder that the names in the diff are relative to.
    n_limits : int
        Limits that it changes.
    """

    file: Path
    text: str
    is_diff: bool
    base: Path
    n_limits: int


def write_suite_patch(
    suite: Suite, calibrations: Sequence[GoldenCalibration], root: Path
) -> SuitePatch | None:
    """Return the proposals for a suite file as text; None where every limit is kept.

    Parameters
    ----------
    root : pathlib.Path
        The project's root: where modules are looked for, and what messages are relative to.
    """
    content = suite.file.read_bytes().decode("utf-8")
    prefix, text = (_BOM, content[1:]) if content.startswith(_BOM) else ("", content)
    proposals = list_proposals(text, calibrations)
    if not proposals:
        return None
    base = _find_base(suite.file, root)
    lines = list_lines(text, proposals)
    changed = _edit(text, lines)
    if changed is not None and _says_what_was_meant(suite, changed, proposals, calibrations, root):
        diff = _render_diff(prefix + text, prefix + changed, suite.file.relative_to(base).as_posix())
        return SuitePatch(file=suite.file, text=diff, is_diff=True, base=base, n_limits=len(proposals))
    snippet = _render_snippet(lines)
    return SuitePatch(file=suite.file, text=snippet, is_diff=False, base=base, n_limits=len(proposals))


def _edit(text: str, lines: Sequence[SuiteLine]) -> str | None:
    changed: str | None = text
    for line in lines:
        if changed is not None:
            changed = set_value(changed, line.place, line.value, line.comment)
    return changed


def _says_what_was_meant(
    suite: Suite,
    text: str,
    proposals: Sequence[ProposedLimit],
    calibrations: Sequence[GoldenCalibration],
    root: Path,
) -> bool:
    """Whether the loader reads the changed text as the same suite with the proposed limits."""
    try:
        changed = parse_suite(text, suite.file, rootdir=root)
    except SuiteFileError:
        return False
    if len(changed.cases) != len(suite.cases):
        return False
    outputs = {path for calibration in calibrations for path in calibration.observation.outputs}
    wanted = {target: proposal.value for proposal in proposals for target in proposal.targets}
    by_id = {case.id: case for case in suite.cases}
    shared = {(find_prefix(text, by_id[case]), path): value for (case, path), value in wanted.items()}
    for before, after in zip(suite.cases, changed.cases, strict=True):
        same = replace(after.template, outputs=before.template.outputs) == before.template
        if not same or after.keeps_golden != before.keeps_golden:
            return False
        for path in outputs:
            asked, was = after.checks.of(path), before.checks.of(path)
            if _without_gate(asked) != _without_gate(was) or _meaning(after, path) != _meaning(before, path):
                return False
            inherits = _find_gate(was) == _find_gate(suite.cases[0].checks.of(path))
            heir = wanted.get((suite.cases[0].id, path)) if inherits else None
            limit = _find_gate(asked)
            # Combinations of a matrix, and the files of a checkpoint pattern, have their limits in one place.
            heir = shared.get((find_prefix(text, after), path), heir)
            value = wanted.get((after.id, path), heir)
            if limit != _find_gate(was) if value is None else limit is None or limit.value != value:
                return False
    return True


def _find_gate(asked: OutputChecks) -> Limit | None:
    return next((limit for limit in asked.limits if limit.name == GATE), None)


def _without_gate(asked: OutputChecks) -> OutputChecks:
    return replace(asked, limits=tuple(limit for limit in asked.limits if limit.name != GATE))


def _meaning(case: CasePlan, path: str) -> OutputSpec:
    """Return what an output is said to be; an entry that only carries checks says nothing new."""
    return replace(find_entry(path, case.outputs) or OutputSpec(), per_is_declared=False)


def _find_base(file: Path, root: Path) -> Path:
    """Return the folder that ``git apply`` takes names from: the repository's, else the project's."""
    repository = next((folder for folder in file.parents if (folder / ".git").exists()), None)
    base = repository or root
    return base if file.is_relative_to(base) else file.parent


def _render_diff(before: str, after: str, name: str) -> str:
    # A name with a space ends at a tab for git and patch alike.
    end = "\t" if " " in name else ""
    lines = difflib.unified_diff(
        _LINES.findall(before), _LINES.findall(after), f"a/{name}{end}", f"b/{name}{end}"
    )
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )


def _render_snippet(lines: Sequence[SuiteLine]) -> str:
    tree: dict[str, object] = {}
    for line in lines:
        below = tree
        for part in line.place[:-1]:
            below = below.setdefault(part, {})  # type: ignore[assignment]
        below[line.place[-1]] = line
    return "\n".join(_render_block(tree, "")) + "\n"


def _render_block(tree: Mapping[str, object], indent: str) -> list[str]:
    rendered: list[str] = []
    for key, value in tree.items():
        if isinstance(value, SuiteLine):
            rendered += [f"{indent}# {value.comment}", f"{indent}{render_key(key)}: {value.value}"]
        elif isinstance(value, Mapping):
            rendered += [f"{indent}{render_key(key)}:", *_render_block(value, f"{indent}  ")]
    return rendered
