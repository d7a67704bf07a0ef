"""Structure before values: output paths, what a row is, dtype, shape.

A structural difference is a finding, never an exception and never broadcast away: (3, 1) is
not (1, 3). Outputs that agree are handed on to be measured, and nothing is said of them.
"""

from __future__ import annotations

from dataclasses import dataclass

from pytest_modelreg.domain.errors import JudgeError
from pytest_modelreg.domain.observation import OutputRecord
from pytest_modelreg.domain.result import StructureFinding
from pytest_modelreg.judge.alignment import Alignment
from pytest_modelreg.judge.pairing import PairedOutput, describe_shape, pair_rows
from pytest_modelreg.judge.plan import describe_nearest
from pytest_modelreg.judge.request import JudgeRequest


@dataclass(frozen=True, kw_only=True, eq=False)
class Structure:
    """How the outputs of both sides fit each other.

    Parameters
    ----------
    findings : tuple of StructureFinding
        What does not fit: each is a drift.
    outputs : tuple of PairedOutput
        What can be measured, in the golden's order.
    notes : tuple of str
        What was left out, and why.
    """

    findings: tuple[StructureFinding, ...]
    outputs: tuple[PairedOutput, ...]
    notes: tuple[str, ...]


def pair_outputs(request: JudgeRequest, alignment: Alignment) -> Structure:
    """Hold the structure of both sides' outputs against each other.

    Raises
    ------
    JudgeError
        If the suite declares an output that neither side has, or the golden contradicts itself.
    """
    expected, actual = request.golden.observation.outputs, request.observation.outputs
    _check_declared(request)
    findings: list[StructureFinding] = []
    outputs: list[PairedOutput] = []
    notes: list[str] = []
    for path in [*expected, *(path for path in actual if path not in expected)]:
        before, after = expected.get(path), actual.get(path)
        if request.spec_of(path).per == "ignore":
            notes.append(f"{path}: not compared: per: ignore")
        elif before is None or after is None:
            findings.append(_describe_one_sided(path, before, after))
        elif _find_changes(path, before, after):
            findings += _find_changes(path, before, after)
        elif before.per == "batch" and not _has_same_batches(request, alignment):
            notes.append(
                f"{path}: not compared: one value a batch, and the batches differ from the golden's "
                "in samples, order or size"
            )
        else:
            paired, found = pair_rows(request, alignment, path, before, after)
            findings += found
            outputs += [] if paired is None else [paired]
    return Structure(findings=tuple(findings), outputs=tuple(outputs), notes=tuple(notes))


def describe_record(record: OutputRecord) -> str:
    """Return ``float32 (64, 1000)``; a ragged axis is ``*``."""
    return f"{record.dtype} {describe_shape(record.shape)}"


def _check_declared(request: JudgeRequest) -> None:
    known = {**request.golden.observation.outputs, **request.observation.outputs}
    unknown = [path for path, spec in request.outputs.items() if path not in known and spec.per != "ignore"]
    if unknown:
        raise JudgeError(
            "\n".join(
                f"{request.case}: outputs.{path}: expected an output path that the model returns "
                f"({', '.join(known) or 'none'}), got {path!r}{describe_nearest(path, known)}"
                for path in unknown
            )
        )


def _describe_one_sided(
    path: str, before: OutputRecord | None, after: OutputRecord | None
) -> StructureFinding:
    return StructureFinding(
        output=path,
        what="output",
        expected="nothing" if before is None else describe_record(before),
        actual="nothing" if after is None else describe_record(after),
    )


def _find_changes(path: str, before: OutputRecord, after: OutputRecord) -> list[StructureFinding]:
    changes = (("per", before.per, after.per), ("dtype", before.dtype, after.dtype))
    return [
        StructureFinding(output=path, what=what, expected=expected, actual=actual)
        for what, expected, actual in changes
        if expected != actual
    ]


def _has_same_batches(request: JudgeRequest, alignment: Alignment) -> bool:
    return alignment.is_same_order and request.golden.observation.batch_size == request.observation.batch_size
