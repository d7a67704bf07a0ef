"""``job.json`` and ``result.json``: what one process asks another to observe, and what came of it.

What belongs here: the two files. A job is a case's specification, value for value; the answer to
it is an observation, which is ``observation_store``'s, a trace, which is ``trace_record``'s, or the
error that stood in its way. To let a job carry one more kind of value, add its class to
:data:`_CLASSES`.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_modelreg.domain import errors
from pytest_modelreg.domain.array_file import ArrayFile
from pytest_modelreg.domain.case import CaseSpec, CheckpointRef, EnvironmentSpec, OutputSpec, RuntimeSpec
from pytest_modelreg.domain.errors import CaseError, EnvironmentUnavailable, ModelRegError
from pytest_modelreg.domain.sample import RowFile, Sample, SampleSet
from pytest_modelreg.domain.trace import ExactInputs, ExactSample, TraceRequest
from pytest_modelreg.store.durable_file import replace_atomically
from pytest_modelreg.store.naming import shown

JOB_FORMAT = 1
JOB_FILE = "job.json"
RESULT_FILE = "result.json"

_CLASSES: dict[str, type[Any]] = {
    kind.__name__: kind
    for kind in (
        *(CaseSpec, CheckpointRef, EnvironmentSpec, OutputSpec, RowFile, RuntimeSpec, Sample, SampleSet),
        *(TraceRequest, ExactInputs, ExactSample, ArrayFile),
    )
}


@dataclass(frozen=True, kw_only=True)
class Job:
    """What a worker is asked for.

    Parameters
    ----------
    spec : CaseSpec
        What to observe.
    folder : str
        Absolute path of the folder for arrays, observation and result.
    inputs : str or None
        Absolute path of inputs that were prepared elsewhere; None: the worker prepares them.
    probes : bool
        Whether inputs are probed.
    checkout : str or None
        Absolute path of a folder whose Python code must not be met.
    trace : TraceRequest or None
        What is asked of a trace, which is then gathered instead of an observation.
    is_of_graph : bool
        Whether that trace is of the exported model, not of the model itself.
    """

    spec: CaseSpec
    folder: str
    inputs: str | None = None
    probes: bool = False
    checkout: str | None = None
    trace: TraceRequest | None = None
    is_of_graph: bool = False


def write_job(path: Path, job: Job) -> None:
    """Write a job.

    Raises
    ------
    EnvironmentUnavailable
        When it cannot be written, or holds a value that no file can carry.
    """
    fields = {field.name: _encode(getattr(job, field.name), field.name) for field in dataclasses.fields(job)}
    data = json.dumps({"modelreg_job": JOB_FORMAT, **fields}).encode("utf-8")
    try:
        replace_atomically(path, data)
    except OSError as error:
        raise EnvironmentUnavailable(
            f"{shown(path)}: cannot be written: {error.strerror or error}"
        ) from error


def read_job(path: Path) -> Job:
    """Read a job.

    Raises
    ------
    EnvironmentUnavailable
        When it is not one of this release.
    """
    try:
        fields = json.loads(path.read_bytes())
        version = fields.pop("modelreg_job")
        if version != JOB_FORMAT:
            raise EnvironmentUnavailable(
                f"{shown(path)}: expected a job of format {JOB_FORMAT}, got {version}"
            )
        return Job(**{key: _decode(value) for key, value in fields.items()})
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise EnvironmentUnavailable(f"{shown(path)}: expected a job, got {error!r}") from error


def write_result(path: Path, error: ModelRegError | None, text: str = "") -> None:
    """Write what came of a job: nothing but an observation, or an error with its text."""
    kind = None if error is None else type(error).__name__
    replace_atomically(path, json.dumps({"error": kind, "text": text}).encode("utf-8", "backslashreplace"))


def read_result(path: Path) -> ModelRegError | None:
    """Return the error that a worker met, of its own class; None where it met none.

    Raises
    ------
    EnvironmentUnavailable
        When the file is not there, or cannot be read: the worker ended before it could write it.
    """
    try:
        fields = json.loads(path.read_bytes())
        kind, text = fields["error"], str(fields["text"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise EnvironmentUnavailable(f"{shown(path)}: expected the worker's answer: {error}") from error
    if kind is None:
        return None
    found = getattr(errors, str(kind), None)
    if not (isinstance(found, type) and issubclass(found, CaseError)):
        return ModelRegError(text)
    return found(text)


def _encode(value: Any, place: str) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": repr(value)}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, tuple):
        return {"tuple": [_encode(item, f"{place}.{index}") for index, item in enumerate(value)]}
    if isinstance(value, list):
        return [_encode(item, f"{place}.{index}") for index, item in enumerate(value)]
    if isinstance(value, Mapping):
        # As pairs: YAML keys may be numbers, which JSON would make text.
        return {
            "map": [[_encode(key, place), _encode(item, f"{place}.{key}")] for key, item in value.items()]
        }
    if type(value).__name__ in _CLASSES and dataclasses.is_dataclass(value):
        fields = {
            field.name: _encode(getattr(value, field.name), f"{place}.{field.name}")
            for field in dataclasses.fields(value)
        }
        return {"class": type(value).__name__, "fields": fields}
    raise EnvironmentUnavailable(
        f"{place}: expected numbers, text, lists and mappings, which another process can be handed, "
        f"got {type(value).__name__}"
    )


def _decode(value: Any) -> Any:
    if isinstance(value, list):
        return [_decode(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "float" in value:
        return float(value["float"])
    if "tuple" in value:
        return tuple(_decode(item) for item in value["tuple"])
    if "map" in value:
        return {_decode(key): _decode(item) for key, item in value["map"]}
    fields = {key: _decode(item) for key, item in value["fields"].items()}
    return _CLASSES[value["class"]](**fields)
