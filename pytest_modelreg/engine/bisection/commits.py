"""Commits as candidates, in git's own bisection order."""

from __future__ import annotations

from collections.abc import Collection

from pytest_modelreg.domain.errors import UsageFault
from pytest_modelreg.engine.change.repository import Repository, ask_git


class Commits:
    """Commits behind a good one, up to a bad one.

    Parameters
    ----------
    good, bad : str
        Full hashes.

    Raises
    ------
    UsageFault
        When the good commit is no ancestor of the bad one: nothing lies between them then.
    """

    def __init__(self, repository: Repository, *, good: str, bad: str) -> None:
        self._repository = repository
        if good == bad:
            raise UsageFault(f"--good, --bad: expected two commits, got {good[:12]} twice")
        if ask_git(repository.top, "merge-base", "--is-ancestor", good, bad).code != 0:
            raise UsageFault(
                f"--good {good[:12]}: expected an ancestor of --bad {bad[:12]}, got a commit that is none "
                "(or a shallow clone that does not reach back to it: `git fetch --unshallow`)"
            )

    def choose(self, good: Collection[str], bad: str, skipped: Collection[str]) -> str | None:
        """Return the commit that halves what is left best, skipped ones left out."""
        # --bisect-all lists every commit of the range, the one that halves it best first.
        for line in self._list("--bisect-all", good, bad):
            commit = line.split()[0]
            if commit != bad and commit not in skipped:
                return commit
        return None

    def list_left(self, good: Collection[str], bad: str) -> list[str]:
        """Return the commits behind every good one, oldest first, the bad one left out."""
        return [commit for commit in self._list("--reverse", good, bad) if commit != bad]

    def describe(self, commit: str) -> str:
        """Return a commit for people: short hash, date and subject."""
        answer = ask_git(
            self._repository.top, "show", "--no-patch", "--date=short", "--format=%h %ad %s", commit
        )
        return answer.output.decode("utf-8", "replace").strip()

    def list_files(self, commit: str) -> list[str]:
        """Return the files that a commit changed, as git names them."""
        answer = ask_git(
            self._repository.top, "diff-tree", "--no-commit-id", "--name-only", "-r", "-z", "--root", commit
        )
        return [name for name in answer.output.decode("utf-8", "surrogateescape").split("\0") if name]

    def _list(self, order: str, good: Collection[str], bad: str) -> list[str]:
        answer = ask_git(
            self._repository.top, "rev-list", order, bad, *(f"^{commit}" for commit in sorted(good))
        )
        if answer.code != 0:
            raise UsageFault(f"git rev-list: {answer.errors.strip()}")
        return answer.output.decode("ascii", "replace").splitlines()
