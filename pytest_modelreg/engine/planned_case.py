"""The cases of a project as its suite files plan them now, each file and sample set read once.

What belongs here: from the id of a case that ran before to its plan of today. Which words of a
command mean which case is ``selection``'s.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from pytest_modelreg.domain.errors import SuiteFileError
from pytest_modelreg.domain.sample import SampleSet
from pytest_modelreg.engine.sample_sets import SampleSets
from pytest_modelreg.engine.selection import select_cases
from pytest_modelreg.engine.suite import CasePlan, Suite
from pytest_modelreg.engine.suite_loading import find_shared_names


class PlannedCases:
    """Looks cases up; what was read stays as it was read.

    Parameters
    ----------
    base : Path
        Where the command was typed: suites are looked for below it, then in the project around it.
    suites : iterable of Suite
        Suites that are loaded already, wherever they are.
    """

    def __init__(self, base: Path, suites: Iterable[Suite] = ()) -> None:
        self._base = base
        self._cases: dict[str, tuple[Suite, CasePlan]] = {
            case.id: (suite, case) for suite in suites for case in suite.cases
        }
        self._samples = SampleSets()

    def find(self, case_id: str) -> tuple[Suite, CasePlan]:
        """Return a case with its suite.

        Raises
        ------
        SuiteFileError, UsageFault
            As :func:`~pytest_modelreg.engine.selection.select_cases`.
        """
        if case_id not in self._cases:
            found = [suite for suite, _ in select_cases([case_id], self._base)]
            if len(found) > 1:
                raise SuiteFileError(find_shared_names(found))
            suite = found[0]
            self._cases.update({case.id: (suite, case) for case in suite.cases})
        return self._cases[case_id]

    def read_samples(self, suite: Suite) -> SampleSet:
        """Return the sample set of a suite, held against its digests.

        Raises
        ------
        SampleSetError
            With every fault of it.
        """
        return self._samples.read(suite.samples)
