"""One case opened for looking at: the golden that it was held against, and what it observed.

What belongs here: making sure that both are what the run compared, and finding a sample's rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from pytest_modelreg.domain.case import OutputSpec
from pytest_modelreg.domain.errors import ModelRegError
from pytest_modelreg.domain.golden import Golden
from pytest_modelreg.domain.observation import Observation
from pytest_modelreg.domain.output_path import find_entry
from pytest_modelreg.engine.kept_case import KeptCase
from pytest_modelreg.engine.planned_case import PlannedCases
from pytest_modelreg.engine.review import find_kept_subject
from pytest_modelreg.store import (
    StoredOutput,
    golden_sha256,
    open_output,
    read_golden,
    read_observation,
    verify_arrays,
    verify_files,
)

Row = NDArray[Any]


@dataclass(frozen=True, kw_only=True)
class BothSides:
    """Golden and observation of one case.

    Parameters
    ----------
    outputs : mapping of str to OutputSpec
        What the numbers mean, by output path or pattern.
    """

    golden: Golden
    golden_folder: Path
    observation: Observation
    folder: Path
    outputs: Mapping[str, OutputSpec]
    _opened: dict[str, tuple[StoredOutput, StoredOutput]] = field(default_factory=dict, repr=False)

    @cached_property
    def rows(self) -> dict[str, tuple[int, int]]:
        """Row of every sample that both sides have, of the golden and of the observation."""
        actual = {sample.id: row for row, sample in enumerate(self.observation.samples)}
        return {
            sample.id: (row, actual[sample.id])
            for row, sample in enumerate(self.golden.observation.samples)
            if sample.id in actual
        }

    @property
    def paths(self) -> list[str]:
        """Paths of outputs that both sides hold a row a sample of."""
        then, now = self.golden.observation.outputs, self.observation.outputs
        return [
            path for path, record in then.items() if path in now and record.per == now[path].per == "sample"
        ]

    def spec_of(self, path: str) -> OutputSpec:
        """Return what the numbers at a path mean."""
        return find_entry(path, self.outputs) or OutputSpec()

    def open(self, path: str) -> tuple[StoredOutput, StoredOutput]:
        """Open an output of both sides.

        Raises
        ------
        GoldenError
            When a file is not as recorded.
        """
        if path not in self._opened:
            self._opened[path] = (
                open_output(self.golden_folder, self.golden.observation.outputs[path]),
                open_output(self.folder, self.observation.outputs[path]),
            )
        return self._opened[path]

    def read(self, path: str, sample: str) -> tuple[Row, Row] | None:
        """Return one sample's rows of an output; None where either side has none of it."""
        if sample not in self.rows:
            return None
        then, now = self.open(path)
        before, after = self.rows[sample]
        if before >= then.n_rows or after >= now.n_rows:
            return None
        return then.row(before), now.row(after)


def open_both_sides(case: KeptCase, planned: PlannedCases, root: Path, verified: set[str]) -> BothSides:
    """Open a case of a run.

    Parameters
    ----------
    verified : set of str
        Digests of goldens whose files were held against theirs already: cases share them. Added to here.

    Raises
    ------
    ModelRegError
        When either side is not what the run compared: one line that says why.
    """
    observation = read_observation(case.folder)
    verify_arrays(case.folder, observation)
    subject, _ = find_kept_subject(case, observation, planned, root)
    folder = subject.place.found
    golden = read_golden(folder, golden_root=subject.place.golden_root)
    if golden is None:
        raise ModelRegError("there is no golden to show them beside")
    digest = golden_sha256(folder)
    if case.golden_sha256 and case.golden_sha256 != digest:
        raise ModelRegError("the golden was replaced after this run")
    if digest is not None and digest not in verified:
        verify_files(folder, golden)
        verified.add(digest)
    return BothSides(
        golden=golden,
        golden_folder=folder,
        observation=observation,
        folder=case.folder,
        outputs=subject.outputs,
    )
