"""The HTML file: one template filled in, its style and script inside, small enough whatever the run."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Collection, Mapping, Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from pytest_modelreg.domain.errors import UsageFault
from pytest_modelreg.domain.exhibit import Exhibits
from pytest_modelreg.report.html.detail import LEVELS
from pytest_modelreg.report.html.run_view import RunView, view_run
from pytest_modelreg.report.table import printable

if TYPE_CHECKING:
    from jinja2 import Environment

MAX_BYTES = 3_000_000
"""What a page weighs at most, in bytes."""


def render_html(
    document: Mapping[str, Any],
    exhibits: Exhibits,
    *,
    problems: Sequence[str] = (),
    expected: Collection[str] = (),
) -> str:
    """Return a run as a page that needs nothing but itself.

    Parameters
    ----------
    document : mapping
        The report, as :func:`~pytest_modelreg.report.report_document` returns it.
    exhibits : Exhibits
        What is shown beside its numbers; what is not there is left out.
    problems : sequence of str
        What is wrong with the run as a whole.
    expected : collection of str
        Ids of cases that do not pass, as their tests say beforehand.

    Raises
    ------
    UsageFault
        When jinja2 is not installed, with the command that installs it.
    """
    environment = _open_templates()
    text = ""
    for detail in LEVELS:
        view = view_run(document, exhibits, problems=problems, expected=expected, detail=detail)
        text = _fill(environment, view)
        if len(text.encode("utf-8", "backslashreplace")) <= MAX_BYTES:
            break
    return text


def require_templates() -> None:
    """See that a page can be made, before anything that takes long is run for it.

    Raises
    ------
    UsageFault
        When jinja2 is not installed, with the command that installs it.
    """
    try:
        import jinja2  # noqa: F401
    except ModuleNotFoundError as error:
        raise UsageFault(
            "the HTML report: expected jinja2, which fills in the page, got none; "
            "pip install 'pytest-modelreg[html]'"
        ) from error


def _open_templates() -> Environment:
    require_templates()
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("pytest_modelreg.report.html"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_make_printable,
    )


def _make_printable(value: Any) -> Any:
    """Write control and direction-changing characters as escapes: names must not reorder a page."""
    return printable(value) if type(value) is str else value


def _fill(environment: Environment, view: RunView) -> str:
    from markupsafe import Markup

    folder = files("pytest_modelreg.report.html") / "templates"
    style, script = ((folder / name).read_text(encoding="utf-8") for name in ("report.css", "report.js"))
    policy = "; ".join(
        (
            "default-src 'none'",
            "img-src data:",
            f"style-src {_hash_source(style)}",
            f"script-src {_hash_source(script)}",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )
    page = environment.get_template("page.html")
    return page.render(run=view, style=Markup(style), script=Markup(script), policy=Markup(policy))


def _hash_source(text: str) -> str:
    """Return how a content security policy names exactly this style or script."""
    digest = base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
    return f"'sha256-{digest}'"
