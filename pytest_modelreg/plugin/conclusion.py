"""What happens around a test that asks for the fixture, from its setup to the end of its teardown.

What belongs here: hooks. Fixtures and tests of every kind (functions, ``unittest``,
doctests) may check in setup, call and teardown, so that only the end of the teardown
tells whether a test has passed and what it checked.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from pytest_modelreg.domain.errors import ModelRegError
from pytest_modelreg.plugin.carrying import BLANK, OUTCOMES, CaseFailed
from pytest_modelreg.plugin.python_test import asks_for_fixture, find_clashes, find_test_id
from pytest_modelreg.plugin.state import RunState, worker_input
from pytest_modelreg.plugin.values import CHECKER, blank_record
from pytest_modelreg.report import render_case
from pytest_modelreg.report.table import printable


def find_case_failure(error: BaseException) -> CaseFailed | None:
    """Return the verdict that a test failed with; a doctest wraps what its examples raise."""
    if isinstance(error, CaseFailed):
        return error
    failures = getattr(error, "failures", [error])
    wrapped = getattr(failures[0], "exc_info", (None, None))[1] if len(failures) == 1 else None
    return wrapped if isinstance(wrapped, CaseFailed) else None


@dataclass
class Course:
    """How one run of a test went so far; failed subtests are failures of their test."""

    outcomes: dict[str, str] = field(default_factory=dict)
    has_failed: bool = False

    @property
    def passed(self) -> bool:
        """Whether setup and call came to their end and passed."""
        return not self.has_failed and self.outcomes == {"setup": "passed", "call": "passed"}


COURSE = pytest.StashKey[Course]()


class ValueChecks:
    """Hooks around tests that ask for the fixture; registered last, so that they are outermost."""

    def __init__(self, state: RunState) -> None:
        self._state = state

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Mark tests that ask for the fixture, so that ``-m modelreg`` selects them; find clashes.

        Every process collects all tests, so that the same ones clash however many there are.
        """
        for item in items:
            if asks_for_fixture(item):
                item.add_marker("modelreg")
                item.stash[BLANK] = blank_record(find_test_id(item))
        self._state.clashes = find_clashes(items)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Make the run folder before anything runs.

        Raises
        ------
        pytest.UsageError
            When it cannot be made. In an xdist worker that would look like a crash: there
            every check says so.
        """
        if session.config.option.collectonly or worker_input(session.config) is not None:
            return
        if any(asks_for_fixture(item) for item in session.items):
            try:
                self._state.run_folder  # noqa: B018 - made now
            except ModelRegError as error:
                raise pytest.UsageError(str(error)) from error

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Any:
        """Forget what an earlier run of the same item left (a rerun)."""
        if CHECKER in item.stash:
            del item.stash[CHECKER]
        if OUTCOMES in item.stash:
            del item.stash[OUTCOMES]
        item.stash[COURSE] = Course()
        result = yield
        if CHECKER in item.stash:
            item.stash[CHECKER].tell_missing()
        return result

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Any:
        """Fail for goldens that are missing, once the test has come to its end."""
        try:
            result = yield
        except pytest.skip.Exception:
            if CHECKER in item.stash:
                item.stash[CHECKER].tell_missing(is_skipped=True)
            raise
        if CHECKER in item.stash:
            item.stash[CHECKER].tell_missing()
        return result

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
        """Follow the course; say what drifted in words, instead of a traceback through our own code."""
        report = yield
        course = item.stash.get(COURSE, None)
        if course is not None:
            course.outcomes[call.when] = report.outcome
            course.has_failed |= report.failed
        if call.excinfo is None or CHECKER not in item.stash:
            return report
        failure = find_case_failure(call.excinfo.value)
        if failure is not None:
            report.longrepr = _describe(item, failure)
        for error in getattr(call.excinfo.value, "exceptions", ()):  # several finalizers raised
            if isinstance(error, CaseFailed):
                report.sections.append(("modelreg", _describe(item, error)))
        for missing in item.stash[CHECKER].take_missing():  # the test failed by itself, further on
            report.sections.append(("modelreg", _describe(item, CaseFailed(missing))))
        return report

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Any:
        """Record what the test checked, once all of it has passed."""
        try:
            result = yield
        except BaseException:
            if CHECKER in item.stash:
                item.stash[CHECKER].give_up()
            raise
        if CHECKER in item.stash:
            checker = item.stash[CHECKER]
            course = item.stash[COURSE]
            if course.passed:
                checker.conclude()
            else:
                checker.give_up(is_skipped=course.outcomes.get("call") == "skipped")
            checker.tell_missing()
        return result


def _describe(item: pytest.Item, failure: CaseFailed) -> str:
    text = render_case(failure.result, verbose=item.config.get_verbosity() > 0)
    return f"{text}\n\nchecked as {printable(failure.result.id)}"
