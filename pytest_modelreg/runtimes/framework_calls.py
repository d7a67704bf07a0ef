"""Calls into frameworks that talk: what they print, log and warn about.

What belongs here: the context around our own calls of exporters and compilers. Their
warnings are recorded by whoever records, and are no errors under ``-W error``; their
progress reports would otherwise stand in the middle of a test run's output.
"""

from __future__ import annotations

import io
import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout

_TRACE = "torch.__trace"


@contextmanager
def quiet_framework() -> Iterator[None]:
    """Keep a framework from printing and logging, and its warnings from being raised.

    A recorder of warnings that is in place outside still gets them.
    """
    disabled = logging.root.manager.disable
    logging.disable(max(disabled, logging.ERROR))
    try:
        spoken = io.StringIO()
        with (
            _quiet_trace(),
            warnings.catch_warnings(),
            redirect_stdout(spoken),
            redirect_stderr(spoken),
        ):
            warnings.simplefilter("always")
            # When an unclosed file is collected is chance.
            warnings.simplefilter("ignore", ResourceWarning)
            yield
    finally:
        logging.disable(disabled)


@contextmanager
def _quiet_trace() -> Iterator[None]:
    """Keep records of torch's compilers to those who asked torch for them.

    This logger ignores ``logging.disable``, and pytest's handlers reach loggers that do not propagate:
    hundreds of empty DEBUG lines would stand below a failing case. Handlers of torch itself, which
    TORCH_TRACE asks for, stay.
    """
    trace = logging.root.manager.loggerDict.get(_TRACE)
    strangers: list[logging.Handler] = []
    if isinstance(trace, logging.Logger):
        strangers = [found for found in trace.handlers if not type(found).__module__.startswith("torch.")]
        for handler in strangers:
            trace.removeHandler(handler)
    try:
        yield
    finally:
        if isinstance(trace, logging.Logger):
            for handler in strangers:
                trace.addHandler(handler)
