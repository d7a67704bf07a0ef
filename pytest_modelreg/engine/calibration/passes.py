"""Running perturbations: one after the other, each in a folder that lasts until it is measured.

What belongs here: what they share, and what becomes of one that cannot run.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from pytest_modelreg.domain.case import TIME_LIMIT_S, CaseSpec
from pytest_modelreg.domain.environment import FactValue
from pytest_modelreg.domain.errors import ModelRegError
from pytest_modelreg.domain.observation import Observation
from pytest_modelreg.domain.sample import SampleSet
from pytest_modelreg.engine.calibration.perturbation import Perturbation
from pytest_modelreg.engine.observer import CaseProgress, Observer
from pytest_modelreg.observe import Elsewhere, observe_elsewhere

_FRESH = Elsewhere(description="a new process of this interpreter", time_limit_s=TIME_LIMIT_S)
"""Imports, hash seeds and memory as a new run has them."""


class Passes:
    """Runs cases and their perturbations on one sample set.

    Parameters
    ----------
    folder : pathlib.Path
        Where arrays go for a while.
    samples : SampleSet
        What is run.
    facts : mapping of str to scalar
        What the project adds to every fingerprint.
    """

    def __init__(
        self,
        folder: Path,
        samples: SampleSet,
        *,
        facts: Mapping[str, FactValue],
        progress: CaseProgress | None = None,
    ) -> None:
        self.samples = samples
        self._folder = folder
        self._facts = dict(facts)
        self._observer = Observer(
            folder / "shared", default_threads=None, project_facts=facts, progress=progress
        )
        self._n_runs = 0

    def expect(self, perturbations: Iterable[Perturbation]) -> None:
        """Be told what is to come, so that inputs are prepared once."""
        specs = (self._spec_of(each) for each in perturbations if not each.is_fresh)
        self._observer.expect(specs)

    def close(self) -> None:
        """Remove what was shared."""
        self._observer.close()

    def run(self, perturbation: Perturbation) -> tuple[Observation, Path]:
        """Observe one; :meth:`drop` its folder when it is measured.

        Raises
        ------
        CaseSkipped
            This machine lacks what it needs.
        ModelRegError
            It cannot run.
        """
        self._n_runs += 1
        folder = self._folder / f"run{self._n_runs}"
        folder.mkdir(parents=True)
        spec = self._spec_of(perturbation)
        try:
            if perturbation.is_fresh:
                return observe_elsewhere(spec, folder, _FRESH), folder
            return self._observer.observe(spec, folder, golden=None, known=None), folder
        except ModelRegError:
            self.drop(folder)
            raise

    def drop(self, folder: Path) -> None:
        """Remove the arrays of a run."""
        shutil.rmtree(folder, ignore_errors=True)

    def _spec_of(self, perturbation: Perturbation) -> CaseSpec:
        spec = perturbation.plan.spec(self.samples)
        return replace(spec, facts=self._facts)
