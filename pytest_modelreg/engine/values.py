"""Values that a Python test hands over: the case they are, without a suite file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from pytest_modelreg.domain.case import OutputSpec, case_id
from pytest_modelreg.domain.check import CheckPlan, Limit, OutputChecks
from pytest_modelreg.domain.errors import Fault, SuiteFileError
from pytest_modelreg.domain.observation import Observation
from pytest_modelreg.domain.sample import Sample, SampleSet
from pytest_modelreg.engine.outcome import Place
from pytest_modelreg.engine.suite_file.declaration import read_declaration
from pytest_modelreg.observe import read_values
from pytest_modelreg.store import safe_component

BARE_OUTPUT = "output"
"""The output path of values without a key."""

PYTHON_NUMBER_LIMIT = 1e-5
"""Of ``rel_l2``: a float of Python is a float64 that mostly was a float32 (``loss.item()``)."""

PYTHON_NUMBER_SOURCE = "python number default"

_LISTED = 5

VALUES_SUITE = "py"
"""The suite that the cases of all Python tests belong to; no suite file may have its name."""


@dataclass(frozen=True, kw_only=True)
class ValuesCase:
    """One check of a Python test.

    Parameters
    ----------
    variant : str
        Test and check: ``tests/test_embed.py::TestSmall::test_embed[a]::embed``.
    outputs, checks
        What the values mean and what is asked of them.
    values : Any
        What the test handed over.
    sample_ids : sequence of str or numbers, or None
        One a sample, as in :func:`~pytest_modelreg.observe.observe_values`.
    command, recording_command : str
        What would accept a difference, and what records a golden that is missing.
    """

    variant: str
    place: Place
    values: Any
    outputs: Mapping[str, OutputSpec] = field(default_factory=dict)
    checks: CheckPlan = field(default_factory=CheckPlan)
    sample_ids: Sequence[Any] | None = None
    command: str = ""
    recording_command: str = ""

    @property
    def id(self) -> str:
        """The case id, ``py[<test>::<check>]``."""
        return case_id(VALUES_SUITE, self.variant)


@dataclass(frozen=True, kw_only=True)
class Declaration:
    """What a test says of the values of one check, as it was given.

    Parameters
    ----------
    kind, labels, top_k
        Of a single output.
    outputs : mapping of str to mapping, or None
        The same by output path.
    checks : mapping of str, or None
        Limits of all outputs.
    """

    kind: Any = None
    labels: Any = None
    top_k: Any = None
    outputs: Any = None
    checks: Any = None

    @property
    def is_single(self) -> bool:
        """Whether it describes the one output that there is, whatever its path."""
        return any(given is not None for given in (self.kind, self.labels, self.top_k))

    def read(self, *, where: str, root: Path) -> tuple[dict[str, OutputSpec], CheckPlan]:
        """Return what is declared, refused in the words of a suite file where it is faulty.

        Parameters
        ----------
        where : str
            The check, for messages.
        root : Path
            What label files are relative to.

        Raises
        ------
        SuiteFileError
            With every fault.
        """
        single = {"kind": self.kind, "labels": self.labels, "top_k": self.top_k}
        single = {key: _builtin(value) for key, value in single.items() if value is not None}
        faults = [
            Fault(where=where, key=key, message=f"expected a mapping of {what}, got {_kind(given)}")
            for key, given, what in (
                ("outputs", self.outputs, "output path to what it means"),
                ("checks", self.checks, "check to limit"),
            )
            if given is not None and not isinstance(given, Mapping)
        ]
        if single and self.outputs:
            got = f"expected {', '.join(single)} for a single output, got outputs too: give them in outputs"
            faults.append(Fault(where=where, message=got))
        if faults:
            raise SuiteFileError(faults)
        outputs = {BARE_OUTPUT: single} if single else _builtin(self.outputs or {})
        return read_declaration(outputs, _builtin(self.checks or {}), where=where, root=root)


def plan_values(case: ValuesCase, declaration: Declaration, *, root: Path) -> ValuesCase:
    """Return the case with what its test declares of the values.

    Raises
    ------
    SuiteFileError
        When the declaration is faulty, or describes a single output where there are others.
    OutputError
        When the values cannot be walked or have no samples.
    """
    outputs, checks = declaration.read(where=case.variant, root=root)
    tree = read_values(case.values, outputs=outputs, sample_ids=case.sample_ids)
    if declaration.is_single and tree.paths != (BARE_OUTPUT,):
        outputs = {_find_single(tree.paths, where=case.variant): outputs[BARE_OUTPUT]}
    return replace(case, outputs=outputs, checks=widen_for_python_numbers(checks, tree.python_numbers))


def _find_single(paths: Sequence[str], *, where: str) -> str:
    if len(paths) == 1:
        return paths[0]
    shown = ", ".join(paths[:_LISTED]) + (", ..." if len(paths) > _LISTED else "")
    message = (
        f"kind, labels and top_k describe a single output, got {shown or 'none'}: "
        f'give them in outputs={{"{paths[0] if paths else BARE_OUTPUT}": {{...}}}}'
    )
    raise SuiteFileError([Fault(where=where, message=message)])


def widen_for_python_numbers(checks: CheckPlan, paths: Iterable[str]) -> CheckPlan:
    """Return the plan with a limit for bare floats of Python, where the test wrote none."""
    by_output = dict(checks.by_output)
    limit = Limit(name="rel_l2", value=PYTHON_NUMBER_LIMIT, source=PYTHON_NUMBER_SOURCE)
    for path in paths:
        asked = checks.of(path)
        if "rel_l2" not in asked.off and all(written.name != "rel_l2" for written in asked.limits):
            by_output[path] = OutputChecks(limits=(*asked.limits, limit), off=asked.off)
    return replace(checks, by_output=by_output)


def values_golden(golden_root: Path, parts: Sequence[str]) -> Path:
    """Return the golden folder of a check: ``golden/py/<module>/<class>/<test[param]>/<name>``.

    Parameters
    ----------
    parts : sequence of str
        Module (dotted), classes, test with its parameters, check name.
    """
    return golden_root.joinpath(VALUES_SUITE, *map(safe_component, parts))


def samples_of(observation: Observation) -> SampleSet:
    """Return the sample set of values: ids only, without files, labels or tags."""
    return SampleSet(
        folder="",
        samples=tuple(Sample(id=sample.id, file="", sha256=sample.sha256) for sample in observation.samples),
    )


def _builtin(value: Any) -> Any:
    """Return mappings, sequences and scalars as a file would hold them, numpy's included."""
    if isinstance(value, Mapping):
        return {key: _builtin(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_builtin(entry) for entry in value]
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, np.floating):
        return float(str(value))  # by its digits: float32's 1e-5 is 1e-05 to its user
    return value.tolist() if isinstance(value, (np.generic, np.ndarray)) else value


def _kind(value: Any) -> str:
    return f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")
