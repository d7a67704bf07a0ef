"""The points that a golden keeps of its inputs, beside what the same samples come to now.

What belongs here: which samples are prepared once more for that, and putting both sides together. What
they tell is ``diagnose``'s.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pytest_modelreg.diagnose.inputs import KnownPoints, PointPair
from pytest_modelreg.domain.case import CaseSpec
from pytest_modelreg.domain.golden import Golden
from pytest_modelreg.domain.trace import InputPoints, LeafForms, LeafPoints
from pytest_modelreg.engine.diagnosis.input_pairs import Arrays
from pytest_modelreg.engine.pipelines import is_fed_tensors
from pytest_modelreg.engine.sample_sets import confine
from pytest_modelreg.observe import list_points, prepare_inputs, read_kept_arrays
from pytest_modelreg.trace import N_STATISTICS, list_places, seed_points

MOST_SAMPLES = 12
"""Samples that differ and are prepared once more."""

_MOST_ALIKE = 8
"""Samples that do not differ and are prepared beside them: that they do not is evidence."""

_MOST_NUMBERS = 1 << 25
"""Elements of all inputs that are prepared, which are in memory together: a 4K image has 25 million."""


@dataclass(frozen=True, kw_only=True)
class PointsOf:
    """Where points of a golden's inputs are.

    Parameters
    ----------
    folder : Path
        The golden's.
    """

    golden: Golden
    folder: Path

    @property
    def kept(self) -> InputPoints | None:
        """What the golden keeps; None where it keeps none."""
        trace = self.golden.observation.trace
        return None if trace is None else trace.points

    @property
    def golden_ids(self) -> tuple[str, ...]:
        """Every sample of the golden."""
        return tuple(sample.id for sample in self.golden.observation.samples)


def pair_points(
    points_of: PointsOf,
    spec: CaseSpec,
    folder: Path,
    *,
    changed: Sequence[str],
    alike: Iterable[str] = (),
    digests: Mapping[str, str | None],
) -> tuple[PointPair, ...]:
    """Prepare samples once more, and return them beside the points that a golden keeps of them.

    Parameters
    ----------
    spec : CaseSpec
        The case, with its samples.
    folder : Path
        Where files may be written meanwhile.
    changed, alike : sequence, iterable of str
        Samples whose inputs differ, the most telling first, and samples whose inputs do not.
    digests : mapping of str to str or None
        Of the inputs as they were observed: a sample that comes out otherwise now is left out.

    Returns
    -------
    tuple of PointPair
        Empty where the golden keeps no points of any of them, or inputs are prepared in another environment.

    Raises
    ------
    ModelRegError
        When inputs cannot be prepared, or the golden's file is not as recorded.
    """
    kept = points_of.kept
    if kept is None or (spec.environment is not None and spec.environment.preprocess != "here"):
        return ()
    form_of = {name: kept.forms[index] for name, index in zip(kept.samples, kept.form_of, strict=True)}
    names = _choose(form_of, changed, alike)
    if not names:
        return ()
    alone = replace(spec, samples=confine(spec.samples, frozenset(names)))
    prepared = prepare_inputs(alone, folder, to_tensors=is_fed_tensors(points_of.golden.observation))
    try:
        as_before = {
            sample.observed.id
            for sample in prepared.samples
            if digests.get(sample.observed.id, sample.observed.input_digest) == sample.observed.input_digest
        }
        actual = {name: leaves for name, leaves in read_kept_arrays(prepared).items() if name in as_before}
    finally:
        prepared.remove()
    known = {
        name: dict(_read_leaves(name, form, numbers))
        for name, form, numbers in list_points(points_of.folder, kept)
        if name in actual
    }
    return tuple(pair for name in names for pair in _pair(name, known, actual, spec))


def _choose(form_of: Mapping[str, LeafForms], changed: Sequence[str], alike: Iterable[str]) -> list[str]:
    """Return which samples are prepared: at least one, and as many as memory allows."""
    wanted = [name for name in changed if name in form_of][:MOST_SAMPLES]
    if wanted:
        rest = [name for name in alike if name in form_of]
        wanted += rest[:: len(rest) // _MOST_ALIKE + 1]
    left, chosen = _MOST_NUMBERS, list[str]()
    for name in wanted:
        left -= sum(prod(leaf.shape) for leaf in form_of[name])
        if chosen and left < 0:
            break
        chosen.append(name)
    return chosen


def _read_leaves(
    name: str, form: LeafForms, numbers: NDArray[np.float64]
) -> Iterable[tuple[str, KnownPoints]]:
    start = 0
    for leaf in form:
        middle = start + leaf.n_channels * leaf.n_places
        end = middle + leaf.n_channels * N_STATISTICS
        yield (
            leaf.path,
            KnownPoints(
                shape=leaf.shape,
                dtype=_read_dtype(leaf),
                axis=leaf.axis,
                places=list_places(prod(leaf.shape) // leaf.n_channels, leaf.n_places, seed_points(name)),
                values=numbers[start:middle].reshape(leaf.n_channels, leaf.n_places),
                statistics=numbers[middle:end].reshape(leaf.n_channels, N_STATISTICS),
            ),
        )
        start = end


def _read_dtype(leaf: LeafPoints) -> np.dtype[np.generic]:
    try:
        return np.dtype(leaf.dtype)
    except TypeError:  # bfloat16 and float8 are read as float32
        return np.dtype(np.float32)


def _pair(
    name: str, known: Mapping[str, Mapping[str, KnownPoints]], actual: Arrays, spec: CaseSpec
) -> Iterable[PointPair]:
    samples = {sample.id: sample for sample in spec.samples.samples}
    for path, points in known.get(name, {}).items():
        if path in actual[name]:
            yield PointPair(
                sample=name,
                path=path,
                expected=points,
                actual=actual[name][path],
                file=Path(spec.samples.folder, samples[name].file),
                loader=spec.loader,
            )
