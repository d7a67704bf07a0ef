"""A suite: one suite file, read and checked, with the cases it plans.

What belongs here: the values that the session runs, and the way from a file to them.
How a file is read is in ``suite_file.document``, what it may say in ``suite_file.model``, how faults
are worded in ``suite_file.wording``, how limits are merged in ``suite_file.checks``.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pytest_modelreg.domain.case import CaseSpec, OutputSpec, RuntimeSpec
from pytest_modelreg.domain.check import CheckPlan
from pytest_modelreg.domain.errors import Fault, SuiteFileError
from pytest_modelreg.domain.sample import SampleSet
from pytest_modelreg.engine.suite_file.checks import check_judging, describe_outputs, plan_checks
from pytest_modelreg.engine.suite_file.document import Document, parse_document, read_document
from pytest_modelreg.engine.suite_file.fault import FaultLog, show_file
from pytest_modelreg.engine.suite_file.model import SuiteBlock
from pytest_modelreg.engine.suite_file.wording import check_version, validate


@dataclass(frozen=True, kw_only=True)
class CasePlan:
    """One case of a suite before its samples are read.

    Parameters
    ----------
    template : CaseSpec
        What is to be observed, with an empty sample set.
    checks : CheckPlan
        What is asked of declared and all other outputs.
    """

    template: CaseSpec
    checks: CheckPlan = field(default_factory=CheckPlan)

    @property
    def id(self) -> str:
        """The case id, ``<suite>[<variant>]``."""
        return self.template.id

    @property
    def variant(self) -> str:
        """The variant's name; ``reference`` for the reference."""
        return self.template.variant

    @property
    def axes(self) -> Mapping[str, Any]:
        """The axis values in which the case differs from the reference, as written."""
        return self.template.axes

    @property
    def outputs(self) -> Mapping[str, OutputSpec]:
        """Declared outputs by output path."""
        return self.template.outputs

    def spec(self, samples: SampleSet) -> CaseSpec:
        """Return what observing this case on these samples needs to know."""
        return replace(self.template, samples=samples)


@dataclass(frozen=True, kw_only=True)
class Suite:
    """One suite file.

    Parameters
    ----------
    name : str
        Part of case ids and golden folders.
    file, root : Path
        The suite file and its folder, absolute.
    where : str
        File and line of the name, for messages: ``modelreg.yaml:2``.
    samples_folder, golden_root : Path
        Absolute; the samples folder exists, the golden root need not.
    model : str
        Reference of the model factory, for the header.
    cases : tuple of CasePlan
        Never empty; the reference first.
    """

    name: str
    file: Path
    root: Path
    where: str
    samples_folder: Path
    golden_root: Path
    model: str
    cases: tuple[CasePlan, ...]


def load_suite(path: Path, *, rootdir: Path) -> Suite:
    """Return the suite of a file.

    Parameters
    ----------
    path : Path
        The suite file.
    rootdir : Path
        What messages show files relative to; by default also searched for modules.

    Raises
    ------
    SuiteFileError
        With every fault of the file, by line.
    """
    file, rootdir = _absolute(path), _absolute(rootdir)
    log = FaultLog(show_file(file, rootdir))
    return _build(read_document(file, log), file, rootdir, log)


def parse_suite(text: str, path: Path, *, rootdir: Path) -> Suite:
    """Return the suite that ``text`` would be as the file ``path``; see :func:`load_suite`."""
    file, rootdir = _absolute(path), _absolute(rootdir)
    log = FaultLog(show_file(file, rootdir))
    return _build(parse_document(text, log), file, rootdir, log)


def load_suites(paths: Sequence[Path], *, rootdir: Path) -> list[Suite]:
    """Return the suites of several files, in order, each file once.

    Raises
    ------
    SuiteFileError
        With every fault of every file, and with suites that share their goldens.
    """
    suites: list[Suite] = []
    faults: list[Fault] = []
    for path in dict.fromkeys(_absolute(path) for path in paths):
        try:
            suites.append(load_suite(path, rootdir=rootdir))
        except SuiteFileError as error:
            faults += error.faults
    faults += find_shared_names(suites)
    if faults:
        raise SuiteFileError(faults)
    return suites


def find_shared_names(suites: Iterable[Suite]) -> list[Fault]:
    """Return a fault for every suite of a run that has the name of one before it.

    Their cases would have the same ids, so that a report or a command could mean
    either. Names that differ only in case or in their Unicode form are one folder on
    some file systems, so they count as equal. A suite file that is reached by two
    paths is one suite.
    """
    faults = []
    seen: dict[str, Suite] = {}
    for suite in suites:
        name = unicodedata.normalize("NFC", suite.name).casefold()
        first = seen.setdefault(name, suite)
        if os.path.realpath(first.file) != os.path.realpath(suite.file):
            faults.append(
                Fault(
                    where=suite.where,
                    key="suite",
                    message=f"expected a name of its own, got {suite.name!r}, which {first.where} has too, "
                    "so that their cases could not be told apart (rename one of them)",
                )
            )
    return faults


def _build(document: Document, file: Path, rootdir: Path, log: FaultLog) -> Suite:
    check_version(document, log)
    root = file.parent
    block = validate(document, root, log)
    check_judging(document, root, log)
    if block is None or log.faults:
        raise SuiteFileError(log.faults)
    where = f"{log.file}:{document.line(('suite',))}"
    golden_root = root / "golden" if block.golden is None else Path(block.golden)
    return Suite(
        name=block.suite,
        file=file,
        root=root,
        where=where,
        samples_folder=Path(block.samples.folder),
        golden_root=golden_root,
        model=block.reference.model,
        cases=(_plan_reference(block, root, rootdir),),
    )


def _plan_reference(block: SuiteBlock, root: Path, rootdir: Path) -> CasePlan:
    reference = block.reference
    template = CaseSpec(
        suite=block.suite,
        root=str(root),
        python_path=_python_path(block.python_path, root, rootdir),
        samples=SampleSet(folder=block.samples.folder, samples=()),
        loader=block.samples.loader,
        model=reference.model,
        model_args=reference.model_args,
        checkpoint=None if reference.checkpoint is None else reference.checkpoint.locate(root),
        preprocess=reference.preprocess,
        collate=reference.collate,
        forward=reference.forward,
        runtime=RuntimeSpec(kind=reference.runtime.kind, options=dict(reference.runtime.model_extra or {})),
        batch_size=reference.batch_size,
        threads=reference.threads,
        deterministic=block.deterministic,
        outputs=describe_outputs(block.outputs),
    )
    return CasePlan(template=template, checks=plan_checks(block.outputs, block.checks))


def _python_path(declared: Sequence[str] | None, root: Path, rootdir: Path) -> tuple[str, ...]:
    if declared is not None:
        return tuple(declared)
    sources = [folder for base in (root, rootdir) for folder in (base, base / "src")]
    found = [str(folder) for folder in sources if folder in (root, rootdir) or folder.is_dir()]
    return tuple(dict.fromkeys(found))


def _absolute(path: Path) -> Path:
    """Return a path without ``..`` and relative parts; links stay as they are written."""
    return Path(os.path.abspath(path))
