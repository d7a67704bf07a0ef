"""Versions of one package as candidates, in the order in which they were listed."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from pytest_modelreg.domain.errors import UsageFault


class Versions:
    """Candidates of a list, oldest first.

    Parameters
    ----------
    listed : sequence of str
        At least two versions: the first is held for good, the last for bad.

    Raises
    ------
    UsageFault
        When there are fewer, or one is listed twice.
    """

    def __init__(self, listed: Sequence[str]) -> None:
        if len(listed) < 2:
            raise UsageFault(
                f"--versions: expected at least two, oldest first, got {', '.join(listed) or 'none'}"
            )
        twice = sorted({version for version in listed if listed.count(version) > 1})
        if twice:
            raise UsageFault(f"--versions: expected each once, got {', '.join(twice)} more than once")
        self._listed = list(listed)

    def choose(self, good: Collection[str], bad: str, skipped: Collection[str]) -> str | None:
        """Return the middle of what is left, or its nearest neighbour that was not skipped."""
        left = self.list_left(good, bad)
        open_ = [version for version in left if version not in skipped]
        middle = (len(left) - 1) / 2
        return min(open_, key=lambda version: abs(left.index(version) - middle), default=None)

    def list_left(self, good: Collection[str], bad: str) -> list[str]:
        """Return the versions between the last good one and the bad one."""
        start = max(self._listed.index(version) for version in good)
        return self._listed[start + 1 : self._listed.index(bad)]
