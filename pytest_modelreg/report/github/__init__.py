"""What a job of GitHub Actions is told: annotations in its log, and the summary of its step.

What belongs here: the runner's formats, and where its environment variables say that things go.
Whoever calls hands the environment in. To tell one more thing, add a function that returns
:class:`Annotation` values or Markdown.
"""

from pytest_modelreg.report.github.annotation import MAX_ANNOTATIONS, Annotation, render_annotations
from pytest_modelreg.report.github.job import append_step_summary, find_in_workspace, is_github_job
from pytest_modelreg.report.github.run import SourceLine, annotate_run

__all__ = [
    "MAX_ANNOTATIONS",
    "Annotation",
    "SourceLine",
    "annotate_run",
    "append_step_summary",
    "find_in_workspace",
    "is_github_job",
    "render_annotations",
]
