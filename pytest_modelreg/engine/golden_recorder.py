"""Recording what a regeneration accepts, with everything that a golden knows beside the answers.

What belongs here: what is gathered only for a golden that is going to be written. Writing it is
``acceptance``'s.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from pytest_modelreg.domain.case import REFERENCE
from pytest_modelreg.domain.errors import ModelRegError
from pytest_modelreg.domain.verdict import Verdict
from pytest_modelreg.engine.acceptance import accept, is_wanted, keep_attributes
from pytest_modelreg.engine.observer import Observer
from pytest_modelreg.engine.outcome import Outcome
from pytest_modelreg.engine.pipelines import digest_variant_inputs, is_fed_tensors
from pytest_modelreg.engine.regeneration import Regeneration
from pytest_modelreg.engine.suite import Suite
from pytest_modelreg.engine.tracing import request_trace, with_trace
from pytest_modelreg.fingerprint import GitState, git_state


class GoldenRecorder:
    """Records the goldens of one run.

    Parameters
    ----------
    observer : Observer
        Runs a case once more, to trace it.
    """

    def __init__(self, observer: Observer) -> None:
        self._observer = observer
        self._git: dict[Path, GitState] = {}

    def record(self, outcome: Outcome, regeneration: Regeneration, suite: Suite | None) -> Outcome:
        """Make an outcome's observation its golden where the regeneration asks for that.

        Parameters
        ----------
        suite : Suite or None
            None for values of a Python test.

        Returns
        -------
        Outcome
            As it was where it is not wanted.

        Raises
        ------
        ModelRegError
            When it cannot be recorded; the golden is then as it was.
        """
        found = outcome.result
        keep_attributes(outcome)
        if not is_wanted(outcome, regeneration):
            return outcome
        notes: tuple[str, ...] = ()
        if suite is not None:
            outcome, notes = self._trace(outcome, suite)
        outcome = accept(
            outcome,
            regeneration,
            git=self._ask_git(outcome.place.root),
            variant_inputs={} if suite is None else _digest_variant_inputs(outcome, suite),
        )
        if outcome.result is not found and found.verdict in (Verdict.DRIFT, Verdict.STALE):
            message = f"{outcome.result.message}; it was {found.verdict.value}: {found.message}"
            outcome = replace(outcome, result=replace(outcome.result, message=message))
        if notes:
            outcome = replace(outcome, result=replace(outcome.result, notes=(*outcome.result.notes, *notes)))
        return outcome

    def _trace(self, outcome: Outcome, suite: Suite) -> tuple[Outcome, tuple[str, ...]]:
        """Return an outcome with what its golden keeps for a later diagnosis, and notes on what it cannot."""
        observation, folder = outcome.observation, outcome.observation_folder
        if outcome.case is None or outcome.samples is None or observation is None or folder is None:
            return outcome, ()
        request = None if observation.trace is not None else request_trace(outcome, suite)
        if request is None:
            return outcome, ()
        spec = outcome.case.spec(outcome.samples)
        try:
            trace = self._observer.trace(spec, folder, request, golden=outcome.golden)
        except ModelRegError as error:
            if spec.environment is None:
                raise
            # Another environment has given its answers, which are what is recorded.
            reason = str(error).partition("\n")[0]
            return outcome, (f"its golden keeps no trace for a diagnosis: {reason}",)
        return with_trace(outcome, trace, max_bytes=suite.trace_bytes), ()

    def _ask_git(self, root: Path) -> GitState:
        """Return the state of a repository as it was before this run wrote its first golden."""
        if root not in self._git:
            self._git[root] = git_state(root)
        return self._git[root]


def _digest_variant_inputs(outcome: Outcome, suite: Suite) -> dict[str, str]:
    """Return what the variants that are judged against a reference's golden are fed, by variant."""
    samples, folder, observation = outcome.samples, outcome.observation_folder, outcome.observation
    if outcome.case is None or outcome.case.variant != REFERENCE:
        return {}
    if samples is None or folder is None or observation is None:
        return {}
    to_tensors = is_fed_tensors(observation)
    return digest_variant_inputs(suite.cases, samples, to_tensors=to_tensors, folder=folder)
