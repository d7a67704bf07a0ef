"""Which output holds the scores that tokens were chosen by."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from pytest_modelreg.domain.case import OutputSpec
from pytest_modelreg.domain.output_path import find_entry

KIND = "tokens"


def is_of_tokens(spec: OutputSpec | None) -> bool:
    """Return whether an output is compared as tokens."""
    return spec is not None and spec.kind == KIND and spec.per != "ignore"


def find_scores(tokens: str, name: str, paths: Collection[str]) -> str | None:
    """Return the path of scores that are named by their path beside the tokens; None where there is none."""
    parent = tokens.rpartition(".")[0]
    beside = f"{parent}.{name}" if parent else name
    return next((path for path in (beside, name) if path in paths), None)


def list_scores_faults(paths: Collection[str], outputs: Mapping[str, OutputSpec]) -> list[str]:
    """Return what is wrong with the scores that tokens name: there are none of that path."""
    faults = []
    for path in paths:
        spec = find_entry(path, outputs)
        if spec is None or not is_of_tokens(spec) or spec.logits is None:
            continue
        if find_scores(path, spec.logits, paths) in (None, path):
            known = ", ".join(other for other in paths if other != path) or "none"
            faults.append(
                f"outputs.{path}: logits: expected an output path beside it ({known}), got {spec.logits!r}"
            )
    return faults
