"""Which cases a command's words mean: suite files, suite names, case ids."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path

from pytest_modelreg.domain.errors import UsageFault
from pytest_modelreg.engine.discovery import find_suites
from pytest_modelreg.engine.suite import CasePlan, Suite, load_suites


def select_cases(targets: Sequence[str], base: Path) -> list[tuple[Suite, CasePlan]]:
    """Return the cases that the words name, each once, in the order of files and cases.

    Parameters
    ----------
    targets : sequence of str
        Suite files or folders with them, suite names, case ids; none means every
        suite below ``base``.
    base : Path
        Where to look for suites, and what relative files are relative to.

    Raises
    ------
    SuiteFileError
        With the faults of all suites looked at.
    UsageFault
        When there is no suite, or a word names nothing; it names the nearest.
    """
    paths = [base / target for target in targets if (base / target).exists()]
    words = [target for target in targets if not (base / target).exists()]
    roots = [*paths, base] if words or not paths else paths
    found = load_suites(find_suites(roots, ignored=lambda path: False), rootdir=base)
    if not found:
        raise UsageFault(
            f"no modelreg.yaml or *.modelreg.yaml below {', '.join(map(str, roots))}; "
            "`modelreg init` writes a first one"
        )
    cases = [(suite, case) for suite in found for case in suite.cases]
    if not targets:
        return cases
    files = set(find_suites(paths, ignored=lambda path: False))
    known = sorted({suite.name for suite, _ in cases} | {case.id for _, case in cases})
    for word in words:
        if word not in known:
            near = difflib.get_close_matches(word, known, n=1)
            hint = f" (did you mean {near[0]}?)" if near else ""
            raise UsageFault(
                f"{word}: expected a suite file, a suite's name or a case id, found none of them{hint}; "
                f"known here: {', '.join(known)}"
            )
    return [
        (suite, case)
        for suite, case in cases
        if suite.file in files or suite.name in words or case.id in words
    ]
