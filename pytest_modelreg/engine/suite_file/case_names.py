"""Names of the cases of one suite: each its own, whatever it was made of.

What belongs here: names that meet. A name is part of a test id and of a golden's folder, so two cases
with one name would be one record of a report, and overwrite each other's golden. Names are written in
the file, made of the file names that a pattern matches, or of the values that a matrix combines; only
when all are known does it show that two are equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytest_modelreg.domain.case import CheckpointRef
from pytest_modelreg.engine.suite_file.cases import PlannedVariant
from pytest_modelreg.engine.suite_file.document import Document
from pytest_modelreg.engine.suite_file.fault import FaultLog, KeyPath, shorten
from pytest_modelreg.engine.suite_file.naming import fold_name
from pytest_modelreg.engine.suite_file.support import RESERVED_CASES

_MATRIX: KeyPath = ("matrix",)


def check_names(variants: Sequence[PlannedVariant], document: Document, log: FaultLog) -> None:
    """Note cases that would share an id or a golden folder, with the files or values they are made of.

    Names count as equal when any file system takes them for one: upper and lower case, and the
    composed and decomposed form of a letter.
    """
    first: dict[str, PlannedVariant] = {}
    meeting: dict[tuple[KeyPath, str], list[PlannedVariant]] = {}
    for variant in variants:
        folded = fold_name(variant.name)
        line = document.line(variant.place, of_key=True)
        if not folded or folded in RESERVED_CASES:
            got = f"{variant.name!r}, made of {_show_origin(variant)}"
            why = "the reference has this one" if folded else "nothing of it can be part of an id"
            log.add(line, variant.place, f"expected another name, got {got}: {why}; {_advise(variant)}")
            continue
        before = first.setdefault(folded, variant)
        if before is variant:
            continue
        if before.place == variant.place:
            meeting.setdefault((variant.place, folded), [before]).append(variant)
        else:
            got = f"{variant.name!r} also from line {document.line(before.place, of_key=True)}"
            log.add(line, variant.place, f"expected names of their own, got {got}")
    for (place, _), variants_of_name in meeting.items():
        names = " and ".join(dict.fromkeys(repr(variant.name) for variant in variants_of_name))
        origins = " and ".join(map(_show_origin, variants_of_name))
        message = f"expected names of their own, got {names} for {origins}; {_advise(variants_of_name[0])}"
        log.add(document.line(place, of_key=True), place, message)


def _show_origin(variant: PlannedVariant) -> str:
    """Return what a name was made of: the file of a pattern, or the values of a combination."""
    if variant.place != _MATRIX:
        return str(variant.written.get("checkpoint", variant.name))
    values = ", ".join(f"{axis}: {_show_value(value)}" for axis, value in variant.written.items())
    return f"{{{values}}}"


def _show_value(value: Any) -> str:
    return shorten(str(value))


def _advise(variant: PlannedVariant) -> str:
    if isinstance(variant.replaced.get("checkpoint"), CheckpointRef):
        return "a pattern names cases after files without their suffixes: narrow it, or rename a file"
    return "a combination is named after its values: write them as {NAME: VALUE}, with other names"
