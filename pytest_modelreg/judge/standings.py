"""Where every sample stands: vectorised over the sample set, so that a large one costs little."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pytest_modelreg.domain.result import SampleMeasures
from pytest_modelreg.judge.output import OutputJudgement

FloatArray = npt.NDArray[np.float64]
MaskArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True, eq=False)
class SampleStandings:
    """Where every common sample stands; every array has axes (sample,), in this run's order.

    Parameters
    ----------
    ids : tuple of str
        Common samples.
    has_drifted : bool
        Failed a per-sample check, a decision that was not tolerated, or has another shape or dtype.
    rel_l2 : float64
        Largest over outputs, dimensionless; infinite for rows of another shape or dtype.
    by_output : mapping of str to float64
        The same of every output that holds a row a sample.
    near_tie, has_flipped : bool
        Decisions that changed: within the near-tie bound, and beyond it.
    has_other_labels : bool
        Has a pixel or a label that is another one, beyond near ties.
    has_other_boxes : bool
        Has a box that only one side found, or of another class.
    """

    ids: tuple[str, ...]
    has_drifted: MaskArray
    rel_l2: FloatArray
    by_output: Mapping[str, FloatArray]
    near_tie: MaskArray
    has_flipped: MaskArray
    has_other_labels: MaskArray
    has_other_boxes: MaskArray

    @property
    def has_changed(self) -> MaskArray:
        """Samples that drifted or decide otherwise."""
        decides: MaskArray = self.near_tie | self.has_flipped | self.has_other_labels | self.has_other_boxes
        return decides | self.has_drifted

    @property
    def drifted(self) -> tuple[str, ...]:
        """Ids of drifted samples, in this run's order."""
        return self._select(self.has_drifted)

    @property
    def near_ties(self) -> tuple[str, ...]:
        """Ids of samples with a near tie."""
        return self._select(self.near_tie)

    @property
    def tolerated_flips(self) -> tuple[str, ...]:
        """Ids of samples whose top class flipped within the limit of flips."""
        return self._select(self.has_flipped & ~self.has_drifted)

    @property
    def tolerated_labels(self) -> tuple[str, ...]:
        """Ids of samples that have other labels within the limit of agreement."""
        return self._select(self.has_other_labels & ~self.has_drifted)

    @property
    def tolerated_boxes(self) -> tuple[str, ...]:
        """Ids of samples that have other boxes within the limit of overlap."""
        return self._select(self.has_other_boxes & ~self.has_drifted)

    @property
    def measures(self) -> SampleMeasures:
        """The numbers of all samples, as builtin values."""
        return SampleMeasures(
            ids=self.ids,
            rel_l2={path: tuple(values.tolist()) for path, values in self.by_output.items()},
            failed=tuple(self.has_drifted.tolist()),
        )

    def _select(self, mask: MaskArray) -> tuple[str, ...]:
        return tuple(self.ids[at] for at in np.flatnonzero(mask).tolist())


def rank_samples(
    ids: tuple[str, ...], judgements: Sequence[OutputJudgement], *, unfit: Collection[str]
) -> SampleStandings:
    """Gather the standing of every sample over all outputs that hold a row a sample.

    Parameters
    ----------
    unfit : collection of str
        Output paths of which every row has another shape or dtype than the golden's.
    """
    n_samples = len(ids)
    standings = SampleStandings(
        ids=ids,
        has_drifted=np.zeros(n_samples, dtype=np.bool_),
        rel_l2=np.zeros(n_samples),
        by_output={
            **{judgement.paired.path: _spread(judgement, n_samples) for judgement in per_sample(judgements)},
            **{path: np.full(n_samples, np.inf) for path in unfit},
        },
        near_tie=np.zeros(n_samples, dtype=np.bool_),
        has_flipped=np.zeros(n_samples, dtype=np.bool_),
        has_other_labels=np.zeros(n_samples, dtype=np.bool_),
        has_other_boxes=np.zeros(n_samples, dtype=np.bool_),
    )
    for values in standings.by_output.values():
        np.maximum(standings.rel_l2, values, out=standings.rel_l2)
    standings.has_drifted[:] = bool(unfit)
    for judgement in per_sample(judgements):
        at = judgement.paired.positions
        standings.has_drifted[at] |= judgement.failed
        standings.has_drifted[list(judgement.paired.misshapen)] = True
        decisions = judgement.measured.decisions
        if decisions is not None:
            standings.near_tie[at] |= decisions.top1_near_tie | decisions.topk_near_tie
            standings.has_flipped[at] |= decisions.top1 == 0.0
        neighbours = judgement.measured.neighbours
        if neighbours is not None:
            standings.near_tie[at] |= neighbours.near_tie
        sequences = judgement.paired.sequences
        if sequences is not None:
            standings.near_tie[:] |= sequences.near_tie
        labelling = judgement.measured.labelling
        if labelling is not None:
            standings.near_tie[at] |= labelling.near_tie
            standings.has_other_labels[at] |= labelling.n_changed > labelling.n_near_ties
        boxes = judgement.measured.boxes
        if boxes is not None:
            standings.near_tie[at] |= boxes.near_tie
            standings.has_other_boxes[at] |= boxes.n_lost + boxes.n_new + boxes.n_relabelled > 0
    return standings


def per_sample(judgements: Sequence[OutputJudgement]) -> list[OutputJudgement]:
    """Return the judgements of outputs that hold a row a sample."""
    return [judgement for judgement in judgements if judgement.paired.actual.per == "sample"]


def _spread(judgement: OutputJudgement, n_samples: int) -> FloatArray:
    """Return ``rel_l2`` by sample instead of by pair; a row of another shape has no pair."""
    values = np.full(n_samples, np.inf)
    values[judgement.paired.positions] = judgement.measured.rows.rel_l2
    return values
