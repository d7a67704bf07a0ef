"""What the controller tells xdist's workers; imported only where xdist is installed."""

from __future__ import annotations

from typing import Any

import pytest


class WorkerSetup:
    """Gives every worker the run's id, so that all write into one run folder."""

    def __init__(self, run_id: str) -> None:
        self._run_id = run_id

    @pytest.hookimpl
    def pytest_configure_node(self, node: Any) -> None:
        """Put the id into what the worker process starts with."""
        node.workerinput["modelreg_run_id"] = self._run_id
