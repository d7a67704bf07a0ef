"""The fixture ``modelreg``: values of a Python test held against their golden."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import pytest

from pytest_modelreg.domain.errors import ModelRegError
from pytest_modelreg.domain.result import CaseResult
from pytest_modelreg.domain.verdict import Verdict
from pytest_modelreg.engine.outcome import Outcome, Place
from pytest_modelreg.engine.run import settle
from pytest_modelreg.engine.values import (
    BARE_OUTPUT,
    VALUES_SUITE,
    Declaration,
    ValuesCase,
    plan_values,
    values_golden,
)
from pytest_modelreg.plugin.carrying import BLANK, OUTCOMES, CaseFailed
from pytest_modelreg.plugin.python_test import describe_command, find_test_id, list_golden_parts
from pytest_modelreg.plugin.state import RUN_STATE, RunState

CHECKER = pytest.StashKey["ValueChecker"]()


class ValueChecker:
    """What the fixture ``modelreg`` gives a test.

    Parameters
    ----------
    item : pytest.Item
        The test; its module, classes and name say where its goldens are.
    """

    def __init__(self, item: pytest.Item) -> None:
        self._item = item
        self._state: RunState = item.config.stash[RUN_STATE]
        self._outcomes: dict[str, Outcome] = {}
        self._waiting: list[str] = []  # names of checks that are recorded once the test has passed
        self.test_id = find_test_id(item)
        item.stash[OUTCOMES] = self._outcomes
        item.stash[CHECKER] = self
        item.stash[BLANK] = blank_record(self.test_id)  # also where a test asked for the fixture while it ran

    def check(
        self,
        values: Any,
        *,
        name: str = BARE_OUTPUT,
        kind: str | None = None,
        labels: Sequence[str] | str | None = None,
        top_k: int | None = None,
        sample_ids: Sequence[Any] | None = None,
        outputs: Mapping[str, Mapping[str, Any]] | None = None,
        checks: Mapping[str, Any] | None = None,
    ) -> None:
        """Hold values against their golden; fail the test when behaviour differs.

        While regenerating, values become the golden once the whole test has passed, its
        teardown included.

        Parameters
        ----------
        values : Any
            Tensors, arrays or numbers, also in mappings, lists, tuples, dataclasses or
            model outputs. Axis 0 of arrays is samples; they have to agree in it, or
            be declared ``{"per": "batch"}`` in ``outputs``. Bare numbers are recorded once.
        name : str
            Of this check; unique in its test.
        kind, labels, top_k
            What the numbers of a single output mean, as in a suite file.
        sample_ids : sequence of str or numbers, optional
            One a sample, for reports; numbers from 0 otherwise. A list as long as they are
            holds one result a sample; any other list holds outputs.
        outputs : mapping of str to mapping, optional
            The same by output path, for values of several outputs.
        checks : mapping of str, optional
            Limits of all outputs, as in a suite file.

        Raises
        ------
        CaseFailed
            When the verdict does not pass.
        """
        self._claim(name)
        case = ValuesCase(
            variant=f"{self.test_id}::{name}",
            place=self._place(name),
            values=values,
            sample_ids=sample_ids,
            command=f'{self._command("changed")} --modelreg-reason "why it changed"',
            recording_command=self._command("missing"),
        )
        declaration = Declaration(kind=kind, labels=labels, top_k=top_k, outputs=outputs, checks=checks)
        try:
            case = plan_values(case, declaration, root=self._item.path.parent)
            session = self._state.session
        except ModelRegError as error:
            self._fail(name, str(error))
        outcome = session.check_values(case)
        self._outcomes[name] = outcome
        if self._will_record(outcome):
            self._waiting.append(name)
            return
        self._outcomes[name] = outcome = session.conclude(outcome)
        if not outcome.result.verdict.passes:
            raise CaseFailed(outcome.result)

    def conclude(self) -> None:
        """Record what waits for it; called once the whole test has passed.

        Raises
        ------
        CaseFailed
            When the test checked nothing, or a golden cannot be written.
        """
        if not self._outcomes:
            self._fail("", "the test asks for modelreg and checks nothing; call modelreg.check(...)")
        waiting, self._waiting = self._waiting, []
        for name in waiting:
            self._outcomes[name] = self._state.session.conclude(self._outcomes[name])
        for name in waiting:
            if not self._outcomes[name].result.verdict.passes:
                raise CaseFailed(self._outcomes[name].result)

    def give_up(self) -> None:
        """Keep what waits to be recorded in the run folder alone: the test did not pass."""
        waiting, self._waiting = self._waiting, []
        for name in waiting:
            self._outcomes[name] = settle(self._outcomes[name])

    def _claim(self, name: str) -> None:
        """Take a golden for a check; one golden of two checks would judge the one by the other."""
        if not isinstance(name, str) or not name:
            self._fail("", f"name: expected text, got {type(name).__qualname__} {name!r:.60}")
        label = f"{self.test_id}::{name}"
        key = str(self._place(name).golden).casefold()
        holder, of_test, holds = self._state.claims.get(key, (None, "", ""))
        other = self._state.clashes.get(self.test_id)
        if other is not None:
            clash = f"tests {self.test_id} and {other}"
        elif holder is self or (holder is not None and of_test != self.test_id):
            clash = f"{holds} and {label}"
        else:
            self._state.claims[key] = (self, self.test_id, label)  # the same test once more is a rerun
            return
        folder = self._place(name).shown
        self._fail(name, f"expected a golden a check, got one for {clash} ({folder}); rename one")

    def _place(self, name: str) -> Place:
        base = self._state.base
        parts = [*list_golden_parts(self._item), name]
        return Place(golden=values_golden(base / "golden", parts), root=base)

    def _command(self, mode: str) -> str:
        return describe_command(self._item, "--modelreg-regen", mode)

    def _will_record(self, outcome: Outcome) -> bool:
        regeneration = self._state.regeneration
        return regeneration is not None and regeneration.accepts(outcome.result.verdict)

    def _fail(self, name: str, text: str) -> NoReturn:
        message, _, details = text.partition("\n")
        variant = f"{self.test_id}::{name}" if name else self.test_id
        result = CaseResult(
            suite=VALUES_SUITE, variant=variant, verdict=Verdict.ERROR, message=message, details=details
        )
        self._outcomes[name] = Outcome(result=result, place=self._place(name or "-"))
        raise CaseFailed(result)


def blank_record(test_id: str) -> CaseResult:
    """Return the record of a test of which nothing was checked, to be filled in."""
    return CaseResult(suite=VALUES_SUITE, variant=test_id, verdict=Verdict.ERROR, message="")
