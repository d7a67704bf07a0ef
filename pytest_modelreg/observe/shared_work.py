"""What the cases of a session share: exported models, and inputs that were prepared before.

What belongs here: which case may have what another one made. The files themselves are
``runtimes.artefacts``' and ``kept_inputs``'.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_modelreg.domain.case import CaseSpec
from pytest_modelreg.domain.observation import ObservedSample
from pytest_modelreg.domain.sample import SampleSet
from pytest_modelreg.observe.input_source import InputFacts
from pytest_modelreg.observe.kept_inputs import InputRecorder, KeptInputs
from pytest_modelreg.observe.pipeline_memory import PipelineMemory
from pytest_modelreg.runtimes.artefacts import Artefacts


@dataclass(frozen=True, kw_only=True)
class _Entry:
    form: str
    inputs: KeptInputs


class SharedWork:
    """Work of one session that is done once.

    Parameters
    ----------
    folder : Path
        Made when something is kept; removed with everything in it by :meth:`close`.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder.absolute()
        self.artefacts = Artefacts(self._folder / "artefacts")
        self._pipelines = PipelineMemory()
        self._waiting: dict[str, set[str]] = {}
        self._entries: dict[str, _Entry] = {}
        self._set_digests: dict[int, tuple[SampleSet, str]] = {}
        self._stamps: dict[str, tuple[int, int] | None] = {}
        self._n_edits = 0
        self._n_files = 0

    def expect(self, specs: Iterable[CaseSpec]) -> None:
        """Be told of the cases to come: inputs are kept only when another one will need them."""
        for spec in specs:
            self._waiting.setdefault(self._key_of(spec), set()).add(spec.id)

    def note_sources(self, files: Iterable[str]) -> int:
        """Look at the source files of the suite's modules.

        Returns
        -------
        int
            How often one was edited since the session began: what was made before counts no more.
        """
        is_edited = False
        for file in files:
            stamp = _stamp(file)
            is_edited |= self._stamps.setdefault(file, stamp) != stamp
            self._stamps[file] = stamp
        if is_edited:
            self._n_edits += 1
            self._forget()
        return self._n_edits

    def find_inputs(self, spec: CaseSpec, *, form: str) -> KeptInputs | None:
        """Return what an earlier case prepared for this one; None when it has to do so itself.

        Parameters
        ----------
        form : str
            What else the inputs depend on: whether they become tensors, and of which default dtype.
        """
        entry = self._entries.get(self._key_of(spec))
        if entry is None or entry.form != form or not entry.inputs.file.exists():
            return None
        return entry.inputs

    def start_recording(self, spec: CaseSpec, *, form: str) -> InputRecorder | None:
        """Return a recorder when another case waits for the inputs of this one."""
        key = self._key_of(spec)
        if key in self._entries or not self._waiting.get(key, set()) - {spec.id}:
            return None

        def accept(inputs: KeptInputs) -> None:
            self._entries[key] = _Entry(form=form, inputs=inputs)

        self._n_files += 1
        return InputRecorder(self._folder / "inputs" / f"{self._n_files}.bin", accept)

    def compare_inputs(
        self, spec: CaseSpec, samples: Sequence[ObservedSample], facts: InputFacts, *, form: str
    ) -> InputFacts:
        """Return the facts of a case's inputs, with what earlier cases saw of the same preprocessing."""
        return self._pipelines.compare(f"{self._key_of(spec)} {form}", samples, facts)

    def finish_case(self, spec: CaseSpec) -> None:
        """Be told that a case is over; inputs that nobody waits for are removed."""
        key = self._key_of(spec)
        waiting = self._waiting.get(key, set())
        waiting.discard(spec.id)
        if not waiting and (entry := self._entries.pop(key, None)) is not None:
            entry.inputs.remove()

    def close(self) -> None:
        """Remove everything that was kept."""
        self._entries.clear()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _forget(self) -> None:
        for entry in self._entries.values():
            entry.inputs.remove()
        self._entries.clear()
        self._pipelines.forget()

    def _key_of(self, spec: CaseSpec) -> str:
        facts = [
            self._digest_set(spec.samples),
            spec.loader,
            spec.preprocess,
            spec.python_path,
            # A factory runs first, and may set what preprocessing reads. Its arguments as text: a YAML
            # mapping may have keys of several types, which JSON would make one.
            spec.model,
            repr(spec.model_args),
            spec.threads,
            spec.deterministic,
        ]
        return hashlib.sha256(json.dumps(facts).encode("utf-8", "surrogatepass")).hexdigest()

    def _digest_set(self, samples: SampleSet) -> str:
        # The cases of a suite hold one set, and a large one takes long to digest.
        known = self._set_digests.get(id(samples))
        if known is None:
            rows = [(sample.id, sample.file, sample.sha256) for sample in samples.samples]
            text = json.dumps([samples.folder, rows, repr(samples.rows)])
            known = (samples, hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest())
            self._set_digests[id(samples)] = known
        return known[1]


def describe_form(*, to_tensors: bool) -> str:
    """Return what inputs depend on beside the case's specification."""
    torch: Any = sys.modules.get("torch")
    return f"{to_tensors} {'' if torch is None else torch.get_default_dtype()}"


def _stamp(file: str) -> tuple[int, int] | None:
    try:
        status = os.stat(file)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size
