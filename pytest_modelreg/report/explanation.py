"""Why a case drifted, with everything that was found out: from the record that a run keeps of it.

What belongs here: a case's record in words, whole. The three lines on a terminal are ``text``'s.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pytest_modelreg.report.table import printable, render_table

_WIDTH = 100
_DEPTH = 6


def render_explanation(record: Mapping[str, Any]) -> str:
    """Return the causes of one case with their evidence, the environment and the samples.

    Parameters
    ----------
    record : mapping
        One of the report's ``cases``.
    """
    lines = [f"{record.get('id')}: {record.get('verdict')}: {record.get('message')}"]
    causes = _list(record.get("causes"))
    for number, cause in enumerate(causes, start=1):
        lines += ["", *_render_cause(number, cause)]
    if not causes:
        lines += ["", "  no causes are on record: only a drift has any, and none was explained with"]
        lines += ["  --modelreg-diagnose off"]
    changes = [change for change in _list(record.get("environment_changes")) if isinstance(change, Mapping)]
    if changes:
        rows = [[_word(change.get(key)) for key in ("key", "expected", "actual")] for change in changes]
        lines += ["", "  environment:", *render_table(["fact", "expected", "actual"], rows, indent=4)]
    samples = [sample for sample in _list(record.get("samples")) if isinstance(sample, Mapping)]
    if samples:
        keys = ("id", "rel_l2", "expected", "actual")
        rows = [[_word(sample.get(key)) for key in keys] for sample in samples]
        lines += ["", "  samples, worst first:", *render_table(list(keys), rows, indent=4)]
    lines += [f"  {note}" for note in _list(record.get("notes"))]
    return "\n".join(printable(line) for line in lines)


def _render_cause(number: int, cause: Any) -> Iterator[str]:
    if not isinstance(cause, Mapping):
        return
    confidence = cause.get("confidence")
    share = f" ({100 * confidence:.0f} %)" if isinstance(confidence, (int, float)) else ""
    yield f"  {number}. {cause.get('cause')}{share}"
    yield f"     {cause.get('summary')}"
    evidence = cause.get("evidence")
    if isinstance(evidence, Mapping) and evidence:
        yield "     evidence:"
        yield from render_values(evidence, indent=7)


def render_values(values: Mapping[str, Any], *, indent: int = 0, depth: int = 0) -> Iterator[str]:
    """Yield evidence as lines, a key each; what does not fit one line is indented below it."""
    for key, value in values.items():
        if value is None and f"{key}_reason" in values:
            value = values[f"{key}_reason"]
        if key.endswith("_reason") and values.get(key.removesuffix("_reason"), "") is None:
            continue
        lead = f"{' ' * indent}{key}:"
        flat = _flatten(value)
        if flat is not None and len(lead) + len(flat) < _WIDTH:
            yield f"{lead} {flat}"
        elif isinstance(value, Mapping) and depth < _DEPTH:
            yield lead
            yield from render_values(value, indent=indent + 2, depth=depth + 1)
        elif isinstance(value, list) and depth < _DEPTH:
            yield lead
            for item in value:
                if isinstance(item, Mapping):
                    inner = list(render_values(item, indent=indent + 4, depth=depth + 1))
                    yield from [f"{' ' * (indent + 2)}-{line[indent + 3 :]}" for line in inner[:1]]
                    yield from inner[1:]
                else:
                    yield f"{' ' * (indent + 2)}- {_word(item)}"
        else:
            yield f"{lead} {_word(value)}"


def _flatten(value: Any) -> str | None:
    """Return a value on one line; None where it has parts that need lines of their own."""
    if isinstance(value, Mapping):
        return None
    if isinstance(value, list):
        if any(isinstance(item, (Mapping, list)) for item in value):
            return None
        return ", ".join(map(_word, value)) or "none"
    return _word(value)


def _word(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _list(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else []
