"""What is changed to measure noise: runs that must not matter, and those whose difference is declared.

What belongs here: which perturbations a case gets, as plans. To add one, give it a name and a plan in
:func:`list_perturbations`, or a line in its ``left_out`` that says why there is none.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum

from pytest_modelreg.domain.case import RuntimeSpec
from pytest_modelreg.domain.observation import Observation
from pytest_modelreg.engine.suite import CasePlan
from pytest_modelreg.engine.suite_file.axis_value import runs_a_model

AGAIN, FRESH, BATCH, TWIN = "again", "fresh process", "batch", "float64 twin"

ODD_BATCH = 7
"""A batch size that divides nothing: kernels take their paths for remainders."""

LARGEST_BATCH = 64
"""The whole set in one batch, up to this many samples: memory is the user's."""

BENIGN_AXES = frozenset({"runtime", "batch_size", "threads", "memory_format"})
"""Axes of a variant that change how the model is run and not what it computes."""

_THREADS = "torch.num_threads"


class Role(str, Enum):
    """What the distance of a perturbation says."""

    BENIGN = "benign"
    """Noise: nothing that it changes should move an answer."""
    TWIN = "twin"
    """Rounding: the distance to nearly exact arithmetic."""
    DECLARED = "declared"
    """A difference that the suite declares: another preprocessing, other weights, a coarser dtype."""


@dataclass(frozen=True, kw_only=True)
class Perturbation:
    """One run to be held against the reference's.

    Parameters
    ----------
    name : str
        How tables call it.
    plan : CasePlan
        What to run and how to judge it.
    is_variant : bool
        Whether it is a case of the suite.
    is_fresh : bool
        Whether it runs in a process of its own.
    """

    name: str
    plan: CasePlan
    role: Role
    is_variant: bool = False
    is_fresh: bool = False


@dataclass(frozen=True, kw_only=True)
class PerturbationList:
    """What is going to be measured.

    Parameters
    ----------
    left_out : tuple of str
        What is not, and why; a line each.
    """

    perturbations: tuple[Perturbation, ...]
    left_out: tuple[str, ...]


def list_perturbations(
    base: CasePlan, observed: Observation, variants: Sequence[CasePlan]
) -> PerturbationList:
    """Return the perturbations of a case that keeps a golden.

    Parameters
    ----------
    base : CasePlan
        The case.
    observed : Observation
        What it produced in this run.
    variants : sequence of CasePlan
        Cases that are judged against its golden.

    Notes
    -----
    Batch sizes: 1, 7 and the whole set up to 64. Threads: 1 and all cores, set as this process's share, so
    that preprocessing is done once; a number that the model's own code sets wins, as in any run. The
    float64 twin runs eagerly with parameters, buffers and inputs cast, preprocessing left as it is: its
    distance is the rounding error of the model's own dtype.
    """
    left_out: list[str] = []
    found = [
        _perturb(base, AGAIN, Role.BENIGN),
        *_list_fresh(base, left_out),
        *(
            _perturb(base, f"{BATCH} {size}", Role.BENIGN, batch_size=size)
            for size in _list_batch_sizes(base.template.batch_size, len(observed.samples))
        ),
        *_list_threads(base, observed, left_out),
        *_list_twin(base, observed, left_out),
    ]
    return PerturbationList(perturbations=(*found, *map(as_perturbation, variants)), left_out=tuple(left_out))


def list_certain(base: CasePlan, variants: Sequence[CasePlan]) -> list[Perturbation]:
    """Return what will run whatever the case turns out to be, the case itself first.

    Known before it runs, so that what it prepares is kept for them.
    """
    return [as_perturbation(base), _perturb(base, AGAIN, Role.BENIGN), *map(as_perturbation, variants)]


def as_perturbation(case: CasePlan) -> Perturbation:
    """Return a case of the suite as what is run and measured."""
    role = Role.BENIGN if case.keeps_golden or is_benign(case) else Role.DECLARED
    return Perturbation(name=case.variant, plan=case, role=role, is_variant=True)


def is_benign(variant: CasePlan) -> bool:
    """Whether a variant runs the reference's model on the reference's inputs, in another way."""
    runtime = variant.template.runtime
    return (
        not variant.keeps_golden
        and BENIGN_AXES.issuperset(variant.axes)
        and runs_a_model({**runtime.options, "kind": runtime.kind})  # one of its own may be another one
        and ("runtime" not in variant.axes or runtime.transform is None)
    )


def _perturb(base: CasePlan, name: str, role: Role, **changes: object) -> Perturbation:
    """Return a perturbation by its changes; of another id, because work is shared between ids."""
    template = replace(base.template, variant=f"{base.variant}, {name}", **changes)  # type: ignore[arg-type]
    return Perturbation(name=name, plan=replace(base, template=template), role=role)


def _list_fresh(base: CasePlan, left_out: list[str]) -> list[Perturbation]:
    if base.template.environment is not None:
        left_out.append(f"{FRESH}: every run in another environment is one")
        return []
    return [replace(_perturb(base, FRESH, Role.BENIGN), is_fresh=True)]


def _list_batch_sizes(own: int, n_samples: int) -> list[int]:
    """Return sizes that make other batches than the case's own, in ascending order."""
    sizes = {min(size, n_samples) for size in (1, ODD_BATCH, LARGEST_BATCH)}
    return sorted(sizes - {min(own, n_samples)} - {0})


def _list_threads(base: CasePlan, observed: Observation, left_out: list[str]) -> list[Perturbation]:
    own = observed.fingerprint.facts.get(_THREADS)
    if not isinstance(own, int):
        left_out.append("threads: the model does not use torch, whose threads could be set")
        return []
    n_cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    counts = sorted({1, n_cores} - {own})
    if not counts:
        left_out.append(f"threads: this machine has one core, and the case ran with {own}")
    # As this process's share, so that inputs prepared before are taken; another environment has its own.
    is_shared = base.template.threads is None and base.template.environment is None
    key = "default_threads" if is_shared else "threads"
    return [
        _perturb(base, f"{count} thread{'s' if count > 1 else ''}", Role.BENIGN, **{key: count})
        for count in counts
    ]


def _list_twin(base: CasePlan, observed: Observation, left_out: list[str]) -> list[Perturbation]:
    template = base.template
    if template.model is None:
        left_out.append(f"{TWIN}: runtime {template.runtime.kind} brings a model of its own to run")
        return []
    if template.runtime.kind == "callable":
        left_out.append(f"{TWIN}: runtime callable has no framework that would compute in float64")
        return []
    dtypes = {record.dtype for record in observed.outputs.values()}
    if template.dtype == "float64" or not any(dtype.startswith(("float", "bfloat")) for dtype in dtypes):
        left_out.append(f"{TWIN}: the outputs are {' and '.join(sorted(dtypes))}")
        return []
    return [
        _perturb(
            base,
            TWIN,
            Role.TWIN,
            dtype="float64",
            autocast=None,
            runtime=RuntimeSpec(kind="eager", transform=template.runtime.transform),
        )
    ]
