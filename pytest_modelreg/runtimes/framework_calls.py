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


@contextmanager
def quiet_framework() -> Iterator[None]:
    """Keep a framework from printing and logging, and its warnings from being raised.

    A recorder of warnings that is in place outside still gets them.
    """
    disabled = logging.root.manager.disable
    logging.disable(max(disabled, logging.ERROR))
    try:
        spoken = io.StringIO()
        with warnings.catch_warnings(), redirect_stdout(spoken), redirect_stderr(spoken):
            warnings.simplefilter("always")
            # When an unclosed file is collected is chance.
            warnings.simplefilter("ignore", ResourceWarning)
            yield
    finally:
        logging.disable(disabled)
