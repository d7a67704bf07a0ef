"""From a suite file to a :class:`~pytest_modelreg.engine.suite.Suite`: read, checked, planned.

What belongs here: the way from a file to values. How a file is read is in
``suite_file.document``, what it may say in ``suite_file.model``, how faults are worded in
``suite_file.wording``, which variants it has in ``suite_file.cases``, how limits are merged in
``suite_file.checks``.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_modelreg.domain.case import CaseSpec, RuntimeSpec
from pytest_modelreg.domain.check import CheckPlan
from pytest_modelreg.domain.errors import Fault, SuiteFileError
from pytest_modelreg.domain.sample import ROW_LOADER
from pytest_modelreg.engine.suite import CasePlan, Suite
from pytest_modelreg.engine.suite_file.axes import ReferenceBlock
from pytest_modelreg.engine.suite_file.axis_value import CheckpointBlock, RuntimeBlock
from pytest_modelreg.engine.suite_file.case_names import check_names
from pytest_modelreg.engine.suite_file.cases import PlannedVariant, plan_variants
from pytest_modelreg.engine.suite_file.checks import describe_outputs, plan_checks
from pytest_modelreg.engine.suite_file.document import Document, parse_document, read_document
from pytest_modelreg.engine.suite_file.environment import EnvironmentBlock
from pytest_modelreg.engine.suite_file.fault import FaultLog, render_path, show_file
from pytest_modelreg.engine.suite_file.judging import check_judging, check_variant_judging
from pytest_modelreg.engine.suite_file.model import SuiteBlock
from pytest_modelreg.engine.suite_file.naming import fold_name
from pytest_modelreg.engine.suite_file.own_model import check_own_models
from pytest_modelreg.engine.suite_file.wording import check_version, validate


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
        first = seen.setdefault(fold_name(suite.name), suite)
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
    if block is None:
        raise SuiteFileError(log.faults)
    variants = plan_variants(block, document, root, log)
    check_names(variants, document, log)
    plans = [_plan_variant_checks(block, variant) for variant in variants]
    check_own_models(block, variants, document, log)
    check_variant_judging(block.outputs, variants, plans, document, log)
    if log.faults:
        raise SuiteFileError(log.faults)
    reference = replace(
        _plan_reference(block, root, rootdir), line=document.line(("reference",), of_key=True)
    )
    return Suite(
        name=block.suite,
        file=file,
        root=root,
        where=f"{log.file}:{document.line(('suite',))}",
        samples=reference.template.samples,
        golden_root=root / "golden" if block.golden is None else Path(block.golden),
        model=block.reference.model or block.reference.runtime.kind,
        golden_per=block.golden_per,
        golden_budget_mb=block.golden_budget_mb,
        trace_mb=block.trace_mb,
        cases=(
            reference,
            *(
                CasePlan(
                    template=_vary(reference.template, variant, root),
                    checks=plan,
                    keeps_golden=variant.is_own,
                    marks=variant.marks,
                    line=document.line(variant.place, of_key=True),
                )
                for variant, plan in zip(variants, plans, strict=True)
            ),
        ),
    )


def _plan_reference(block: SuiteBlock, root: Path, rootdir: Path) -> CasePlan:
    reference = block.reference
    written = {key: getattr(reference, key) for key in ReferenceBlock.model_fields}
    template = CaseSpec(
        suite=block.suite,
        root=str(root),
        python_path=_python_path(block.python_path, root, rootdir),
        samples=block.samples.declare(),
        loader=block.samples.loader or ROW_LOADER,
        deterministic=block.deterministic,
        outputs=describe_outputs(block.outputs),
        **{key: _plain(value, root) for key, value in written.items()},
    )
    return CasePlan(template=template, checks=plan_checks(block.outputs, block.checks))


def _plan_variant_checks(block: SuiteBlock, variant: PlannedVariant) -> CheckPlan:
    return plan_checks(
        block.outputs,
        block.checks,
        variant=variant.checks,
        variant_outputs=variant.outputs,
        scope=render_path(variant.place),
    )


def _vary(reference: CaseSpec, variant: PlannedVariant, root: Path) -> CaseSpec:
    """Return the reference with the axes replaced that a variant replaces."""
    replaced = {key: _plain(value, root) for key, value in variant.replaced.items()}
    return replace(reference, variant=variant.name, axes=dict(variant.written), **replaced)


def _plain(value: Any, root: Path) -> Any:
    """Return an axis value of the file as the one of a case."""
    if isinstance(value, CheckpointBlock):
        return value.locate(root)
    if isinstance(value, EnvironmentBlock):
        return value.locate(root)
    if isinstance(value, RuntimeBlock):
        return RuntimeSpec(kind=value.kind, options=value.options, transform=value.transform)
    return value


def _python_path(declared: Sequence[str] | None, root: Path, rootdir: Path) -> tuple[str, ...]:
    if declared is not None:
        return tuple(declared)
    sources = [folder for base in (root, rootdir) for folder in (base, base / "src")]
    found = [str(folder) for folder in sources if folder in (root, rootdir) or folder.is_dir()]
    return tuple(dict.fromkeys(found))


def _absolute(path: Path) -> Path:
    """Return a path without ``..`` and relative parts; links stay as they are written."""
    return Path(os.path.abspath(path))
