"""``--modelreg-html``: a run that is over as a page, with pictures from its folder, goldens and samples.

What belongs here: where the main process finds what is shown. What that is, is ``engine.exhibits``' and
``report.html``'s; both are loaded here only, when a page was asked for.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_modelreg.plugin.state import RunState


def write_page(
    document: Mapping[str, Any],
    state: RunState,
    target: Path,
    *,
    commands: Mapping[str, str],
    problems: Sequence[str],
    expected: Collection[str],
) -> None:
    """Write the page of a run, after everything else of it.

    Parameters
    ----------
    document : mapping
        The report of the run.
    commands : mapping of str to str
        By case id: the one command that accepts what was seen.
    problems : sequence of str
        What is wrong with the run as a whole.
    expected : collection of str
        Ids of cases that do not pass, as their tests say beforehand.

    Raises
    ------
    UsageFault
        When the file cannot be written, or jinja2 is not installed.
    """
    from pytest_modelreg.engine.exhibits import gather_exhibits
    from pytest_modelreg.engine.planned_case import PlannedCases
    from pytest_modelreg.report import write_report
    from pytest_modelreg.report.html import render_html

    planned = PlannedCases(state.base, state.suites.values())
    exhibits = gather_exhibits(
        document["cases"], state.made_run_folder, planned, state.base, commands=commands
    )
    write_report(render_html(document, exhibits, problems=problems, expected=expected), target)
