"""The pytest plugin: the only place, beside ``cli``, that turns wishes into a session.

This module is imported by every pytest run in an environment that has the package
installed, so it imports nothing but pytest; the rest is imported once ``--modelreg``
asks for it. What belongs here: hooks. Options are declared in ``options``, suite
files become items in ``collection``, records are gathered in ``recorder``.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_modelreg.plugin.off import REASON, collect_named_suite
from pytest_modelreg.plugin.options import add_options, is_enabled, require_enabled

if TYPE_CHECKING:
    from pytest_modelreg.plugin.values import ValueChecker

MARKER = "modelreg: a model-behaviour case of pytest-modelreg; select them with `-m modelreg`"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the flags and ini settings."""
    add_options(parser)


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Make the hooks known that a project may implement."""
    from pytest_modelreg.plugin import hooks

    pluginmanager.add_hookspecs(hooks)


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


@pytest.fixture
def modelreg(request: pytest.FixtureRequest) -> ValueChecker:
    """modelreg.check(values, *, name="output", kind=None, labels=None, top_k=None,
                   sample_ids=None, outputs=None, checks=None)
    Hold values of a test (tensors, arrays, numbers, also nested) against their golden, as in
        modelreg.check(embed(texts), name="embed", sample_ids=ids, checks={"rel_l2": 1e-5})

    Axis 0 is samples. Without --modelreg a test that asks for it is skipped, never passed.
    """  # pytest --fixtures shows the first paragraph
    if not is_enabled(request.config):
        pytest.skip(REASON)
    from pytest_modelreg.plugin.values import ValueChecker

    return ValueChecker(request.node)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Without ``--modelreg``: let a suite file that was named as an argument be skipped with a reason."""
    return None if is_enabled(parent.config) else collect_named_suite(file_path, parent)
