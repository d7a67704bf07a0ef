"""Whether a variant may meet its reference's golden while another process of the run replaces it.

What belongs here: knowing, in one of several processes, which golden a case is going to meet. To know
one more way in which that is certain, add it to :meth:`GoldenRace.find_doubt`.
"""

from __future__ import annotations

from pytest_modelreg.domain.case import REFERENCE, case_id
from pytest_modelreg.engine.suite import CasePlan, Suite

DOUBT = (
    "this run regenerates its reference's golden, and not before it in the same worker, so that chance would "
    "decide which golden it meets; keep a suite's cases together with --dist loadfile, or compare in a run "
    "of its own: pytest --modelreg"
)


class GoldenRace:
    """Which cases a regenerating run has, and which of them this process has come to.

    Parameters
    ----------
    is_possible : bool
        Whether the run replaces goldens, and other processes run other cases of it.
    """

    def __init__(self, *, is_possible: bool) -> None:
        self._is_possible = is_possible
        self._expected: set[str] = set()
        self._started: set[str] = set()

    def expect(self, case: CasePlan) -> None:
        """Note a case that the run has, in whichever process."""
        self._expected.add(case.id)

    def find_doubt(self, suite: Suite, case: CasePlan) -> str | None:
        """Return why it is not known which golden a case meets that starts now; None where it is.

        A reference that ran here has left its golden as it stays, and one that the run does not have
        replaces none.
        """
        self._started.add(case.id)
        reference = case_id(suite.name, REFERENCE)
        if not self._is_possible or case.keeps_golden:
            return None
        return DOUBT if reference in self._expected and reference not in self._started else None
