"""Probes of the inputs: what a golden keeps of them, so that a later change can be measured.

What belongs here: sketching each sample's inputs, and taking over what a golden already has of
equal ones, so that a run in which nothing changed sketches nothing. The sketch itself is
``trace``'s.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_modelreg.domain.golden import Golden
from pytest_modelreg.domain.observation import InputProbes
from pytest_modelreg.observe.input_source import InputFacts, InputSource, PreparedSample
from pytest_modelreg.observe.inputs import is_word, iterate_leaves, name_arrays
from pytest_modelreg.observe.tracing.input_points import PointGatherer
from pytest_modelreg.store import decode_numbers, read_trace, write_trace
from pytest_modelreg.trace import CountSketch, count_columns, is_known, make_row

MAX_BYTES = 4 << 20
"""Size of the table of one golden; many samples get narrower sketches."""

_MOST_BUCKETS = 256
_FEWEST_BUCKETS = 8
_WORD_DIGITS = 8
_UNKNOWN = ""


@dataclass(frozen=True, kw_only=True)
class KnownProbes:
    """What a golden has of inputs, by input digest: the row of its table, and the form."""

    rows: Mapping[str, tuple[NDArray[np.float64], str]] = field(default_factory=dict)


def read_known_probes(folder: Path, golden: Golden | None) -> KnownProbes:
    """Return the probes that a golden keeps; none where it has none.

    Raises
    ------
    GoldenError
        When its table is not as recorded.
    """
    probes = None if golden is None else golden.observation.input_probes
    if golden is None or probes is None:
        return KnownProbes()
    samples = golden.observation.samples
    table = read_trace(folder, probes.file, (len(samples), probes.n_columns))
    return KnownProbes(
        rows={
            sample.input_digest: (table[row], probes.form_of(row))
            for row, sample in enumerate(samples)
            if sample.input_digest is not None and is_known(table[row])
        }
    )


def count_buckets(n_samples: int) -> int:
    """Return how many buckets a sample gets; 0 where a table of all would be too large."""
    buckets = _MOST_BUCKETS
    while buckets >= _FEWEST_BUCKETS:
        if n_samples * count_columns(buckets) * 8 <= MAX_BYTES:
            return buckets
        buckets //= 2
    return 0


class ProbedInputs:
    """Sketches what another source gives; see :class:`~.input_source.InputSource`.

    Parameters
    ----------
    source : InputSource
        Gives the samples.
    known : KnownProbes
        What need not be sketched again.
    folder : Path
        Where the table is written when all samples were given.
    gathers_points : bool
        Whether points are read as well, which a golden may keep a part of.
    """

    def __init__(
        self,
        source: InputSource,
        *,
        n_samples: int,
        known: KnownProbes,
        folder: Path,
        gathers_points: bool = False,
    ) -> None:
        self._source = source
        self._known = known
        self._folder = folder
        self._n_buckets = count_buckets(n_samples)
        # What was never read stays unknown, which is what NaN says.
        self._table = np.full((n_samples if self._n_buckets else 0, count_columns(self._n_buckets)), np.nan)
        self._forms = [_UNKNOWN] * n_samples
        self._row_of: dict[str, int] = {}
        self._points = PointGatherer(n_samples) if gathers_points else None

    def read(self, start: int, stop: int) -> list[PreparedSample]:
        """Pass on samples, each sketched."""
        samples = self._source.read(start, stop)
        if self._points is not None:
            for sample in samples:
                self._points.add(sample)
        if self._n_buckets:
            for row, sample in enumerate(samples, start):
                self._row_of[sample.observed.id] = row
                self._table[row], self._forms[row] = self._probe(sample)
        return samples

    def note_overwritten(self, sample_ids: Sequence[str]) -> None:
        """Pass on, and forget what was sketched: it is not what the model was fed."""
        for row in (self._row_of[name] for name in sample_ids if name in self._row_of):
            self._table[row], self._forms[row] = np.nan, _UNKNOWN
        if self._points is not None:
            self._points.forget(sample_ids)
        self._source.note_overwritten(sample_ids)

    def conclude(self) -> InputFacts:
        """Return the facts of the source, with the probes and points."""
        facts = self._source.conclude()
        if self._points is not None:
            facts = replace(facts, points=self._points.write(self._folder))
        if not self._n_buckets or not self._forms:
            return facts
        distinct = tuple(dict.fromkeys(self._forms))
        probes = InputProbes(
            file=write_trace(self._folder, "inputs", self._table),
            n_columns=self._table.shape[1],
            forms=distinct if len(distinct) == 1 else tuple(self._forms),
        )
        return replace(facts, probes=probes)

    def close(self) -> None:
        """Close the source."""
        self._source.close()

    def _probe(self, sample: PreparedSample) -> tuple[NDArray[np.float64], str]:
        known = self._known.rows.get(sample.observed.input_digest or "")
        if known is not None and known[0].size == self._table.shape[1]:
            return known
        return probe_sample(sample.value, n_buckets=self._n_buckets)


def probe_sample(value: Any, *, n_buckets: int) -> tuple[NDArray[np.float64], str]:
    """Return the row and the form of one prepared sample.

    Parameters
    ----------
    value : Any
        As ``convert_sample`` returned it.

    Returns
    -------
    row : numpy.ndarray
        float64, axes (column,): as :class:`~pytest_modelreg.domain.observation.InputProbes` says.
    form : str
        ``float32 3 x 224 x 224``, after its path where there is one; words by length and digest, as no
        number says how far two of them are apart.
    """
    sketch = CountSketch(n_buckets)
    forms = []
    for (_, leaf), (path, dtype, array) in zip(iterate_leaves(value), name_arrays(value), strict=True):
        if is_word(leaf):
            digest = hashlib.sha256(array.tobytes()).hexdigest()[:_WORD_DIGITS]
            forms.append(f"{path} {dtype} of {array.size} bytes ({digest})".strip())
            continue
        sketch.add(decode_numbers(array, dtype))
        shape = " x ".join(map(str, array.shape)) or "scalar"
        forms.append(f"{path} {dtype} {shape}".strip())
    return make_row(sketch), ", ".join(forms)
