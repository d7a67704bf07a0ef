"""Hooks that a project or another plugin implements.

What belongs here: specifications only, each with an example; nothing is imported, since
every pytest run registers them. A new hook is a function here and a caller of it in the
plugin. Implement them in the project's root ``conftest.py`` or in a plugin; where
pytest-modelreg may be absent, under ``@pytest.hookimpl(optionalhook=True)``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    import pytest

    from pytest_modelreg.domain.environment import FactValue


def pytest_modelreg_fingerprint(config: pytest.Config) -> Mapping[str, FactValue]:  # type: ignore[empty-body]
    """Return facts of the project that can move a number, to be recorded with every observation.

    They stand beside the built-in facts in ``golden.json``, the report, the digest, the
    changes that a drift leads with and ``modelreg env``. Called once at the start of every
    process of a run, before collection, and by the commands ``env``, ``init`` and ``regen``,
    where pytest is configured but no session runs. A ``conftest.py`` that pytest finds only
    while it collects, in a folder below, is therefore never asked.

    Parameters
    ----------
    config : pytest.Config
        Of the run.

    Returns
    -------
    mapping of str to scalar
        Keys are dotted and lower case, under a first part of your own; values are text,
        finite numbers, booleans, or None for what cannot be known. Return the same in
        every process and never a path, a user or a host: goldens are shared. Anything
        else is a usage error that lists every fault (pytest exit 4, command exit 2).

    Examples
    --------
    In ``conftest.py``::

        def pytest_modelreg_fingerprint(config):
            import shop

            return {"shop.tokenizer_revision": shop.TOKENIZER_REVISION, "shop.fused_kernels": shop.HAS_FUSED}
    """


def pytest_modelreg_verdict(config: pytest.Config, record: Mapping[str, Any]) -> None:
    """See the record of one case: called in the main process at the end of the run, once a case.

    Whatever it raises, pytest's own outcomes included, fails the run and names the hook; reports
    are written before it.

    Parameters
    ----------
    config : pytest.Config
        Of the run.
    record : mapping of str
        A copy of the case's record in the JSON report: builtin values only, non-finite
        numbers as None beside ``<key>_reason``. Its keys, whatever the verdict: ``id``,
        ``suite``, ``variant``, ``axes``, ``verdict`` (``match``, ``drift``, ``missing``,
        ``stale``, ``recorded``, ``error`` or ``skipped``), ``message``, ``outputs``,
        ``checks``, ``n_samples``, ``drifted_samples``, ``samples``,
        ``inputs_identical``, ``causes``, ``environment_changes``, ``structure``, ``notes``,
        ``duration_s``.

    Examples
    --------
    In ``conftest.py``::

        def pytest_modelreg_verdict(config, record):
            if record["verdict"] == "drift":
                tell_the_owner(record["id"], record["message"], record["drifted_samples"])
    """
