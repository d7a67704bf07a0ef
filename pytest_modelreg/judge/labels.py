"""Labels of samples as class indices: by the class's name, or by its number as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from pytest_modelreg.domain.case import OutputSpec
from pytest_modelreg.domain.nearest import suggest
from pytest_modelreg.domain.sample import SampleSet

IndexArray = npt.NDArray[np.int64]

UNLABELLED = -1
N_FAULTS = 5
MAX_DIGITS = 18


def resolve_labels(
    samples: SampleSet, names: Sequence[str], spec: OutputSpec, n_classes: int
) -> tuple[IndexArray, list[str]]:
    """Return the true class of every row, and what stands against it.

    Parameters
    ----------
    samples : SampleSet
        Where labels come from; all of them are looked at, compared or not.
    names : sequence of str
        Sample ids of the rows.
    spec : OutputSpec
        Whose ``labels`` name the classes; a label that is none of them may be a class index.
    n_classes : int
        Scores a row.

    Returns
    -------
    labels : ndarray of int64, axes (row,)
        Class index, -1 where the sample has no label.
    faults : list of str
        Labels that are no class, at most five and how many more; or that there are none.
    """
    classes: dict[str, list[int]] = {}
    for number, name in enumerate(spec.labels or ()):
        classes.setdefault(name, []).append(number)
    written = {sample.id: sample.label for sample in samples.samples if sample.label is not None}
    if not written:
        return np.full(len(names), UNLABELLED, dtype=np.int64), [
            "expected samples with labels, got none; add a `label` column to samples.csv, with "
            f"{'the names in labels' if classes else 'class indices'}"
        ]
    index_of: dict[str, int] = {}
    faults: list[str] = []
    for sample, label in written.items():
        found = _find_class(label, classes, n_classes)
        if isinstance(found, int):
            index_of[sample] = found
        else:
            faults.append(f"label of sample {sample}: {found}")
    if len(faults) > N_FAULTS:
        faults = [*faults[:N_FAULTS], f"and {len(faults) - N_FAULTS} more labels that are no class"]
    return np.array([index_of.get(name, UNLABELLED) for name in names], dtype=np.int64), faults


def _find_class(label: str, classes: Mapping[str, Sequence[int]], n_classes: int) -> int | str:
    """Return a label's class index, or what is wrong with the label."""
    named = classes.get(label, ())
    if len(named) == 1:
        return named[0]
    if named:
        return (
            f"expected the name of one class, got {label!r}, which names classes "
            f"{', '.join(map(str, named))}; write the class index instead"
        )
    if label.isascii() and label.isdigit() and len(label) <= MAX_DIGITS and int(label) < n_classes:
        return int(label)
    expected = f"a class index from 0 to {n_classes - 1}"
    if classes:
        expected = f"one of the {len(classes)} names in labels, or {expected}"
    return f"expected {expected}, got {label!r}{suggest(label, classes)}"
