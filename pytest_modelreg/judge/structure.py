"""Structure before values: output paths, what a row is, dtype, shape.

A structural difference is a finding, never an exception and never broadcast away: (3, 1) is
not (1, 3). Outputs that agree are handed on to be measured, and nothing is said of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pytest_modelreg.domain.errors import JudgeError
from pytest_modelreg.domain.nearest import suggest
from pytest_modelreg.domain.observation import OutputRecord, RuntimeFinding
from pytest_modelreg.domain.output_path import is_pattern, matches
from pytest_modelreg.domain.result import StructureFinding
from pytest_modelreg.judge.alignment import Alignment
from pytest_modelreg.judge.defaults import is_same_family
from pytest_modelreg.judge.detection import list_group_faults, match_detections
from pytest_modelreg.judge.pairing import PairedOutput, describe_shape, pair_rows
from pytest_modelreg.judge.request import JudgeRequest
from pytest_modelreg.judge.sequences import list_scores_faults, pair_sequences
from pytest_modelreg.judge.sides import OutputSides, is_bit_identical

PRESENCE = "presence"
"""What differs where only one side has the output."""

RENAMED = "renamed"
"""What differs where the output that is gone is, bit by bit, the one that appeared."""

ABSENT = "absent"


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
    unfit : mapping of str to str
        Outputs that hold a row a sample on both sides, of which no row is as the golden's: which of
        ``shape`` and ``dtype`` is other, by output path.
    """

    findings: tuple[StructureFinding, ...]
    outputs: tuple[PairedOutput, ...]
    notes: tuple[str, ...]
    unfit: Mapping[str, str]


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
    unfit: dict[str, str] = {}
    renamed = _find_renamed(request, alignment)
    detections = match_detections(request, alignment, _list_comparable(request))
    sequences = pair_sequences(request, alignment, _list_comparable(request))
    for detection in dict.fromkeys(detections.values()):
        notes += detection.remarks
    if renamed is not None:
        findings.append(_describe_renamed(*renamed))
    for path in [*expected, *(path for path in actual if path not in expected)]:
        before, after = expected.get(path), actual.get(path)
        if renamed is not None and path in renamed:
            continue
        if request.spec_of(path).per == "ignore":
            notes.append(f"{path}: not compared: per: ignore")
        elif before is None or after is None:
            findings.append(_describe_one_sided(path, before, after))
        elif changes := _find_changes(path, before, after, allows_other_dtype=request.allows_other_dtype):
            findings += changes
            if before.per == after.per == "sample":
                unfit[path] = "dtype"
        elif before.per == "batch" and not _has_same_batches(request, alignment):
            notes.append(
                f"{path}: not compared: one value a batch, and the batches differ from the golden's "
                "in samples, order or size"
            )
        else:
            sides = OutputSides(path=path, expected=before, actual=after)
            paired, found = pair_rows(request, alignment, sides, detections.get(path), sequences.get(path))
            findings += found
            if paired is not None:
                outputs.append(paired)
            elif before.per == "sample":
                unfit[path] = "shape"
    return Structure(findings=tuple(findings), outputs=tuple(outputs), notes=tuple(notes), unfit=unfit)


def _list_comparable(request: JudgeRequest) -> list[str]:
    """Return the outputs that hold a row a sample on both sides, of dtypes that can be compared."""
    golden, run = request.golden.observation, request.observation
    return [
        path
        for path, before in golden.outputs.items()
        if (after := run.outputs.get(path)) is not None
        and before.per == "sample"
        and (before.shape[0], after.shape[0]) == (len(golden.samples), len(run.samples))
        and not _find_changes(path, before, after, allows_other_dtype=request.allows_other_dtype)
    ]


def compare_shapes(request: JudgeRequest) -> Structure:
    """Hold whole shapes against each other, where rows cannot be told apart: nothing is measured."""
    expected, actual = request.golden.observation.outputs, request.observation.outputs
    findings: list[StructureFinding] = []
    for path in dict.fromkeys([*expected, *actual]):
        before, after = expected.get(path), actual.get(path)
        if before is None or after is None:
            findings.append(_describe_one_sided(path, before, after))
        elif describe_record(before) != describe_record(after):
            findings.append(
                StructureFinding(
                    output=path, what="shape", expected=describe_record(before), actual=describe_record(after)
                )
            )
    return Structure(findings=tuple(findings), outputs=(), notes=(), unfit={})


def list_new_findings(request: JudgeRequest) -> tuple[RuntimeFinding, ...]:
    """Return what the runtime made of the model otherwise than declared, and than the golden accepts.

    What somebody has accepted with a golden of the case's own is known. The reference's golden
    accepts nothing for a variant.
    """
    accepted = () if request.is_variant else request.golden.observation.runtime_findings
    return tuple(finding for finding in request.observation.runtime_findings if finding not in accepted)


def list_runtime_findings(request: JudgeRequest) -> tuple[StructureFinding, ...]:
    """Return what the runtime made of the model against what is declared: drift, also where values agree."""
    return tuple(
        StructureFinding(
            output=finding.subject, what=finding.what, expected=finding.expected, actual=finding.actual
        )
        for finding in list_new_findings(request)
    )


def describe_finding(finding: StructureFinding) -> str:
    """Return a finding as a clause: ``shape of logits: expected (5, 4), got (5, 2)``."""
    if finding.what == RENAMED:
        return f"output was renamed: expected {finding.expected}, got {finding.actual}"
    if finding.what != PRESENCE:
        return f"{finding.what} of {finding.output}: expected {finding.expected}, got {finding.actual}"
    if finding.expected == ABSENT:
        return f"output {finding.output} appeared ({finding.actual})"
    return f"output {finding.output} is gone (was {finding.expected})"


def describe_record(record: OutputRecord) -> str:
    """Return ``float32 (64, 1000)``; a ragged axis is ``*``."""
    return f"{record.dtype} {describe_shape(record.shape)}"


def _check_declared(request: JudgeRequest) -> None:
    known = {**request.golden.observation.outputs, **request.observation.outputs}
    unknown = [
        path
        for path, spec in request.outputs.items()
        if spec.per != "ignore" and not any(matches(path, output) for output in known)
    ]
    if unknown:
        raise JudgeError(
            "\n".join(
                f"{request.case}: outputs.{path}: expected {_describe_declarable(path)} "
                f"({', '.join(known) or 'none'}), got {path!r}{suggest(path, known)}"
                for path in unknown
            )
        )
    faults = list_group_faults(known, request.outputs) + list_scores_faults(known, request.outputs)
    if faults:
        raise JudgeError("\n".join(f"{request.case}: {fault}" for fault in faults))


def _describe_declarable(path: str) -> str:
    if is_pattern(path):
        return "a pattern of at least one output path that the model returns"
    return "an output path that the model returns"


def _describe_one_sided(
    path: str, before: OutputRecord | None, after: OutputRecord | None
) -> StructureFinding:
    return StructureFinding(
        output=path,
        what=PRESENCE,
        expected=ABSENT if before is None else describe_record(before),
        actual=ABSENT if after is None else describe_record(after),
    )


def _find_renamed(request: JudgeRequest, alignment: Alignment) -> tuple[str, str] | None:
    """Return the path that is gone and the one that appeared, where nothing but the path changed.

    Only where there is one of each: of several, equal values do not tell which became which.
    """
    expected, actual = request.golden.observation.outputs, request.observation.outputs
    gone = [path for path in expected if path not in actual]
    new = [path for path in actual if path not in expected]
    if len(gone) != 1 or len(new) != 1 or "ignore" in {request.spec_of(path).per for path in gone + new}:
        return None
    before, after = expected[gone[0]], actual[new[0]]
    # Equal bytes under another order of samples are other samples' answers.
    if not alignment.is_same_order or _find_changes(new[0], before, after):
        return None
    return (gone[0], new[0]) if is_bit_identical(before, after) else None


def _describe_renamed(before: str, after: str) -> StructureFinding:
    return StructureFinding(
        output=after, what=RENAMED, expected=before, actual=f"{after} (values bit-identical)"
    )


def _find_changes(
    path: str, before: OutputRecord, after: OutputRecord, *, allows_other_dtype: bool = False
) -> list[StructureFinding]:
    changes = [("per", before.per, after.per)]
    if not (allows_other_dtype and is_same_family(before.dtype, after.dtype)):
        changes.append(("dtype", before.dtype, after.dtype))
    return [
        StructureFinding(output=path, what=what, expected=expected, actual=actual)
        for what, expected, actual in changes
        if expected != actual
    ]


def _has_same_batches(request: JudgeRequest, alignment: Alignment) -> bool:
    return alignment.is_same_order and request.golden.observation.batch_size == request.observation.batch_size
