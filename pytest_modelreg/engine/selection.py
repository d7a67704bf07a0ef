"""Which cases a command's words mean: suite files, suite names, case ids."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from pytest_modelreg.domain.case import case_id
from pytest_modelreg.domain.errors import Fault, SuiteFileError, UsageFault
from pytest_modelreg.domain.nearest import suggest
from pytest_modelreg.engine.discovery import find_suites
from pytest_modelreg.engine.run import find_project_root
from pytest_modelreg.engine.suite import CasePlan, Suite
from pytest_modelreg.engine.suite_loading import load_suite, load_suites


def select_cases(targets: Sequence[str], base: Path) -> list[tuple[Suite, CasePlan]]:
    """Return the cases that the words name, each once, in the order of files and cases.

    Parameters
    ----------
    targets : sequence of str
        Suite files or folders with them, suite names, case ids; none means every
        suite below ``base``. A word that also names a file or folder without suites is
        a name or an id.
    base : Path
        Where the command was typed: suites are looked for below it, names also in the
        whole project around it.

    Raises
    ------
    SuiteFileError
        With the faults of the suites that were meant, or may have been.
    UsageFault
        When there is no suite, or a word names nothing; it names the nearest.
    """
    root = find_project_root(base)
    if not targets:
        return _cases_of(_load(find_suites([base], ignored=_none), base, root))
    paths = [base / target for target in targets if holds_suites(base / target)]
    words = [target for target in targets if not holds_suites(base / target)]
    named = _cases_of(_load(find_suites(paths, ignored=_none), base, root)) if paths else []
    return named + [found for found in _find_words(words, base, root) if found not in named]


def holds_suites(path: Path) -> bool:
    """Whether a path is a suite file or a folder with one at or below it."""
    return path.exists() and bool(find_suites([path], ignored=_none))


def select_recordable(targets: Sequence[str], base: Path) -> tuple[list[tuple[Suite, CasePlan]], int]:
    """Return the cases among :func:`select_cases` that keep a golden, and how many others there are.

    Raises
    ------
    SuiteFileError
        As :func:`select_cases`.
    UsageFault
        As well when a case was named that is judged against another case's golden.
    """
    cases = select_cases(targets, base)
    for _, case in cases:
        if case.id in targets and not case.keeps_golden:
            of = case_id(case.template.suite, case.golden_variant)
            raise UsageFault(
                f"{case.id}: expected a case that keeps a golden, got one that is judged against the golden "
                f"of {of}; regenerate that one, or write `golden: own` for {case.variant} in the suite file"
            )
    kept = [(suite, case) for suite, case in cases if case.keeps_golden]
    return kept, len(cases) - len(kept)


def _find_words(words: Sequence[str], base: Path, root: Path) -> list[tuple[Suite, CasePlan]]:
    """Return the cases of suite names and case ids, looked for below ``base``, then below the project.

    A neighbour's faulty suite file is nobody's business as long as every word is found.
    """
    if not words:
        return []
    cases: list[tuple[Suite, CasePlan]] = []
    faults: list[Fault] = []
    unknown = set(words)
    for folder in dict.fromkeys((base, root)):
        for file in find_suites([folder], ignored=_none):
            try:
                cases += [case for case in _cases_of([load_suite(file, rootdir=root)]) if case not in cases]
            except SuiteFileError as error:
                faults += error.faults
        unknown = set(words) - {suite.name for suite, _ in cases} - {case.id for _, case in cases}
        if not unknown:
            return [(suite, case) for suite, case in cases if suite.name in words or case.id in words]
    if faults:
        raise SuiteFileError(list(dict.fromkeys(faults)))
    known = sorted({suite.name for suite, _ in cases} | {case.id for _, case in cases})
    word = sorted(unknown)[0]
    found = "a folder without suite files" if (base / word).is_dir() else "a file that is no suite file"
    got = (
        f"found {found}, and no suite or case of that name"
        if (base / word).exists()
        else "found none of them"
    )
    raise UsageFault(
        f"{word}: expected a suite file, a suite's name or a case id, {got}"
        f"{suggest(word, known)}; known here: {', '.join(known) or 'no suite'}"
    )


def _load(files: Sequence[Path], base: Path, root: Path) -> list[Suite]:
    if not files:
        elsewhere = [os.path.relpath(path, base) for path in find_suites([root], ignored=_none)]
        hint = f"name it: {elsewhere[0]}" if elsewhere else "`modelreg init` writes a first one"
        raise UsageFault(f"expected modelreg.yaml or *.modelreg.yaml here or below, found none; {hint}")
    return load_suites(files, rootdir=root)


def _cases_of(suites: Sequence[Suite]) -> list[tuple[Suite, CasePlan]]:
    return [(suite, case) for suite in suites for case in suite.cases]


def _none(path: Path) -> bool:
    """Pass over nothing that discovery would look into."""
    return False
