"""When a golden may be recorded or replaced: modes, the reason, the CI lock.

What belongs here: the decision. Writing is ``store``'s, running is ``session``'s.
A new mode is a member of :class:`Mode` and a line in :meth:`Regeneration.accepts`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from pytest_modelreg.domain.errors import RegenerationRefused
from pytest_modelreg.domain.verdict import Verdict

CI_VARIABLES = ("CI", "BUILD_NUMBER")
"""Set and not empty, either one locks goldens."""

FIRST_RECORDING = "first recording"
"""The reason kept with a golden that replaced nothing when the user gave none."""


class Mode(str, Enum):
    """Which goldens a regeneration touches."""

    MISSING = "missing"
    CHANGED = "changed"
    ALL = "all"


@dataclass(frozen=True, kw_only=True)
class Regeneration:
    """A regeneration as asked for.

    Parameters
    ----------
    mode : Mode
        ``missing`` records where there is no golden to be held against, no other
        environment's either; ``changed`` also takes cases that drifted or are stale, from
        whichever golden they were held against; ``all`` replaces every golden that differs in
        a recorded byte, and records an environment's own where another one's was matched.
    reason : str or None
        The user's words; needed before anything is replaced.
    ci : str or None
        The CI variable that was overridden; stamped into the golden.
    reason_flag : str
        What the user types to give a reason, for messages.
    """

    mode: Mode
    reason: str | None = None
    ci: str | None = None
    reason_flag: str = "--reason"

    def accepts(self, verdict: Verdict) -> bool:
        """Whether a case with this verdict has its observation recorded."""
        if verdict is Verdict.MISSING:
            return True
        if verdict in (Verdict.DRIFT, Verdict.STALE):
            return self.mode in (Mode.CHANGED, Mode.ALL)
        return verdict is Verdict.MATCH and self.mode is Mode.ALL

    def require_reason(self, case_id: str, *, against: str = "") -> str:
        """Return the reason for replacing the golden of this case.

        Parameters
        ----------
        against : str
            The environment whose golden it differs from, where it has none of its own to replace.

        Raises
        ------
        RegenerationRefused
            When none was given.
        """
        if self.reason is None:
            what = f"recording what differs from {against}" if against else "replacing a golden"
            raise RegenerationRefused(
                f'{case_id}: {what} needs a reason, none was given; add {self.reason_flag} "why it changes"'
            )
        return self.reason


def locking_variable(environ: Mapping[str, str]) -> str | None:
    """Return the CI variable that locks goldens, or None outside CI.

    A variable that is set but empty does not count: ``CI= pytest ...`` is how people
    switch it off for one command.
    """
    return next((name for name in CI_VARIABLES if environ.get(name)), None)


def plan_regeneration(
    mode: str,
    *,
    reason: str | None,
    allow_ci: bool,
    environ: Mapping[str, str],
    flag_prefix: str = "--",
) -> Regeneration:
    """Turn flags into a :class:`Regeneration`.

    Parameters
    ----------
    flag_prefix : str
        What stands before ``reason`` and ``allow-ci`` where the user types them.

    Raises
    ------
    RegenerationRefused
        In CI without the override, naming the variable; or for an empty reason.
    """
    ci = locking_variable(environ)
    if ci is not None and not allow_ci:
        raise RegenerationRefused(
            f"goldens are locked in CI: {ci}={environ[ci]} is set, so nothing is regenerated; "
            "regenerate on a developer's machine and commit the golden, or add "
            f"{flag_prefix}allow-ci, which is stamped into the golden"
        )
    if reason is not None and not reason.strip():
        raise RegenerationRefused("the reason is empty; say in a sentence why the golden changes")
    return Regeneration(
        mode=Mode(mode),
        reason=reason.strip() if reason else None,
        ci=ci,
        reason_flag=f"{flag_prefix}reason",
    )
