"""A revision to compare with, as it was written: found, or refused with what to do.

What belongs here: from words to a commit: the revision's own, or the one at which HEAD left it, as
what others changed there since is not this branch's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from pytest_modelreg.domain.errors import UsageFault
from pytest_modelreg.domain.nearest import find_nearest, phrase_suggestion
from pytest_modelreg.engine.change.repository import Repository, ask_git

_DEEPEN = (
    '`git fetch --unshallow origin "+refs/heads/*:refs/remotes/origin/*"` fetches the rest; '
    "with actions/checkout, `fetch-depth: 0`"
)
_PLAIN_NAME = re.compile(r"[\w./+-]+")
_HASH = re.compile(r"[0-9a-f]{4,40}", re.IGNORECASE)


def find_fork(repository: Repository, base: str) -> str:
    """Return the hash of the commit at which HEAD left a revision: their merge base.

    Raises
    ------
    UsageFault
        When there is no such revision or it may be several, or history does not reach back to
        where the two meet; it says what to do.
    """
    commit = find_commit(repository, base)
    head = _verify(repository, "HEAD")
    if head is None:
        raise UsageFault(
            f"--base {base}: expected a commit to compare with, and HEAD has none yet; commit first"
        )
    answer = ask_git(repository.top, "merge-base", commit, head)
    if answer.code == 0:
        return answer.output.decode("ascii").split()[0]
    if repository.is_shallow:
        raise UsageFault(
            f"--base {base}: this is a shallow clone, which does not reach back to where HEAD left {base}; "
            f"{_DEEPEN}"
        )
    raise UsageFault(f"--base {base}: expected a revision that shares history with HEAD, and it shares none")


def find_commit(repository: Repository, revision: str, *, option: str = "--base") -> str:
    """Return the hash of a revision's commit.

    Parameters
    ----------
    revision : str
        A branch, tag or commit, as it was typed.
    option : str
        Where it was typed, for messages.

    Raises
    ------
    UsageFault
        When there is no such commit, or there may be several; it says what to do.
    """
    # Git takes what begins with a dash for an option, whatever it is an argument of.
    if not revision.strip() or revision.startswith("-") or not revision.isprintable():
        raise UsageFault(f"{option}: expected a revision, such as origin/main, got {revision!r}")
    where = f"{option} {revision}"
    if ".." in revision:
        raise UsageFault(f"{where}: expected one revision, got a range; name a branch, a tag or a commit")
    _refuse_namesakes(repository, revision, where)
    found = _verify(repository, revision)
    commit = None if found is None else _verify(repository, f"{found}^{{commit}}")
    if commit is not None:
        return commit
    raise UsageFault(f"{where}: {_describe_unknown(repository, revision, found)}")


def _refuse_namesakes(repository: Repository, base: str, where: str) -> None:
    """Refuse a name that a branch and a tag have: git would take the tag, with a warning that nobody sees."""
    if not _PLAIN_NAME.fullmatch(base):
        return
    places = [f"refs/{kind}/{base}" for kind in ("tags", "heads", "remotes")]
    found = [name for name in _list_refs(repository, "refname", places) if name in places]
    if len(found) > 1:
        raise UsageFault(
            f"{where}: expected one revision, got {len(found)} of this name; write {' or '.join(found)}"
        )


def _describe_unknown(repository: Repository, base: str, found: str | None) -> str:
    if _HASH.fullmatch(base) and found is None:
        answer = ask_git(repository.top, "rev-parse", f"--disambiguate={base}")
        hashes = answer.output.decode("ascii", "replace").split()
        if len(hashes) > 1:
            return f"expected one commit, got a short hash of {len(hashes)} objects; write more digits of it"
    if found is not None and ask_git(repository.top, "cat-file", "-e", found).code == 0:
        return "expected a commit, got something else that git keeps; name a branch, a tag or a commit"
    refs = _list_refs(repository, "refname:lstrip=2", ["refs/heads", "refs/remotes", "refs/tags"])
    names = [name for name in refs if not name.endswith("/HEAD")]
    near = next((name for name in names if name.endswith(f"/{base}")), None)
    if near is None and not repository.is_shallow:  # which lacks the right one, and has a wrong one
        near = find_nearest(base, names)
    unknown = f"expected a branch, tag or commit, found none of this name{phrase_suggestion(near)}"
    if repository.is_shallow:
        return f"{unknown}; this is a shallow clone, which may lack it: {_DEEPEN}"
    advice = "`git fetch` brings those of the remote" if near is None else "`git branch --all` lists them"
    return f"{unknown}; {advice}"


def _verify(repository: Repository, revision: str) -> str | None:
    answer = ask_git(repository.top, "rev-parse", "--verify", "--quiet", revision)
    return answer.output.decode("ascii", "replace").strip() or None if answer.code == 0 else None


def _list_refs(repository: Repository, form: str, places: Sequence[str]) -> list[str]:
    answer = ask_git(repository.top, "for-each-ref", f"--format=%({form})", *places)
    return answer.output.decode("utf-8", "replace").splitlines()
