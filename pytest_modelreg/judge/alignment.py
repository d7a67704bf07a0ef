"""The sample set first: which samples both sides have, and in which rows."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pytest_modelreg.compare import RowPairs
from pytest_modelreg.domain import listing
from pytest_modelreg.domain.observation import ObservedSample
from pytest_modelreg.domain.result import SampleSetDifference

N_SHOWN = 5


@dataclass(frozen=True, kw_only=True, eq=False)
class Alignment:
    """How two sample sets lie on each other.

    Parameters
    ----------
    difference : SampleSetDifference
        Ids that only one side has, or whose bytes changed.
    common : tuple of str
        Ids with equal digests on both sides, in this run's order.
    pairs : RowPairs
        Rows of the common samples.
    changed_inputs : tuple of str
        Common samples whose preprocessed tensors differ.
    knows_inputs : bool
        Whether both sides saw the inputs of every common sample: not for values that a
        Python test handed over.
    is_same_order : bool
        Whether both sides have the same samples in the same rows.
    """

    difference: SampleSetDifference
    common: tuple[str, ...]
    pairs: RowPairs
    changed_inputs: tuple[str, ...]
    knows_inputs: bool
    is_same_order: bool


def align_samples(
    expected: Sequence[ObservedSample],
    actual: Sequence[ObservedSample],
    *,
    only: Collection[str] | None = None,
) -> Alignment:
    """Lay this run's samples on the golden's, by id and digest of the file.

    Parameters
    ----------
    only : collection of str or None
        Samples that were asked for, where this run left others out on purpose: those are not missed.
    """
    ids = tuple(sample.id for sample in actual)
    digests = [sample.sha256 for sample in actual]
    # Nearly always nothing moved; then a set of 50,000 is told by comparing lists, not by looking up each.
    if ids == tuple(sample.id for sample in expected) and digests == [sample.sha256 for sample in expected]:
        return Alignment(
            difference=SampleSetDifference(),
            common=ids,
            pairs=RowPairs.same_order(len(ids)),
            changed_inputs=tuple(
                after.id
                for before, after in zip(expected, actual, strict=True)
                if before.input_digest != after.input_digest
            ),
            knows_inputs=_knows_inputs(zip(expected, actual, strict=True)),
            is_same_order=True,
        )
    matched = _match_samples(expected, actual)
    if only is None:
        return matched
    missed = tuple(name for name in matched.difference.removed if name in only)
    return replace(matched, difference=replace(matched.difference, removed=missed))


def _match_samples(expected: Sequence[ObservedSample], actual: Sequence[ObservedSample]) -> Alignment:
    """Look every sample up on the other side."""
    row_of = {sample.id: row for row, sample in enumerate(expected)}
    here = {sample.id for sample in actual}
    matched: list[tuple[int, int]] = []
    changed: list[str] = []
    for row, sample in enumerate(actual):
        before = row_of.get(sample.id)
        if before is None:
            continue
        if expected[before].sha256 == sample.sha256:
            matched.append((before, row))
        else:
            changed.append(sample.id)
    difference = SampleSetDifference(
        added=tuple(sample.id for sample in actual if sample.id not in row_of),
        removed=tuple(sample.id for sample in expected if sample.id not in here),
        changed=tuple(changed),
    )
    return Alignment(
        difference=difference,
        common=tuple(actual[row].id for _, row in matched),
        pairs=RowPairs(
            expected=np.array([before for before, _ in matched], dtype=np.int64),
            actual=np.array([row for _, row in matched], dtype=np.int64),
        ),
        changed_inputs=tuple(
            actual[row].id
            for before, row in matched
            if expected[before].input_digest != actual[row].input_digest
        ),
        knows_inputs=_knows_inputs((expected[before], actual[row]) for before, row in matched),
        is_same_order=not difference and all(before == row for before, row in matched),
    )


def _knows_inputs(pairs: Iterable[tuple[ObservedSample, ObservedSample]]) -> bool:
    return all(sample.input_digest is not None for pair in pairs for sample in pair)


def describe_difference(difference: SampleSetDifference) -> str:
    """Return one clause: ``1 added (zebra), 2 changed (cat, dog)``."""
    parts = (("added", difference.added), ("removed", difference.removed), ("changed", difference.changed))
    return ", ".join(f"{len(ids)} {word} ({name_some(ids)})" for word, ids in parts if ids)


def name_some(ids: Sequence[str]) -> str:
    """Return the first few names, and how many more there are."""
    return listing.name_some(ids, N_SHOWN)
