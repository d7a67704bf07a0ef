"""Exporting a model once more with another example: what of its graph is a constant of the first one.

What belongs here: the exports and runs of the trial, beside the model itself in eager mode, and what torch's
tracer warns of meanwhile.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_modelreg.domain.case import CaseSpec, RuntimeSpec
from pytest_modelreg.domain.errors import ExportError
from pytest_modelreg.domain.example_trial import ExampleTrial, GraphPlace
from pytest_modelreg.domain.trace import TraceRequest
from pytest_modelreg.observe.handed_inputs import HandedInputs
from pytest_modelreg.observe.input_source import PreparedSample
from pytest_modelreg.observe.seeding import SEED
from pytest_modelreg.observe.tracing.behaviour import Answer, read_answer, rel_l2
from pytest_modelreg.observe.tracing.exact_inputs import open_exact
from pytest_modelreg.observe.tracing.opened_case import OpenedCase, opened_case
from pytest_modelreg.runtimes.artefacts import Artefacts

_TRACER_WARNING = "TracerWarning"
_MOST_WARNINGS = 5


def observe_example_trial(
    spec: CaseSpec,
    folder: Path,
    request: TraceRequest,
    names: Sequence[str],
    *,
    artefacts: Artefacts,
    tries_size: bool = False,
) -> ExampleTrial | None:
    """Export a case's model with a sample as its example, and run both graphs and the model.

    Parameters
    ----------
    spec : CaseSpec
        A case whose runtime exports its model.
    folder : Path
        Where graphs may be kept; whoever made it removes it.
    request : TraceRequest
        With exact inputs.
    names : sequence of str
        Ids of samples among them; the first one is the example.
    artefacts : Artefacts
        With the graph that the case ran.
    tries_size : bool
        Whether the model is exported a third time, with an example of another size: one copy more,
        and of the last sample where that is of another size.

    Returns
    -------
    ExampleTrial or None
        None where the runtime keeps no graph that could be compared.

    Raises
    ------
    CaseError
        As :func:`~pytest_modelreg.observe.observe_case`.
    GoldenError, EnvironmentUnavailable
        As :func:`~.exact_inputs.open_exact`.
    """
    assert request.exact is not None
    folder = folder.absolute()
    kept = open_exact(Path(request.exact_folder), request.exact, only=names)
    with closing(HandedInputs(kept, to_tensors=True)) as source:
        samples = source.read(0, len(kept.samples))
    # An example of one is widened to two before it is exported.
    n_copies = max(2, min(spec.batch_size, len(spec.samples)))
    plain = replace(spec, runtime=RuntimeSpec(transform=spec.runtime.transform))
    with opened_case(plain, prepares_inputs=False) as case:
        expected = {sample.observed.id: _run_copies(case, sample, n_copies) for sample in samples}
    with opened_case(spec, prepares_inputs=False, artefacts=artefacts) as case:
        own = _measure(case, samples, n_copies, expected)
        files = getattr(case.subject.passes.runner, "files", ())
    if not files:
        return None
    with _exporting(spec, folder / "again") as case, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        again = _measure(case, samples, n_copies, expected)
        runner: Any = case.subject.passes.runner
        made = runner.files
        places = runner.find_differences(files[0], made[0])
    size_places: tuple[GraphPlace, ...] = ()
    if tries_size:
        # Another sample only where it is of another size itself: otherwise values would differ, too.
        other = samples[-1] if kept.samples[-1].form != kept.samples[0].form else samples[0]
        with _exporting(spec, folder / "larger") as case:
            _run_copies(case, other, n_copies + 1)
            larger: Any = case.subject.passes.runner
            size_places = larger.find_differences(made[0], larger.files[0])
    return ExampleTrial(
        example=names[0],
        own=own,
        again=again,
        places=places,
        size_places=size_places,
        warnings=_list_tracer_warnings(caught, spec),
    )


def _exporting(spec: CaseSpec, folder: Path) -> AbstractContextManager[OpenedCase]:
    """Open a case that finds no graph and makes its own, with its first call as the example."""
    return opened_case(spec, prepares_inputs=False, artefacts=Artefacts(folder))


def _run_copies(case: OpenedCase, sample: PreparedSample, n_copies: int) -> Answer:
    return read_answer(case.run([sample] * n_copies, SEED))


def _measure(
    case: OpenedCase, samples: Sequence[PreparedSample], n_copies: int, expected: Mapping[str, Answer]
) -> dict[str, float]:
    """Return how far each answer is from the expected one; without samples that the graph does not take."""
    found: dict[str, float] = {}
    for sample in samples:
        try:
            answer = _run_copies(case, sample, n_copies)
        except ExportError:  # another size along an axis that nobody declared: no matter of values
            continue
        found[sample.observed.id] = rel_l2(expected[sample.observed.id], answer)
    return found


def _list_tracer_warnings(caught: Sequence[warnings.WarningMessage], spec: CaseSpec) -> tuple[str, ...]:
    """Return what torch's tracer warned of: ``net.py:12: Converting a tensor to a Python float``."""
    found: dict[str, None] = {}
    for entry in caught:
        if entry.category.__name__ != _TRACER_WARNING:
            continue
        file = Path(entry.filename)
        roots = [Path(folder) for folder in (spec.root, *spec.python_path) if file.is_relative_to(folder)]
        place = file.relative_to(roots[0]).as_posix() if roots else file.name
        # ... "might cause the trace to be incorrect. We can't record the data flow of Python values, ..."
        sentence = " ".join(str(entry.message).split()).partition(" might ")[0]
        found[f"{place}:{entry.lineno}: {sentence}"] = None
    return tuple(found)[:_MOST_WARNINGS]
