"""How the rows of an output are read as labels, and what is said of a sample whose labels changed."""

from __future__ import annotations

from pytest_modelreg.compare import ArgmaxReader, Labelling, MaskReader, Reader, ThresholdReader
from pytest_modelreg.domain.case import OutputSpec
from pytest_modelreg.judge.defaults import is_exact

THRESHOLD = 0.5
"""From here up a label is on where the suite says nothing: scores are taken for probabilities."""


def threshold_of(spec: OutputSpec) -> float:
    """Return the score from which a label is on, in the output's own unit."""
    return THRESHOLD if spec.threshold is None else spec.threshold


def is_scored_by_class(dtype: str, row_shape: tuple[int, ...]) -> bool:
    """Return whether rows hold a score a class and pixel, rather than one a pixel, or a mask."""
    return not is_exact(dtype) and len(row_shape) == 3 and row_shape[0] != 1


def choose_reader(spec: OutputSpec, dtype: str, row_shape: tuple[int, ...], *, epsilon: float) -> Reader:
    """Return how rows of an output of kind ``multilabel`` or ``segmentation`` are read.

    Parameters
    ----------
    dtype : str
        True dtype.
    row_shape : tuple of int
        Shape of a row, -1 where rows differ.
    epsilon : float
        Relative noise, dimensionless.
    """
    if spec.kind == "multilabel":
        return ThresholdReader(threshold=threshold_of(spec), epsilon=epsilon)
    if is_exact(dtype):
        return MaskReader()
    if is_scored_by_class(dtype, row_shape):
        return ArgmaxReader(epsilon=epsilon)
    return ThresholdReader(threshold=threshold_of(spec), epsilon=epsilon, is_local=True)


def describe_labelling(labelling: Labelling, pair: int, spec: OutputSpec) -> str:
    """Return what is to be said of one sample's labels; empty where all are as they were."""
    n_changed = int(labelling.n_changed[pair])
    if not n_changed:
        return ""
    n_near, n_places = int(labelling.n_near_ties[pair]), int(labelling.n_places[pair])
    what = "pixels" if spec.kind == "segmentation" else "labels"
    if n_near == n_changed:
        return f"{n_near} of {n_places} {what} near a tie"
    text = f"{n_changed - n_near} of {n_places} {what} changed"
    if spec.kind == "segmentation":
        before, after = (int(each[pair]) for each in (labelling.changed_from, labelling.changed_to))
        text += f", most from {name_label(before, spec)} to {name_label(after, spec)}"
    return f"{text}, {n_near} near a tie" if n_near else text


def name_label(index: int, spec: OutputSpec) -> str:
    """Return a class's name, or its number."""
    if spec.labels is not None and 0 <= index < len(spec.labels):
        return spec.labels[index]
    return f"class {index}"
