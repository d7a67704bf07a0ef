"""Whether the weights are the golden's, tensor by tensor; and whether they were loaded at all.

What belongs here: causes ``weights.changed`` and ``weights.not_loaded``.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median

from pytest_modelreg.diagnose.port import DriftCase, TraceAt
from pytest_modelreg.diagnose.wording import N_LISTED, are, count, name_some, number
from pytest_modelreg.domain.cause import Cause, CauseFinding
from pytest_modelreg.domain.key_prefix import describe_prefix
from pytest_modelreg.domain.trace import TensorFacts, WeightFacts
from pytest_modelreg.store import read_trace
from pytest_modelreg.trace import estimate_rel_l2, is_known

_ROUNDINGS = {"float16": (1e-4, 5e-4), "bfloat16": (9e-4, 4e-3)}
"""Relative change of a tensor whose values were rounded to so many bits: 2^-p/sqrt(3), give or take."""

_N_UNIFORM = 5
_TOO_SMALL = 1e-3  # of the drift: a change of weights this small explains none


@dataclass(frozen=True, kw_only=True)
class WeightChange:
    """How two state dicts differ.

    Parameters
    ----------
    changed : mapping of str to float
        Entries with other values: name -> estimated relative change, infinite where they were zero.
    reshaped : tuple of str
        Entries of another shape or dtype.
    missing, unexpected : tuple of str
        Entries that only the golden's model, or only this one has.
    renamed : tuple of (str, str)
        Of these, entries whose values are the same under another name.
    """

    changed: dict[str, float]
    reshaped: tuple[str, ...]
    missing: tuple[str, ...]
    unexpected: tuple[str, ...]
    renamed: tuple[tuple[str, str], ...]
    n_tensors: int
    n_buffers_changed: int


def explain_weights(drift: DriftCase) -> list[CauseFinding]:
    """Return what the weights have to do with a drift; empty where they are the golden's."""
    then, now = drift.then, drift.today
    if then is None or now is None or then.trace.weights is None or now.trace.weights is None:
        return _explain_by_digest(drift)
    change = compare_weights(then, now)
    unloaded = _find_unloaded(then, now)
    if unloaded:
        return unloaded
    if not (change.changed or change.reshaped or change.missing or change.unexpected):
        return []
    return [_blame_change(drift, change)]


def compare_weights(then: TraceAt, now: TraceAt) -> WeightChange:
    """Hold two state dicts against each other by what was kept of them."""
    first, second = then.trace.weights, now.trace.weights
    assert first is not None
    assert second is not None
    rows_then = read_trace(then.folder, first.file, (len(first.tensors), first.n_columns))
    rows_now = read_trace(now.folder, second.file, (len(second.tensors), second.n_columns))
    places = {tensor.name: row for row, tensor in enumerate(second.tensors)}
    changed: dict[str, float] = {}
    reshaped: list[str] = []
    n_buffers = 0
    for row, tensor in enumerate(first.tensors):
        place = places.get(tensor.name)
        if place is None or second.tensors[place].digest == tensor.digest:
            continue
        other = second.tensors[place]
        n_buffers += tensor.is_buffer
        if (other.shape, other.dtype) != (tensor.shape, tensor.dtype):
            reshaped.append(tensor.name)
            continue
        error: float | None = None
        if first.n_columns == second.n_columns and is_known(rows_then[row]) and is_known(rows_now[place]):
            error = estimate_rel_l2(rows_then[row], rows_now[place])
        changed[tensor.name] = 0.0 if error is None else error
    missing = _list_absent(first, second)
    unexpected = _list_absent(second, first)
    return WeightChange(
        changed=changed,
        reshaped=tuple(reshaped),
        missing=tuple(tensor.name for tensor in missing),
        unexpected=tuple(tensor.name for tensor in unexpected),
        renamed=_pair_renamed(missing, unexpected),
        n_tensors=len(first.tensors),
        n_buffers_changed=n_buffers,
    )


def _list_absent(first: WeightFacts, second: WeightFacts) -> list[TensorFacts]:
    names = {tensor.name for tensor in second.tensors}
    return [tensor for tensor in first.tensors if tensor.name not in names]


def _pair_renamed(missing: list[TensorFacts], unexpected: list[TensorFacts]) -> tuple[tuple[str, str], ...]:
    by_digest = {tensor.digest: tensor.name for tensor in unexpected}
    return tuple((tensor.name, by_digest[tensor.digest]) for tensor in missing if tensor.digest in by_digest)


def _find_unloaded(then: TraceAt, now: TraceAt) -> list[CauseFinding]:
    before, after = then.trace.behaviour, now.trace.behaviour
    weights = now.trace.weights
    if before is None or after is None or weights is None:
        return []
    unloaded = _list_unloaded(then, now)
    if unloaded:
        prefix = describe_prefix(after.strays, unloaded)
        evidence = {"tensors": unloaded[:N_LISTED], "n_tensors": len(unloaded)}
        if after.strays:
            evidence["keys_that_fit_nothing"] = list(after.strays[:N_LISTED])
        return [
            CauseFinding(
                cause=Cause.WEIGHTS_NOT_LOADED,
                confidence=0.97,
                summary=f"{are(len(unloaded), of=count(len(weights.tensors), 'tensor'))} not loaded but as "
                f"the model's factory makes them ({name_some(unloaded)}); the golden's were loaded"
                f"{f'; {prefix}' if prefix else ''}",
                evidence=evidence,
            )
        ]
    untouched = [name for name in after.untouched if name not in before.untouched]
    if not untouched:
        return []
    return [
        CauseFinding(
            cause=Cause.WEIGHTS_NOT_LOADED,
            confidence=0.95,
            summary=f"{count(len(untouched), 'running statistic')} are as in a new module, mean 0 and "
            f"variance 1 ({name_some(untouched)}): the buffers did not come with the weights, "
            "or were saved before any training",
            evidence={"tensors": untouched[:N_LISTED], "n_tensors": len(untouched)},
        )
    ]


def _list_unloaded(then: TraceAt, now: TraceAt) -> list[str]:
    """Return the tensors that are as the factory makes them, where the golden's were not.

    Where the golden does not say which of its own were, only those count that are not the golden's.
    """
    before, after = then.trace.behaviour, now.trace.behaviour
    first, second = then.trace.weights, now.trace.weights
    if before is None or after is None or second is None:
        return []
    initial_then = {*before.unloaded, *(before.initial or ())}
    # Of a golden that does not say, and a factory that was not seen to load anything now, it may be that
    # weights came from a seed of its own on both sides.
    is_telling = before.initial is not None or after.n_loads > 0
    initial_now = {*after.unloaded, *((after.initial or ()) if is_telling else ())} - initial_then
    known = {} if first is None else {tensor.name: tensor.digest for tensor in first.tensors}
    others = {tensor.name for tensor in second.tensors if known.get(tensor.name) != tensor.digest}
    buffers = {tensor.name for tensor in second.tensors if tensor.is_buffer}
    if initial_now <= buffers and not initial_now & {*(after.initial or ())}:
        return []  # a pass in train mode on random numbers moved what had been loaded
    if not initial_now & others:
        return []
    told = initial_now if before.initial is not None else initial_now & others
    return sorted(told)


def _blame_change(drift: DriftCase, change: WeightChange) -> CauseFinding:
    by_size = sorted(change.changed, key=lambda name: -change.changed[name])
    renamed = dict(change.renamed)
    lost = [name for name in change.missing if name not in renamed]
    new = [name for name in change.unexpected if name not in renamed.values()]
    parts = []
    finite = [size for size in change.changed.values() if size < float("inf")]
    if by_size:
        size = f", by a rel_l2 of about {number(max(finite))} at most" if finite else ""
        parts.append(
            f"{len(by_size)} of {count(change.n_tensors, 'tensor')} changed{size} ({name_some(by_size)})"
        )
    if change.reshaped:
        parts.append(f"{are(len(change.reshaped))} of another shape or dtype ({name_some(change.reshaped)})")
    if lost:
        parts.append(f"{are(len(lost))} gone ({name_some(lost)})")
    if new:
        parts.append(f"{are(len(new))} new ({name_some(new)})")
    if renamed:
        first, second = change.renamed[0]
        parts.append(
            f"{are(len(renamed))} renamed ({name_some([f'{first} is {second} now'], n_total=len(renamed))})"
        )
    hint = describe_pattern(change)
    drift_size = max((value for value in drift.worst_rel_l2.values()), default=0.0)
    largest = max(change.changed.values(), default=0.0)
    explains = bool(lost or new or change.reshaped) or largest > _TOO_SMALL * min(drift_size, 1.0)
    only_names = not (change.changed or change.reshaped or lost or new)
    return CauseFinding(
        cause=Cause.WEIGHTS_CHANGED,
        confidence=0.1 if only_names else 0.95 if explains else 0.3,
        summary=f"the weights are not the golden's: {'; '.join(parts)}{hint}",
        evidence={
            "changed": {name: change.changed[name] for name in by_size[:N_LISTED]},
            "n_changed": len(by_size),
            "reshaped": list(change.reshaped[:N_LISTED]),
            "n_tensors": change.n_tensors,
            "missing": lost[:N_LISTED],
            "unexpected": new[:N_LISTED],
            "renamed": [list(pair) for pair in change.renamed[:N_LISTED]],
        },
    )


def find_rounding(change: WeightChange) -> str | None:
    """Return the dtype to which weights look rounded; None where the change looks like something else."""
    sizes = [size for size in change.changed.values() if 0.0 < size < float("inf")]
    if len(sizes) < _N_UNIFORM:
        return None
    middle = median(sizes)
    for dtype, (low, high) in _ROUNDINGS.items():
        if low <= middle <= high and max(sizes) < 10 * middle:
            return dtype
    return None


def describe_pattern(change: WeightChange) -> str:
    """Return what a change of many tensors looks like; empty where it looks like nothing known."""
    n_changed = len(change.changed) + len(change.reshaped)
    if n_changed and change.n_buffers_changed == n_changed and not change.missing:
        return "; only buffers did: a forward pass in train mode moves running statistics"
    dtype = find_rounding(change)
    return "" if dtype is None else f"; about as much as rounding to {dtype} does"


def _explain_by_digest(drift: DriftCase) -> list[CauseFinding]:
    """Return that the weights differ, where nothing was kept that says how."""
    then, now = drift.golden.observation.weights_digest, drift.observation.weights_digest
    if then is None or now is None or then == now:
        return []
    return [
        CauseFinding(
            cause=Cause.WEIGHTS_CHANGED,
            confidence=0.6,
            summary="the weights are not the golden's; it keeps no trace that would say which",
            evidence={"expected": then, "actual": now},
        )
    ]
