"""The fixture ``modelreg``: values of a Python test held against their golden."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
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
from pytest_modelreg.plugin.python_test import (
    describe_clash,
    describe_command,
    describe_repetition,
    find_test_id,
    list_golden_parts,
)
from pytest_modelreg.plugin.state import RUN_STATE, RunState

CHECKER = pytest.StashKey["ValueChecker"]()

NOT_RECORDED = "not recorded: the test did not pass"
"""What a record says of values that would have become a golden."""


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
        self._missing: list[str] = []  # names of checks without a golden that nobody was told of
        self.test_id = find_test_id(item)
        item.stash[OUTCOMES] = self._outcomes
        item.stash[CHECKER] = self
        item.stash[BLANK] = blank_record(self.test_id)  # also where a test asked for the fixture while it ran

    def check(
        self,
        values: Any,
        *misplaced: object,
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
        teardown included. A golden that is missing fails the test where it ends, so that
        all checks have been seen by then.

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
        TypeError
            When anything but the values is given without its name.
        """
        if misplaced:
            raise TypeError(
                "expected values alone before the first name=, got "
                f'{len(misplaced)} more; write modelreg.check(values, name="...")'
            )
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
        if outcome.result.verdict is Verdict.MISSING:
            self._missing.append(name)
        elif not outcome.result.verdict.passes:
            raise CaseFailed(outcome.result)

    def take_missing(self) -> list[CaseResult]:
        """Return what was checked without a golden and is not told yet."""
        names, self._missing = self._missing, []
        return [self._outcomes[name].result for name in names]

    def tell_missing(self, *, is_skipped: bool = False) -> None:
        """Fail for the goldens that are missing; called where a phase of the test has ended.

        Parameters
        ----------
        is_skipped : bool
            Whether the test skipped itself after its checks: no command records them.

        Raises
        ------
        CaseFailed
            For the first of them, naming the others.
        """
        if is_skipped:
            for name in self._missing:
                result = self._outcomes[name].result
                message = (
                    f"{result.message}, and none is ever recorded: the test skips after it; skip before it"
                )
                self._put(name, replace(result, message=message, command=""))
        missing = self.take_missing()
        if not missing:
            return
        others = "\n".join(f"missing too: {other.id}" for other in missing[1:])
        raise CaseFailed(replace(missing[0], details=others))

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

    def give_up(self, *, is_skipped: bool = False) -> None:
        """Keep what waits to be recorded in the run folder alone: the test did not pass.

        Parameters
        ----------
        is_skipped : bool
            Whether it skipped itself or is expected to fail: then no command records it.
        """
        waiting, self._waiting = self._waiting, []
        for name in waiting:
            self._outcomes[name] = settle(self._outcomes[name])
            result = self._outcomes[name].result
            if not result.verdict.passes:
                command = "" if is_skipped else result.command
                self._put(name, replace(result, message=f"{result.message}; {NOT_RECORDED}", command=command))

    def _claim(self, name: str) -> None:
        """Take a golden for a check; one golden of two checks would judge the one by the other."""
        if not isinstance(name, str) or not name:
            self._fail("", f"name: expected text, got {type(name).__qualname__} {name!r:.60}")
        folder = self._place(name).golden
        key = str(folder).casefold()
        holder, of_test, holds = self._state.claims.get(key, (None, "", ""))
        other = self._state.clashes.get(self.test_id)
        if other is None and holder is not None and of_test != self.test_id:
            other = of_test
        if other is not None:
            shown = replace(self._place(name), golden=folder.parent).shown
            self._fail(name, describe_clash(self.test_id, other, shown))
        if holder is self:
            self._missing = [known for known in self._missing if known != holds]  # this one is said first
            self._fail(name, describe_repetition(holds, name))
        self._state.claims[key] = (self, self.test_id, name)  # the same test once more is a rerun

    def _place(self, name: str) -> Place:
        base = self._state.base
        parts = [*list_golden_parts(self._item), name]
        root = base / "golden"
        return Place(golden=values_golden(root, parts), root=base, golden_root=root)

    def _command(self, mode: str) -> str:
        return describe_command(self._item, "--modelreg-regen", mode)

    def _will_record(self, outcome: Outcome) -> bool:
        regeneration = self._state.regeneration
        return regeneration is not None and regeneration.accepts(outcome.result.verdict)

    def _put(self, name: str, result: CaseResult) -> None:
        self._outcomes[name] = replace(self._outcomes[name], result=result)

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
