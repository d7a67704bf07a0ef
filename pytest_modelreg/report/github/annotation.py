"""Annotations as workflow commands: lines of a job's log that GitHub shows beside the code.

What belongs here: the format and its escapes, as the runner reads them back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_modelreg.report.table import printable

MAX_ANNOTATIONS = 10
"""How many annotations of a level GitHub shows for a step; it drops the others without a word."""

MAX_MESSAGE = 1000
MAX_TITLE = 200


@dataclass(frozen=True, kw_only=True)
class Annotation:
    """One finding.

    Parameters
    ----------
    level : str
        ``error``, ``warning`` or ``notice``.
    message : str
        Text, which may have several lines.
    title : str
        One line; empty for none.
    file : str
        Relative to the root of the repository, with forward slashes; empty where it belongs to no file.
    line : int or None
        From 1; None where it belongs to the file as a whole.
    """

    level: str
    message: str
    title: str = ""
    file: str = ""
    line: int | None = None

    def render(self) -> str:
        """Return the workflow command, one line of printable characters."""
        places = {"file": self.file, "line": "" if not self.file or self.line is None else str(self.line)}
        given = places | {"title": _cut(" ".join(self.title.split()), MAX_TITLE)}
        properties = ",".join(f"{name}={escape_property(value)}" for name, value in given.items() if value)
        message = "\n".join(printable(line) for line in _cut(self.message, MAX_MESSAGE).splitlines())
        return f"::{self.level}{' ' if properties else ''}{properties}::{escape_data(message)}"


def render_annotations(found: Sequence[Annotation]) -> list[str]:
    """Return the workflow commands, the first ones of each level.

    Where there are more than GitHub shows, the last one says how many are left out.
    """
    lines = []
    for level in dict.fromkeys(annotation.level for annotation in found):
        same = [annotation for annotation in found if annotation.level == level]
        if len(same) > MAX_ANNOTATIONS:
            n_more = len(same) - (MAX_ANNOTATIONS - 1)
            same = [
                *same[: MAX_ANNOTATIONS - 1],
                Annotation(level=level, title="modelreg", message=f"{n_more} more, in the step's summary"),
            ]
        lines += [annotation.render() for annotation in same]
    return lines


def escape_data(text: str) -> str:
    """Return text as the message of a workflow command.

    Notes
    -----
    As ``escapeData`` of GitHub's ``actions/toolkit`` (``packages/core/src/command.ts``): the runner reads
    a command up to the end of the line.
    """
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def escape_property(text: str) -> str:
    """Return text as the value of a property of a workflow command.

    Notes
    -----
    As ``escapeProperty`` there: what would end the value or the properties is escaped too.
    """
    return escape_data(printable(text)).replace(":", "%3A").replace(",", "%2C")


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 3] + "..."
