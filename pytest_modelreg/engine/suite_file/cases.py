"""Which cases a suite has: the reference, its variants, and the combinations of its matrix.

What belongs here: names, and which axis values each case replaces. What the values mean for
an observation is ``engine.suite``'s, what is asked of the outputs ``checks``'.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_modelreg.domain.case import AXES, CheckpointRef
from pytest_modelreg.domain.nearest import suggest
from pytest_modelreg.engine.suite_file.axes import VariantBlock, VariantOutputBlock, VerdictBlock
from pytest_modelreg.engine.suite_file.axis_value import CheckpointsBlock
from pytest_modelreg.engine.suite_file.document import Document
from pytest_modelreg.engine.suite_file.fault import FaultLog, KeyPath, list_names
from pytest_modelreg.engine.suite_file.limit import ChecksBlock
from pytest_modelreg.engine.suite_file.matrix import MatrixBlock
from pytest_modelreg.engine.suite_file.model import SuiteBlock
from pytest_modelreg.engine.suite_file.naming import fold_name, name_value
from pytest_modelreg.engine.suite_file.support import MAX_CASES

COMPANIONS = ("model", "model_args", "collate", "forward")
"""What a variant may replace beside its axes, because another checkpoint may need it."""


@dataclass(frozen=True, kw_only=True)
class PlannedVariant:
    """One variant before it is a case.

    Parameters
    ----------
    name : str
        Part of the case id.
    place : key path
        Where the suite file has it, for messages and the sources of limits.
    replaced : mapping of str to Any
        Values of the axes and companions that it replaces, in their blocks.
    written : mapping of str to Any
        The same as the file has them: what goes on record.
    is_own : bool
        Whether it is judged against a golden of its own.
    marks : tuple of str
        Names by which a test run selects it.
    """

    name: str
    place: KeyPath
    replaced: Mapping[str, Any]
    written: Mapping[str, Any]
    is_own: bool
    marks: tuple[str, ...]
    checks: ChecksBlock
    outputs: Mapping[str, VariantOutputBlock] = field(default_factory=dict)


def plan_variants(block: SuiteBlock, document: Document, root: Path, log: FaultLog) -> list[PlannedVariant]:
    """Return the variants in the order of the file, those of the matrix last.

    Notes in ``log`` a variant that differs in nothing, and too many of them. That names meet is
    ``case_names``' to find.
    """
    variants: list[PlannedVariant] = []
    for name, written in block.variants.items():
        variants += _plan_variant(name, written, document, root, log)
    if block.matrix is not None:
        combinations = list(_plan_matrix(block.matrix, document, root, log))
        if not combinations and not log.has_below(("matrix",)):
            message = "expected at least one combination, got all of them excluded"
            log.add(document.line(("matrix",), of_key=True), ("matrix", "exclude"), message)
        variants += combinations
    return variants


def _plan_variant(
    name: str, block: VariantBlock, document: Document, root: Path, log: FaultLog
) -> Iterator[PlannedVariant]:
    place: KeyPath = ("variants", name)
    written = {key: value for key, value in document.value(place).items() if key in (*AXES, *COMPANIONS)}
    if not written:
        message = f"expected at least one axis that differs from the reference ({', '.join(AXES)}), got none"
        log.add(document.line(place, of_key=True), place, message)
    replaced = {key: getattr(block, key) for key in written}
    for suffix, changes, shown in _spread_checkpoints(replaced, written, root):
        yield _name("-".join([name, *suffix]), place, changes, shown, block)


def _plan_matrix(
    block: MatrixBlock, document: Document, root: Path, log: FaultLog
) -> Iterator[PlannedVariant]:
    place: KeyPath = ("matrix",)
    data = document.value(place)
    axes = {axis: block.axes[axis] for axis in data if axis in block.axes}
    names = {axis: list(values) for axis, values in axes.items()}
    excluded = _read_excluded(block, names, document, log)
    n_combinations = 1
    for values in names.values():
        n_combinations *= len(values)
    if n_combinations > MAX_CASES:
        log.add(
            document.line(place, of_key=True),
            place,
            f"expected at most {MAX_CASES} combinations, got {n_combinations}",
        )
        return
    for combination in itertools.product(*names.values()):
        chosen = dict(zip(names, combination, strict=True))
        if any(chosen.items() >= exclusion.items() for exclusion in excluded):
            continue
        replaced = {axis: axes[axis][name] for axis, name in chosen.items()}
        written = {axis: _find_written(data[axis], name) for axis, name in chosen.items()}
        for suffix, changes, shown in _spread_checkpoints(replaced, written, root):
            parts = [
                "-".join(suffix) if suffix and axis == "checkpoint" and isinstance(data[axis], list) else name
                for axis, name in chosen.items()
            ]
            if suffix and isinstance(data["checkpoint"], dict):
                parts += suffix
            yield _name("-".join(parts), place, changes, shown, block)


def _name(
    name: str, place: KeyPath, replaced: Mapping[str, Any], written: Mapping[str, Any], block: VerdictBlock
) -> PlannedVariant:
    return PlannedVariant(
        name=name,
        place=place,
        replaced=replaced,
        written=written,
        is_own=block.golden == "own",
        marks=block.marks,
        checks=block.checks,
        outputs=block.outputs,
    )


def _read_excluded(
    block: MatrixBlock, names: Mapping[str, list[str]], document: Document, log: FaultLog
) -> list[dict[str, str]]:
    """Return the excluded combinations, noting those that exclude nothing: a typo would go unseen."""
    kept = []
    for index, exclusion in enumerate(block.exclude):
        place: KeyPath = ("matrix", "exclude", index)
        faults = []
        for axis, name in exclusion.items():
            if axis not in names:
                got = f"{axis!r}{suggest(axis, names)}"
                faults.append(f"expected an axis of the matrix ({', '.join(names)}), got {got}")
            elif name not in names[axis]:
                got = f"{name!r}{suggest(name, names[axis])}"
                faults.append(f"{axis}: expected {list_names(names[axis])}, got {got}")
        if not exclusion:
            faults.append("expected axes and the names of their values, got an empty mapping")
        for fault in faults:
            log.add(document.line(place), place, fault)
        if not faults:
            kept.append(dict(exclusion))
    return kept


def _find_written(values: Any, name: str) -> Any:
    if isinstance(values, dict):
        return values[name]
    return next(value for value in values if name_value(value) == name)


def _spread_checkpoints(
    replaced: Mapping[str, Any], written: Mapping[str, Any], root: Path
) -> Iterator[tuple[list[str], dict[str, Any], dict[str, Any]]]:
    """Yield the case for every file of a checkpoint pattern, or the one case as it is."""
    block = replaced.get("checkpoint")
    if not isinstance(block, CheckpointsBlock):
        yield [], dict(replaced), dict(written)
        return
    found = block.locate_all(root)
    names = _name_files([Path(ref.path) for ref in found])
    for name, ref in zip(names, found, strict=True):
        if len(found) == 1 and not block.is_pattern:
            yield [], {**replaced, "checkpoint": ref}, dict(written)
        else:
            yield [name], {**replaced, "checkpoint": ref}, {**written, "checkpoint": _show(ref, block, root)}


def _name_files(paths: list[Path]) -> list[str]:
    """Return a name a file: its stem, with the folder where stems are not unique."""
    stems = [name_value(path.name) for path in paths]
    if len(set(map(fold_name, stems))) == len(stems):
        return stems
    return [name_value(f"{path.parent.name}-{path.name}") for path in paths]


def _show(ref: CheckpointRef, block: CheckpointsBlock, root: Path) -> str:
    """Return a file of a pattern as the suite file would have written it."""
    path = Path(ref.path)
    if block.package is not None or not path.is_relative_to(root):
        return path.name
    return path.relative_to(root).as_posix()
