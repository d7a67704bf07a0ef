"""``summary.csv`` of a golden: a row a sample, so that an accepted change reads well in a diff."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from pytest_modelreg.domain.case import OutputSpec, case_id
from pytest_modelreg.domain.errors import JudgeError
from pytest_modelreg.domain.observation import Observation
from pytest_modelreg.domain.output_path import find_entry
from pytest_modelreg.domain.sample import SampleSet
from pytest_modelreg.judge.detection import DetectionReader, find_groups, list_group_faults
from pytest_modelreg.judge.kinds import KINDS
from pytest_modelreg.judge.kinds.kind import Row
from pytest_modelreg.judge.sequences import list_scores_faults
from pytest_modelreg.store import open_output


def summarise(
    folder: Path, observation: Observation, samples: SampleSet, outputs: Mapping[str, OutputSpec]
) -> list[list[str]]:
    """Return the table, header first: id, label where the set has labels, cells of every output.

    Parameters
    ----------
    folder : pathlib.Path
        Where the observation's arrays are.
    samples : SampleSet
        Ground truth comes from here.
    outputs : mapping of str to OutputSpec
        Declared outputs by output path or pattern; any other is a tensor. Outputs that hold a value
        a batch follow the samples, in rows ``batch 0`` and on.

    Raises
    ------
    JudgeError
        If what is declared of an output does not fit it, all such faults at once: a table with
        wrong names, once accepted, would be believed.
    """
    _check_declared(observation, outputs)
    labels = {sample.id: sample.label for sample in samples.samples}
    has_labels = any(label is not None for label in labels.values())
    header = ["id", *(["label"] if has_labels else [])]
    rows = {"sample": [[sample.id] for sample in observation.samples], "batch": _name_batches(observation)}
    if has_labels:
        for row in rows["sample"]:
            row.append(labels.get(row[0]) or "")
        for row in rows["batch"]:
            row.append("")
    groups = {group.boxes: group for group in find_groups(observation.outputs, outputs)}
    for path, record in observation.outputs.items():
        spec = find_entry(path, outputs) or OutputSpec()
        kind = KINDS[spec.kind]
        read: Callable[[int], Row] = open_output(folder, record).row
        if path in groups and record.per == "sample":
            read = DetectionReader(folder, observation.outputs, groups[path]).read_counted
        header += [f"{path}.{column}" for column in kind.columns]
        for per, each in rows.items():
            for number, cells in enumerate(each):
                cells += kind.summarise(read(number), spec) if per == record.per else [""] * len(kind.columns)
    return [header, *rows["sample"], *rows["batch"]]


def _name_batches(observation: Observation) -> list[list[str]]:
    n_batches = max(
        (record.shape[0] for record in observation.outputs.values() if record.per == "batch"), default=0
    )
    return [[f"batch {number}"] for number in range(n_batches)]


def _check_declared(observation: Observation, outputs: Mapping[str, OutputSpec]) -> None:
    case = case_id(observation.suite, observation.variant)
    faults = [
        KINDS[spec.kind].find_fault(path, record.shape[1:], spec)
        for path, record in observation.outputs.items()
        if (spec := find_entry(path, outputs)) is not None
    ]
    faults += list_group_faults(observation.outputs, outputs)
    faults += list_scores_faults(observation.outputs, outputs)
    found = [f"{case}: {fault}" for fault in faults if fault is not None]
    if found:
        raise JudgeError("\n".join(found))
