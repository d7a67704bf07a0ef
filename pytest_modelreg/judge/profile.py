"""Facts of outputs that every later judgement needs, taken when a golden is recorded."""

from __future__ import annotations

from pathlib import Path

from pytest_modelreg.compare import profile_rows
from pytest_modelreg.domain.golden import OutputProfile
from pytest_modelreg.domain.observation import Observation
from pytest_modelreg.store import open_output


def profile_observation(folder: Path, observation: Observation) -> dict[str, OutputProfile]:
    """Return the profiles of all outputs, by output path.

    Parameters
    ----------
    folder : pathlib.Path
        Where the observation's arrays are.
    """
    return {path: profile_rows(open_output(folder, record)) for path, record in observation.outputs.items()}
