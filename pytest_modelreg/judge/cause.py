"""The cause that judging itself can name: the sample set. All others take a diagnosis."""

from __future__ import annotations

from pytest_modelreg.domain.cause import Cause, CauseFinding
from pytest_modelreg.judge.alignment import Alignment
from pytest_modelreg.judge.message import count_of


def find_sample_cause(
    alignment: Alignment, *, has_compared: bool, has_drifted: bool
) -> tuple[CauseFinding, ...]:
    """Return cause ``samples.content`` where the sample set differs from the golden's.

    It explains why a golden is stale. It does not explain a drift among samples whose files
    are as they were, hence the low confidence there.

    Parameters
    ----------
    has_compared : bool
        Whether a value of a common sample was compared.
    has_drifted : bool
        Whether the common samples drifted.
    """
    difference = alignment.difference
    if not difference:
        return ()
    return (
        CauseFinding(
            cause=Cause.SAMPLES_CONTENT,
            confidence=0.2 if has_drifted else 1.0,
            summary=_summarise(len(alignment.common), has_compared=has_compared, has_drifted=has_drifted),
            evidence={
                "added": list(difference.added),
                "removed": list(difference.removed),
                "changed": list(difference.changed),
            },
        ),
    )


def _summarise(n_common: int, *, has_compared: bool, has_drifted: bool) -> str:
    """Return what the message does not say already: which samples differ is in there."""
    common = f"the {count_of(n_common, 'common sample')}" if n_common > 1 else "the only common sample"
    if has_drifted:
        return (
            f"the pinned samples changed, which does not explain the drift: it is in {common}, "
            f"{'whose files are' if n_common > 1 else 'whose file is'} unchanged"
        )
    if not has_compared:
        return "the pinned samples changed; whether the model did, no common sample can tell"
    return f"the pinned samples changed, not the model: {common} {'agree' if n_common > 1 else 'agrees'}"
