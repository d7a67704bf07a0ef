"""Bisection: the first commit, or the first version of a package, with which a case drifts.

Modules: ``search`` (what is tried next), ``commits`` and ``versions`` (the candidates), ``trials``
(one candidate tried), ``scratch`` (where that works). A candidate is an environment, so that nothing of
the checkout is touched.
"""

from __future__ import annotations

from pytest_modelreg.engine.bisection.commits import Commits
from pytest_modelreg.engine.bisection.scratch import scratch_folder
from pytest_modelreg.engine.bisection.search import Finding, SearchResult, Trial, search
from pytest_modelreg.engine.bisection.trials import (
    Trials,
    list_packages,
    place_in_revision,
    place_in_version,
)
from pytest_modelreg.engine.bisection.versions import Versions

__all__ = [
    "Commits",
    "Finding",
    "SearchResult",
    "Trial",
    "Trials",
    "Versions",
    "list_packages",
    "place_in_revision",
    "place_in_version",
    "scratch_folder",
    "search",
]
