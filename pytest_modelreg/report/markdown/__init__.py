"""A run as a summary for a pull request, in GitHub-flavoured Markdown.

What belongs here: what a reviewer reads (``summary``, ``case``), how much of it
(``budget``), and how strings that are not ours are made safe (``text``). To show one more
thing, add a function that returns lines where it belongs; every string goes through
``text``.
"""

from pytest_modelreg.report.markdown.budget import MAX_BYTES
from pytest_modelreg.report.markdown.summary import render_markdown

__all__ = ["MAX_BYTES", "render_markdown"]
