"""The job that runs this, as GitHub's runner describes it in environment variables.

What belongs here: what those variables mean. They are handed in, so that nothing here depends on where
it runs; any runner that sets the same ones is served alike.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

SUMMARY_VARIABLE = "GITHUB_STEP_SUMMARY"
MAX_SUMMARY_BYTES = 1024 * 1024
"""What a step's summary may take: GitHub refuses the whole of a larger one."""


def is_github_job(environ: Mapping[str, str]) -> bool:
    """Whether a job of GitHub Actions runs this."""
    return environ.get("GITHUB_ACTIONS") == "true"


def append_step_summary(text: str, environ: Mapping[str, str]) -> str | None:
    """Append Markdown to the summary of the step that runs this, when there is one.

    What the step wrote before stays. Outside of a job nothing is written.

    Parameters
    ----------
    text : str
        The Markdown.
    environ : mapping of str to str
        The environment: ``os.environ``.

    Returns
    -------
    str or None
        Why the summary is not there, for a warning; None when it is, or was not to be.
    """
    target = environ.get(SUMMARY_VARIABLE, "")
    if not is_github_job(environ) or not target:
        return None
    path = Path(target)
    # A lone surrogate (of a file name that has no UTF-8) is written as its escape.
    data = text.rstrip("\n").encode("utf-8", errors="backslashreplace") + b"\n"
    try:
        with path.open("ab+") as stream:  # other tools of the step write there too
            taken = stream.seek(0, os.SEEK_END)
            if taken:
                stream.seek(-1, os.SEEK_END)
                data = (b"\n" if stream.read(1) == b"\n" else b"\n\n") + data
            if taken + len(data) > MAX_SUMMARY_BYTES:
                return (
                    f"the step's summary was left alone: expected at most {MAX_SUMMARY_BYTES} bytes in "
                    f"{SUMMARY_VARIABLE}, got {taken + len(data)}; give the comparison a step of its own"
                )
            stream.write(data)
    except OSError as error:
        return (
            f"the step's summary was not written: {SUMMARY_VARIABLE}={target}: expected a file to append to: "
            f"{error.strerror or error}"
        )
    return None


def find_in_workspace(path: Path, environ: Mapping[str, str]) -> str:
    """Return a file relative to the checked-out repository, as annotations name files.

    Empty where it lies outside of it, or where nothing says which folder that is.
    """
    workspace = environ.get("GITHUB_WORKSPACE", "")
    if not workspace:
        return ""
    plain = Path(os.path.abspath(path)), Path(os.path.abspath(workspace))
    real = Path(os.path.realpath(path)), Path(os.path.realpath(workspace))
    for file, root in (plain, real):
        if file.is_relative_to(root):
            return file.relative_to(root).as_posix()
    return ""
