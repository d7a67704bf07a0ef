"""``observation.json``: what one case produced, beside its arrays, for another process."""

from __future__ import annotations

from pathlib import Path

from pytest_modelreg.domain.array_file import ArrayFile
from pytest_modelreg.domain.errors import GoldenError, RunFolderError
from pytest_modelreg.domain.observation import Observation
from pytest_modelreg.store.array_file import file_in
from pytest_modelreg.store.codec import decode_observation, encode_observation
from pytest_modelreg.store.durable_file import replace_atomically
from pytest_modelreg.store.file_digest import file_digest
from pytest_modelreg.store.naming import shown
from pytest_modelreg.store.sealed_record import RUN_AGAIN, advising

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
            f"{shown(path)}: expected the record of an observation: {error.strerror or error}; {RUN_AGAIN}"
        ) from error
    with advising(RUN_AGAIN):
        return decode_observation(data, path)


def observed_files(observation: Observation) -> list[ArrayFile]:
    """Return every array file that an observation names, in a stable order without repetitions."""
    files: dict[ArrayFile, None] = {}
    for record in observation.outputs.values():
        files[record.values] = None
        if record.counts is not None:
            files[record.counts] = None
    if observation.input_probes is not None:
        files[observation.input_probes.file] = None
    if observation.input_points is not None:
        files[observation.input_points.file] = None
    if observation.trace is not None:
        files.update(dict.fromkeys(observation.trace.files))
    return list(files)


def verify_arrays(folder: Path, observation: Observation) -> None:
    """Hold every array file of a kept observation against its digest.

    Raises
    ------
    GoldenError
        Every missing or changed file, one a line.
    """
    faults = []
    for file in observed_files(observation):
        with advising(RUN_AGAIN):
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
        raise GoldenError("\n".join(f"{fault}; {RUN_AGAIN}" for fault in faults))
