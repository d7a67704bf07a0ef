"""What the model does besides its weights: its mode, chance, its neighbours in the batch, its code.

What belongs here: causes ``model.mode``, ``nondeterminism`` (of the model), ``batch_dependence`` and
``model.code``, each one function from two traces to findings.
"""

from __future__ import annotations

from typing import Any

from pytest_modelreg.diagnose.divergence import NOISE
from pytest_modelreg.diagnose.port import Change, DriftCase, Replay
from pytest_modelreg.diagnose.project import drifts_with_inputs, list_changed_files
from pytest_modelreg.diagnose.wording import (
    N_LISTED,
    contrast,
    count,
    name_some,
    read_description,
    tell_apart,
)
from pytest_modelreg.domain.cause import Cause, CauseFinding
from pytest_modelreg.domain.observation import Observation
from pytest_modelreg.domain.project_code import MODEL_SIDE
from pytest_modelreg.domain.trace import Behaviour

_NOTHING = Behaviour()
_BESIDE_INPUTS = 0.4
"""An edit explains little where just those samples drift that the model is fed otherwise."""


def explain_mode(drift: DriftCase) -> list[CauseFinding]:
    """Return modules and functions that run as in training, where the golden's did not."""
    if drift.today is None:
        return []
    now, then = drift.today.trace, drift.then
    before = () if then is None else then.trace.modules
    trained = {module.name for module in before if module.is_training}
    modules = [module for module in now.modules if module.is_training and module.name not in trained]
    known_calls = _behaviour_then(drift).train_calls
    calls = [call for call in _behaviour_now(drift).train_calls if call not in known_calls]
    if not modules and not calls:
        return []
    # Parents say nothing that their parts do not; only what computes otherwise in train mode is named first.
    telling = [module for module in modules if module.settings.startswith(("BatchNorm", "Dropout", "Sync"))]
    named = [f"{module.name} ({module.settings.partition('(')[0]})" for module in telling or modules]
    moved = _behaviour_now(drift).mutated
    parts = []
    if modules:
        parts.append(
            f"{count(len(modules), 'module')} in train mode while the model runs: "
            f"{name_some(named, n_total=len(modules))}"
        )
    if calls:
        parts.append(f"functions called as in training: {name_some(calls)}")
    if moved:
        parts.append(f"forward passes change {name_some(moved)}")
    return [
        CauseFinding(
            cause=Cause.MODEL_MODE,
            confidence=0.97 if then is not None else 0.8,
            summary="; ".join(parts) + ("" if then is None else "; the golden's was in eval mode"),
            evidence={
                "modules": [module.name for module in modules[:N_LISTED]],
                "n_modules": len(modules),
                "functions": calls[:N_LISTED],
                "changed_by_forward": list(moved[:N_LISTED]),
            },
        )
    ]


def explain_chance(drift: DriftCase) -> list[CauseFinding]:
    """Return that answers depend on chance or on what ran before; doubted where the golden's did too."""
    now, then = _behaviour_now(drift), _behaviour_then(drift)
    rerun = now.rerun_rel_l2 > NOISE and now.rerun_rel_l2 > 10 * then.rerun_rel_l2
    draws = now.seed_rel_l2 > NOISE and now.seed_rel_l2 > 10 * then.seed_rel_l2
    mutated = [name for name in now.mutated if name not in then.mutated]
    if not (rerun or draws or mutated):
        return _explain_kept_state(now, then)
    where = f" ({name_some(now.draws)})" if now.draws else ""
    if rerun:
        summary = (
            f"the model answers otherwise when it is run again on the same inputs with the same seeds: "
            f"{tell_apart(now.rerun_rel_l2)}{where}"
        )
        if mutated:
            summary += f"; a forward pass changes {name_some(mutated)}"
    elif draws:
        summary = (
            f"the model draws random numbers{where}: with another seed its answers are "
            f"{tell_apart(now.seed_rel_l2)}"
        )
    else:
        summary = f"a forward pass changes {name_some(mutated)}, so that later samples meet another model"
    return [
        CauseFinding(
            cause=Cause.NONDETERMINISM,
            confidence=0.95 if rerun else 0.9 if draws else 0.6,
            summary=f"{summary}; the golden's did not",
            evidence={
                "of": "model",
                "rerun_rel_l2": now.rerun_rel_l2,
                "seed_rel_l2": now.seed_rel_l2,
                "draws": list(now.draws[:N_LISTED]),
                "changed_by_forward": list(mutated[:N_LISTED]),
            },
        )
    ]


def _explain_kept_state(now: Behaviour, then: Behaviour) -> list[CauseFinding]:
    """Return that a run depends on those before it on both sides, so that another order is another answer."""
    if min(now.rerun_rel_l2, then.rerun_rel_l2) <= NOISE:
        return []
    changes = f"; a forward pass changes {name_some(now.mutated)}" if now.mutated else ""
    return [
        CauseFinding(
            cause=Cause.NONDETERMINISM,
            confidence=0.5,
            summary="the model answers otherwise when it is run again on the same inputs with the same "
            f"seeds: {tell_apart(now.rerun_rel_l2)}, and so did the golden's "
            f"({tell_apart(then.rerun_rel_l2)}){changes}: what ran before a sample has a part in its answer",
            evidence={
                "of": "model",
                "rerun_rel_l2": now.rerun_rel_l2,
                "golden_rerun_rel_l2": then.rerun_rel_l2,
                "changed_by_forward": list(now.mutated[:N_LISTED]),
            },
        )
    ]


def explain_batch(drift: DriftCase, replay: Replay) -> list[CauseFinding]:
    """Return that the answer to a sample depends on the others of its batch."""
    now, then = _behaviour_now(drift), _behaviour_then(drift)
    if now.alone_rel_l2 is None or now.alone_rel_l2 <= NOISE or now.seed_rel_l2 > NOISE:
        return []
    recorded_at, runs_at = drift.golden.observation.batch_size, drift.observation.batch_size
    is_new = drift.then is not None and then.alone_rel_l2 is not None and then.alone_rel_l2 <= NOISE
    evidence: dict[str, Any] = {
        "alone_rel_l2": now.alone_rel_l2,
        "golden_alone_rel_l2": then.alone_rel_l2,
        "expected_batch_size": recorded_at,
        "actual_batch_size": runs_at,
    }
    summary = (
        f"the answer to a sample depends on its batch: alone and among others it is "
        f"{tell_apart(now.alone_rel_l2)}"
    )
    confidence = 0.9 if is_new else 0.4
    if is_new:
        summary += "; the golden's did not"
    elif recorded_at != runs_at:
        answer = replay.ask(
            Change(label=f"batch size {recorded_at}", is_fed_golden=False, batch_size=recorded_at)
        )
        evidence["replay"] = answer.as_evidence(f"batch size {recorded_at}")
        confidence = 0.97 if answer.agrees else 0.6
        summary += f"; recorded at batch size {recorded_at}, run at {runs_at}"
        if answer.agrees:
            summary += f", and run at {recorded_at} it agrees"
    return [
        CauseFinding(cause=Cause.BATCH_DEPENDENCE, confidence=confidence, summary=summary, evidence=evidence)
    ]


def explain_code(drift: DriftCase) -> list[CauseFinding]:
    """Return what changed in the model's modules and in the project's files."""
    then, now = drift.then, drift.today
    if then is None or now is None:
        return []
    before = {module.name: module.settings for module in then.trace.modules}
    after = {module.name: module.settings for module in now.trace.modules}
    is_one_torch = _torch_of(drift.golden.observation) == _torch_of(drift.observation)
    changed = {
        name: (before[name], after[name])
        for name in before
        if name in after and is_changed(before[name], after[name], is_one_torch=is_one_torch)
    }
    removed = [name for name in before if name not in after] if after else []
    added = [name for name in after if name not in before] if before else []
    files = list_changed_files(drift, MODEL_SIDE)
    if not (changed or removed or added or files):
        return []
    parts = []
    if changed:
        name, pair = next(iter(changed.items()))
        parts.append(name_some([f"{name}: {contrast(*pair)}"], n_total=len(changed)))
    if removed:
        parts.append(f"gone: {name_some(removed)}")
    if added:
        parts.append(f"new: {name_some(added)}")
    if files:
        parts.append(f"edited since: {name_some(files)}")
    return [
        CauseFinding(
            cause=Cause.MODEL_CODE,
            confidence=0.9
            if changed or removed or added
            else 0.75 * (_BESIDE_INPUTS if drifts_with_inputs(drift) else 1.0),
            summary=f"the model's code changed: {'; '.join(parts)}",
            evidence={
                "modules": {name: list(pair) for name, pair in list(changed.items())[:N_LISTED]},
                "removed": removed[:N_LISTED],
                "added": added[:N_LISTED],
                "files": files[:N_LISTED],
            },
        )
    ]


def is_changed(expected: str, actual: str, *, is_one_torch: bool) -> bool:
    """Whether two descriptions ``Kind(setting, name=value)`` are of different modules.

    Parameters
    ----------
    is_one_torch : bool
        Whether one release of torch wrote both: another one may name settings that the first did not,
        and then only what both name can differ.
    """
    if is_one_torch or expected == actual:
        return expected != actual
    (kind, before), (other, after) = read_description(expected), read_description(actual)
    if kind != other:
        return True
    by_place = {name for name in {**before, **after} if name.isdigit()}
    compared = by_place | (before.keys() & after.keys())
    return any(before.get(name) != after.get(name) for name in compared)


def _torch_of(observation: Observation) -> object:
    return observation.fingerprint.facts.get("torch.version")


def _behaviour_now(drift: DriftCase) -> Behaviour:
    return (drift.today.trace.behaviour if drift.today is not None else None) or _NOTHING


def _behaviour_then(drift: DriftCase) -> Behaviour:
    return (drift.then.trace.behaviour if drift.then is not None else None) or _NOTHING
