"""``summary.csv`` of a golden: a row a sample, so that an accepted change reads well in a diff."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pytest_modelreg.domain.case import OutputSpec, case_id
from pytest_modelreg.domain.errors import JudgeError
from pytest_modelreg.domain.observation import Observation
from pytest_modelreg.domain.sample import SampleSet
from pytest_modelreg.judge.kinds import KINDS
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
        Declared outputs; any other is a tensor. Outputs that hold a value a batch are left out.

    Raises
    ------
    JudgeError
        If what is declared of an output does not fit it, all such faults at once: a table with
        wrong names, once accepted, would be believed.
    """
    _check_declared(observation, outputs)
    labels = {sample.id: sample.label for sample in samples.samples}
    has_labels = any(label is not None for label in labels.values())
    table = [["id", *(["label"] if has_labels else [])]]
    table += [
        [sample.id, *([labels.get(sample.id) or ""] if has_labels else [])] for sample in observation.samples
    ]
    for path, record in observation.outputs.items():
        if record.per != "sample":
            continue
        spec = outputs.get(path, OutputSpec())
        kind = KINDS[spec.kind]
        stored = open_output(folder, record)
        table[0] += [f"{path}.{column}" for column in kind.columns]
        for row, cells in enumerate(table[1:]):
            cells += kind.summarise(stored.row(row), spec)
    return table


def _check_declared(observation: Observation, outputs: Mapping[str, OutputSpec]) -> None:
    case = case_id(observation.suite, observation.variant)
    faults = [
        KINDS[spec.kind].find_fault(path, record.shape[1:], spec)
        for path, record in observation.outputs.items()
        if (spec := outputs.get(path)) is not None
    ]
    found = [f"{case}: {fault}" for fault in faults if fault is not None]
    if found:
        raise JudgeError("\n".join(found))
