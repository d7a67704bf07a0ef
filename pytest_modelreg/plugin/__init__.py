"""The pytest plugin: the only place, beside ``cli``, that turns wishes into a session.

This module is imported by every pytest run in an environment that has the package
installed, so it imports nothing but pytest; the rest is imported once ``--modelreg``
asks for it. What belongs here: hooks. Options are declared in ``options``, suite
files become items in ``collection``, records are gathered in ``recorder``.
"""

from __future__ import annotations

import pytest

from pytest_modelreg.plugin.options import add_options, is_enabled, require_enabled

MARKER = "modelreg: a model-behaviour case of pytest-modelreg; select them with `-m modelreg`"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the flags and ini settings."""
    add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker, and the working part of the plugin when it is asked for.

    Raises
    ------
    pytest.UsageError
        For flags that cannot be carried out as given.
    """
    config.addinivalue_line("markers", MARKER)
    if not is_enabled(config):
        require_enabled(config)
        return
    from pytest_modelreg.plugin.activation import activate

    activate(config)
