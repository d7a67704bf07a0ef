"""``observation.json``: what one case produced, beside its arrays, for another process."""

from __future__ import annotations

from pathlib import Path

from pytest_modelreg.domain.errors import GoldenError, RunFolderError
from pytest_modelreg.domain.observation import Observation
from pytest_modelreg.store.array_file import file_in
from pytest_modelreg.store.codec import decode_observation, encode_observation
from pytest_modelreg.store.durable_file import replace_atomically
from pytest_modelreg.store.file_digest import file_digest
from pytest_modelreg.store.naming import shown

OBSERVATION_FILE = "observation.json"


def write_observation(folder: Path, observation: Observation) -> Path:
    """Write the facts of an observation beside its arrays, in one step.

    Returns
    -------
    pathlib.Path
        ``observation.json``.

    Raises
    ------
    RunFolderError
        When the folder cannot be written.
    """
    path = folder / OBSERVATION_FILE
    try:
        replace_atomically(path, encode_observation(observation))
    except OSError as error:
        raise RunFolderError(
            f"{shown(path)}: cannot be written: {error.strerror or error};"
            " free space or give write access, then run again"
        ) from error
    return path


def read_observation(folder: Path) -> Observation:
    """Read the facts of an observation.

    Raises
    ------
    GoldenError
        When the file is missing, damaged, or written by a newer release.
    """
    path = folder / OBSERVATION_FILE
    try:
        data = path.read_bytes()
    except OSError as error:
        raise GoldenError(
            f"{shown(path)}: expected the record of an observation: {error.strerror or error};"
            " run the case again"
        ) from error
    return decode_observation(data, path)


def verify_arrays(folder: Path, observation: Observation) -> None:
    """Hold every array file of a kept observation against its digest.

    Raises
    ------
    GoldenError
        Every missing or changed file, one a line.
    """
    faults = []
    for record in observation.outputs.values():
        for file in (record.values, *([] if record.counts is None else [record.counts])):
            path = file_in(folder, file.file, named_by=folder / OBSERVATION_FILE)
            try:
                digest = file_digest(path)
            except OSError as error:
                faults.append(f"{shown(path)}: expected what was observed: {error.strerror or error}")
                continue
            if digest != file.sha256:
                faults.append(
                    f"{shown(path)}: bytes changed: expected sha256 {file.sha256[:12]}, got {digest[:12]}"
                )
    if faults:
        raise GoldenError("\n".join(f"{fault}; run the case again" for fault in faults))
