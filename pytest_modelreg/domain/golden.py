"""An accepted observation: the facts, who accepted them and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pytest_modelreg.domain.array_file import ArrayFile
from pytest_modelreg.domain.observation import Observation


@dataclass(frozen=True, kw_only=True)
class Acceptance:
    """Provenance of a golden.

    Parameters
    ----------
    date : str
        ISO 8601, UTC, to the second.
    reason : str
        The user's words; ``first recording`` where nothing was replaced and none given.
    git_commit : str or None
        HEAD of the repository that holds the suite; None outside git.
    git_dirty : bool or None
        Whether tracked files differed from it.
    ci : str or None
        The CI variable that would have refused the recording but was overridden.
    supersedes : str or None
        sha256 of the ``golden.json`` that this one replaced.
    """

    date: str
    reason: str
    git_commit: str | None = None
    git_dirty: bool | None = None
    ci: str | None = None
    supersedes: str | None = None


@dataclass(frozen=True, kw_only=True)
class OutputProfile:
    """Facts of a golden output that every later judgement needs, computed once.

    Parameters
    ----------
    rms_row_norm : float
        R of the gate: root mean square of the rows' Euclidean norms, over finite
        elements, float64, in the output's own unit.
    n_nan, n_inf : int
        Counts of non-finite elements.
    """

    rms_row_norm: float
    n_nan: int
    n_inf: int


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """Provenance of a noise floor: when, where and from what it was measured.

    Parameters
    ----------
    date : str
        ISO 8601, UTC, to the second.
    perturbations : tuple of str
        What was measured, in order: ``again``, ``batch 1``, ``float64 twin``.
    n_samples : int
        Samples that were measured.
    environment : str
        Digest of the fingerprint of that run.
    ci : str or None
        The CI variable that would have refused to keep it but was overridden.
    """

    date: str
    perturbations: tuple[str, ...]
    n_samples: int
    environment: str
    ci: str | None = None


@dataclass(frozen=True, kw_only=True)
class Golden:
    """An accepted observation.

    Parameters
    ----------
    profiles : mapping of str to OutputProfile
        By output path.
    noise_floor : mapping of str to float
        Calibrated relative error of benign reruns by output path, dimensionless;
        empty until calibrated.
    calibration : Calibration or None
        Where the noise floor comes from; None until calibrated.
    variant_inputs : mapping of str to str
        Variant -> one sha256 over the input digests of all samples, as that variant's own
        preprocess made them when this golden was recorded; only of variants that are judged against
        this golden.
    summary : ArrayFile or None
        The table for people beside it; known once the golden is on disk.
    """

    observation: Observation
    accepted: Acceptance
    profiles: Mapping[str, OutputProfile]
    noise_floor: Mapping[str, float] = field(default_factory=dict)
    calibration: Calibration | None = None
    variant_inputs: Mapping[str, str] = field(default_factory=dict)
    summary: ArrayFile | None = None
