"""Turning the plugin on for a run: one :class:`RunState`, and the hooks that need it."""

from __future__ import annotations

import os

import pytest

from pytest_modelreg.domain.errors import ModelRegError
from pytest_modelreg.engine.regeneration import Regeneration, plan_regeneration
from pytest_modelreg.engine.run import new_run_id
from pytest_modelreg.plugin.base import find_base
from pytest_modelreg.plugin.carrying import OutcomeCarrier
from pytest_modelreg.plugin.claims import ClaimCarrier
from pytest_modelreg.plugin.collection import SuiteCollection
from pytest_modelreg.plugin.completeness import WorkerFacts
from pytest_modelreg.plugin.conclusion import ValueChecks
from pytest_modelreg.plugin.options import Options, read_options
from pytest_modelreg.plugin.project import ProjectFactsCheck
from pytest_modelreg.plugin.recorder import Recorder
from pytest_modelreg.plugin.sharding import ShardCourse, ShardSelection
from pytest_modelreg.plugin.state import RUN_STATE, RunState, worker_input
from pytest_modelreg.plugin.terminal import TerminalLines
from pytest_modelreg.plugin.termination import TerminationCare
from pytest_modelreg.report.github import is_github_job


def activate(config: pytest.Config) -> None:
    """Check the options and register the hooks of an active run.

    Raises
    ------
    pytest.UsageError
        When regeneration is refused, so that pytest exits with 4 before anything runs.
    """
    options = read_options(config)
    regeneration = _regeneration(options)
    worker = worker_input(config)
    run_id = str(worker["modelreg_run_id"]) if worker is not None else new_run_id()
    state = RunState(
        config=config,
        options=options,
        regeneration=regeneration,
        run_id=run_id,
        run_dir=options.run_dir,
        base=find_base(config),
    )
    config.stash[RUN_STATE] = state
    manager = config.pluginmanager
    manager.register(SuiteCollection(state), "modelreg-collection")
    shards = ShardCourse(state) if worker is None else None
    # Before what looks at all tests, because of the first hooks the last one registered comes first.
    manager.register(shards or ShardSelection(state), "modelreg-shards")
    manager.register(ProjectFactsCheck(state), "modelreg-project")
    manager.register(OutcomeCarrier(), "modelreg-carrier")
    manager.register(ValueChecks(state), "modelreg-values")
    manager.register(ClaimCarrier(state), "modelreg-claims")
    manager.register(TerminationCare(), "modelreg-termination")
    if shards is not None:
        recorder = Recorder(state, shards)
        manager.register(recorder.completeness, "modelreg-completeness")
        manager.register(recorder.claimed, "modelreg-claimed")
        manager.register(recorder, "modelreg-recorder")
        manager.register(TerminalLines(state, recorder), "modelreg-terminal")
        if options.github and is_github_job(os.environ):
            from pytest_modelreg.plugin.github import GitHubStep

            manager.register(GitHubStep(recorder, os.environ), "modelreg-github")
        if manager.hasplugin("xdist"):
            from pytest_modelreg.plugin.distribution import WorkerSetup

            manager.register(WorkerSetup(state, recorder), "modelreg-distribution")
    else:
        manager.register(WorkerFacts(), "modelreg-completeness")


def _regeneration(options: Options) -> Regeneration | None:
    if options.regen is None:
        if options.reason is not None or options.allow_ci:
            flag = "--modelreg-reason" if options.reason is not None else "--modelreg-allow-ci"
            raise pytest.UsageError(
                f"{flag}: needs --modelreg-regen {{missing,changed,all}}, which is not given"
            )
        return None
    try:
        return plan_regeneration(
            options.regen,
            reason=options.reason,
            allow_ci=options.allow_ci,
            environ=os.environ,
            flag_prefix="--modelreg-",
        )
    except ModelRegError as error:
        raise pytest.UsageError(str(error)) from error
