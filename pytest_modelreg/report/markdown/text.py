"""Strings made safe for GitHub-flavoured Markdown.

Ids, labels, messages and versions come from files, models and exceptions; a summary is
posted under somebody's name. What belongs here: the ways to write such a string so that
it can neither break the layout, nor link, nor notify anybody. Everything in
a summary goes through one of them.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence

from pytest_modelreg.report.table import printable

MAX_CODE = 80
MAX_PROSE = 400

_SPECIAL = re.compile(r"[\\`*\[\]|~$]")
_EDGE_UNDERSCORE = re.compile(r"(?<![^\W_])_|_(?![^\W_])")
_TRIGGERS = re.compile(r"@|#(?=\d)|(?<=\b[Gg][Hh])-(?=\d)|(?<=:)//|(?<=\bwww)\.", re.IGNORECASE)
_PARTING = "&#8203;"


def prose(text: str, *, limit: int = MAX_PROSE) -> str:
    """Return text for a line of prose or a table cell; it must not begin the line.

    Characters that mean something are escaped. Mentions, references to issues
    and bare links are found in the finished page, where an escape no longer counts: they
    are parted by a space of no width.
    """
    escaped = _SPECIAL.sub(r"\\\g<0>", html.escape(cut(_one_line(text), limit), quote=False))
    return _TRIGGERS.sub(_part, _EDGE_UNDERSCORE.sub(r"\\_", escaped))


def code(text: str, *, limit: int = MAX_CODE, in_table: bool = False) -> str:
    """Return text as a code span, in which GitHub takes nothing for a mention or a link.

    Parameters
    ----------
    in_table : bool
        Escape pipes: cells are split before code is looked for.
    """
    shown = cut(_one_line(text), limit)
    if not shown:
        return ""
    fence = "`" * (_longest_run(shown) + 1)
    padding = " " if "`" in (shown[0], shown[-1]) else ""
    span = f"{fence}{padding}{shown}{padding}{fence}"
    return span.replace("|", "\\|") if in_table else span


def html_code(text: str, *, limit: int = MAX_CODE) -> str:
    """Return text as code inside a block of HTML, where Markdown means nothing."""
    return f"<code>{html.escape(cut(_one_line(text), limit))}</code>"


def code_block(lines: Sequence[str], language: str = "") -> list[str]:
    """Return lines as a fenced block, each as it is but for control characters."""
    shown = [printable(line) for line in lines]
    fence = "`" * max(3, 1 + max(map(_longest_run, shown), default=0))
    return [f"{fence}{language}", *shown, fence]


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return a table of cells that are safe already."""
    return [_row(header), _row(["---"] * len(header)), *map(_row, rows)]


def cut(text: str, limit: int) -> str:
    """Return the text, its middle left out where it is longer than ``limit`` characters."""
    if len(text) <= limit:
        return text
    half = (limit - 3) // 2
    return f"{text[:half]}...{text[-half:]}"


def rest(n_hidden: int, what: str) -> list[str]:
    """Return a line that says how many are not shown; none where all are."""
    return ["", f"... {n_hidden} {what}"] if n_hidden > 0 else []


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _one_line(text: str) -> str:
    """Return printable text in one line; runs of white space are one space."""
    return printable(" ".join(text.split()))


def _part(trigger: re.Match[str]) -> str:
    # A mention or reference is parted behind its sign, a link in front of what makes it one.
    return _PARTING + trigger[0] if trigger[0] in ("//", ".") else trigger[0] + _PARTING


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall(r"`+", text)), default=0)
