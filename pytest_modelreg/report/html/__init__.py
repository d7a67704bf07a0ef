"""A run as one self-contained HTML file that opens on what is wrong.

Modules: ``page`` (the file: template, style, script, size), ``run_view``, ``case_row`` and
``case_view`` (what the templates are given), ``sample_view`` (the gallery), ``plots`` with ``scale``
(geometry of drawings), ``picture_shelf`` (every picture once), ``detail`` (how much is shown). ``templates``
holds markup, style and script. Every string reaches the file through a template that escapes it.

To show one more thing of a case, add it to a view and to a template. jinja2 is imported when a page is made.
"""

from pytest_modelreg.report.html.page import MAX_BYTES, render_html, require_templates

__all__ = ["MAX_BYTES", "render_html", "require_templates"]
