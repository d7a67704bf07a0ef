"""The fixture ``modelreg``: values of a Python test held against their golden."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Any, NoReturn

import pytest

from pytest_modelreg.domain.errors import SuiteFileError
from pytest_modelreg.domain.result import CaseResult
from pytest_modelreg.domain.verdict import Verdict
from pytest_modelreg.engine.outcome import Outcome, Place
from pytest_modelreg.engine.suite_file.declaration import read_declaration
from pytest_modelreg.engine.values import VALUES_SUITE, ValuesCase, values_golden
from pytest_modelreg.plugin.carrying import BLANK, OUTCOMES, CaseFailed
from pytest_modelreg.plugin.state import RUN_STATE, RunState
from pytest_modelreg.report import render_case

FIXTURE = "modelreg"
CHECKER = pytest.StashKey["ValueChecker"]()
BARE_OUTPUT = "output"


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
        item.stash[OUTCOMES] = self._outcomes
        item.stash[CHECKER] = self
        item.stash[BLANK] = _blank(item)  # also where a test asked for the fixture while it ran

    def check(
        self,
        values: Any,
        *,
        name: str = BARE_OUTPUT,
        kind: str | None = None,
        labels: Sequence[str] | None = None,
        top_k: int | None = None,
        sample_ids: Sequence[str] | None = None,
        outputs: Mapping[str, Mapping[str, Any]] | None = None,
        checks: Mapping[str, Any] | None = None,
    ) -> None:
        """Hold values against their golden; fail the test when behaviour differs.

        While regenerating, values become the golden once the whole test has passed.

        Parameters
        ----------
        values : Any
            Tensors, arrays or numbers, also in mappings, lists, tuples, dataclasses or
            model outputs. Axis 0 is samples.
        name : str
            Of this check; unique in its test.
        kind, labels, top_k
            What the numbers of a single output mean, as in a suite file; ``labels``
            are the class names themselves.
        sample_ids : sequence of str, optional
            One a sample, for reports; numbers otherwise.
        outputs : mapping of str to mapping, optional
            The same by output path, for values of several outputs.
        checks : mapping of str, optional
            Limits of all outputs, as in a suite file.

        Raises
        ------
        CaseFailed
            When the verdict does not pass.
        """
        variant = f"{self.test_id}::{name}"
        self._claim(name, variant)
        declared: dict[str, Any] = dict(outputs or {})
        single = {key: value for key, value in (("kind", kind), ("top_k", top_k)) if value is not None}
        if single or labels is not None:
            if declared:
                self._fail(name, "kind, labels and top_k describe a single output: give them in outputs")
            declared = {BARE_OUTPUT: single}
        try:
            specs, plan = read_declaration(declared, checks or {}, where=variant, root=self._item.path.parent)
        except SuiteFileError as error:
            self._fail(name, str(error))
        if labels is not None:
            specs = {path: replace(spec, labels=tuple(labels)) for path, spec in specs.items()}
        outcome = self._state.session.check_values(
            ValuesCase(
                variant=variant,
                place=self._place(name),
                values=values,
                outputs=specs,
                checks=plan,
                sample_ids=sample_ids,
                command=f'{self._command("changed")} --modelreg-reason "why it changed"',
                recording_command=self._command("missing"),
            )
        )
        self._outcomes[name] = outcome
        if not (outcome.result.verdict.passes or self._will_record(outcome)):
            self._outcomes[name] = self._state.session.conclude(outcome)
            raise CaseFailed(outcome.result)

    @property
    def test_id(self) -> str:
        """The test's node id, without what xdist appends to it."""
        return _test_id(self._item)

    def conclude(self) -> None:
        """Record what waits for it; called once the test has passed.

        Raises
        ------
        CaseFailed
            When the test checked nothing, or a golden cannot be written.
        """
        if not self._outcomes:
            self._fail("", "the test asks for modelreg and checks nothing; call modelreg.check(...)")
        for name, outcome in self._outcomes.items():
            self._outcomes[name] = self._state.session.conclude(outcome)
        for outcome in self._outcomes.values():
            if not outcome.result.verdict.passes:
                raise CaseFailed(outcome.result)

    def _claim(self, name: str, variant: str) -> None:
        """Take a golden for a check; one golden of two checks would judge the one by the other."""
        key = str(self._place(name).golden).casefold()
        holder, label = self._state.claims.get(key, (None, ""))
        if holder is self or (holder is not None and label != variant):
            self._fail(name, f"expected a golden a check, got one for {label} and {variant}; rename one")
        self._state.claims[key] = (self, variant)  # the same test once more is a rerun

    def _place(self, name: str) -> Place:
        base = self._state.base
        return Place(golden=values_golden(base / "golden", [*_golden_parts(self._item), name]), root=base)

    def _command(self, mode: str) -> str:
        return f"pytest --modelreg {shlex.quote(self.test_id)} --modelreg-regen {mode}"

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


class ValueChecks:
    """Hooks around tests that ask for the fixture."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Mark tests that ask for the fixture, so that ``-m modelreg`` selects them."""
        for item in items:
            if FIXTURE in getattr(item, "fixturenames", ()):
                item.add_marker("modelreg")
                item.stash[BLANK] = _blank(item)

    @pytest.hookimpl(wrapper=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> Any:
        """Record what the test checked, once it has passed."""
        result = yield
        checker = pyfuncitem.stash.get(CHECKER, None)
        if checker is not None:
            checker.conclude()
        return result

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
        """Say what drifted in words, instead of a traceback through our own code."""
        report = yield
        if call.excinfo is not None and isinstance(call.excinfo.value, CaseFailed) and CHECKER in item.stash:
            result = call.excinfo.value.result
            report.longrepr = (
                f"{render_case(result, verbose=item.config.get_verbosity() > 0)}\n\nchecked as {result.id}"
            )
        return report


def _test_id(item: pytest.Item) -> str:
    """Return the node id as pytest collected it: xdist appends the groups of a test to its own."""
    return item.nodeid if item.parent is None else f"{item.parent.nodeid}::{item.name}"


def _blank(item: pytest.Item) -> CaseResult:
    return CaseResult(suite=VALUES_SUITE, variant=_test_id(item), verdict=Verdict.ERROR, message="")


def _golden_parts(item: pytest.Item) -> list[str]:
    """Return module, classes and test as parts of a golden's path."""
    root = item.config.rootpath
    path = item.path.relative_to(root) if item.path.is_relative_to(root) else PurePath(item.path.name)
    classes = [node.name for node in item.listchain() if isinstance(node, pytest.Class)]
    return [".".join(path.with_suffix("").parts), *classes, item.name]
