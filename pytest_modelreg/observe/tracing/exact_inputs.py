"""Inputs of a few samples, bit by bit: what a model is run on when nobody can make them again.

What belongs here: writing prepared samples into one file of a golden and opening it again.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from pytest_modelreg.domain.errors import EnvironmentUnavailable, PreprocessError
from pytest_modelreg.domain.observation import ObservedSample
from pytest_modelreg.domain.trace import ExactInputs, ExactSample
from pytest_modelreg.observe.handed_inputs import decode_form, encode_form
from pytest_modelreg.observe.input_source import InputFacts, PreparedSample
from pytest_modelreg.observe.inputs import is_word, iterate_leaves, name_arrays
from pytest_modelreg.observe.kept_inputs import InputRecorder, KeptInputs, KeptSample, ReplayedInputs
from pytest_modelreg.store.element_type import decode
from pytest_modelreg.store.trace_file import find_trace_bytes, write_trace_bytes

_TEMPORARY = "exact.bin"


def write_exact(folder: Path, samples: Sequence[PreparedSample], *, max_bytes: int) -> ExactInputs | None:
    """Write as many samples as fit; None where none does, or none can be kept.

    Parameters
    ----------
    samples : sequence of PreparedSample
        The most wanted first.
    max_bytes : int
        What all together may weigh.

    Raises
    ------
    RunFolderError
        When the file cannot be written.
    """
    data = bytearray()
    written: list[ExactSample] = []
    for sample in samples:
        kept = _keep(folder, sample)
        if kept is None:
            continue
        raw = kept.file.read_bytes()
        form = kept.samples[0].form
        kept.remove()
        if len(data) + len(raw) > max_bytes:
            continue
        try:
            encoded = encode_form(form, sample.observed.id)
        except PreprocessError:  # a class of the suite's own: what is no plain structure is not kept
            continue
        written.append(
            ExactSample(
                id=sample.observed.id,
                sha256=sample.observed.sha256,
                input_digest=sample.observed.input_digest,
                form=encoded,
                offset=len(data),
            )
        )
        data += raw
    if not written:
        return None
    file = write_trace_bytes(folder, "exact", bytes(data))
    return ExactInputs(file=file, n_bytes=len(data), samples=tuple(written))


def open_exact(folder: Path, exact: ExactInputs, *, only: Sequence[str] | None = None) -> KeptInputs:
    """Return exact inputs as kept ones; their file must not be removed.

    Parameters
    ----------
    only : sequence of str, optional
        Ids to take, in this order; None: all.

    Raises
    ------
    GoldenError
        The file is missing, or is not as recorded.
    EnvironmentUnavailable
        They are of a class of tensors that is not here.
    """
    path, begin = find_trace_bytes(folder, exact.file, exact.n_bytes)
    by_id = {sample.id: sample for sample in exact.samples}
    try:
        samples = [
            KeptSample(
                observed=ObservedSample(id=sample.id, sha256=sample.sha256, input_digest=sample.input_digest),
                form=decode_form(sample.form),
                offset=begin + sample.offset,
            )
            for sample in (by_id[name] for name in (exact.ids if only is None else only))
        ]
    except (ImportError, TypeError, AttributeError) as error:
        raise EnvironmentUnavailable(
            f"{path.name}: the golden's inputs are of a kind that this environment has not: {error}"
        ) from error
    return KeptInputs(file=path, samples=samples, facts=InputFacts())


def read_exact_arrays(folder: Path, exact: ExactInputs) -> dict[str, dict[str, NDArray[Any]]]:
    """Return exact inputs as arrays, by sample and by input path; words are left out.

    Raises
    ------
    GoldenError, EnvironmentUnavailable
        As :func:`open_exact`.
    """
    return read_kept_arrays(open_exact(folder, exact))


def read_kept_arrays(kept: KeptInputs) -> dict[str, dict[str, NDArray[Any]]]:
    """Return kept inputs as arrays, by sample and by input path; words are left out."""
    found: dict[str, dict[str, NDArray[Any]]] = {}
    with closing(ReplayedInputs(kept)) as source:
        for position, sample in enumerate(kept.samples):
            (prepared,) = source.read(position, position + 1)
            leaves = zip(iterate_leaves(prepared.value), name_arrays(prepared.value), strict=True)
            found[sample.observed.id] = {
                path: decode(array, dtype) for (_, leaf), (path, dtype, array) in leaves if not is_word(leaf)
            }
    return found


def _keep(folder: Path, sample: PreparedSample) -> KeptInputs | None:
    found: list[KeptInputs] = []
    recorder = InputRecorder(folder / _TEMPORARY, found.append)
    recorder.add(sample)
    recorder.finish(InputFacts())
    recorder.close()
    if not found:
        (folder / _TEMPORARY).unlink(missing_ok=True)
        return None
    return found[0]
