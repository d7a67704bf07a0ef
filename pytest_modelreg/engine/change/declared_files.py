"""Reasons in files that a suite names: the suite file, samples, weights, labels, artefacts, goldens.

What belongs here: one function a sort of file. A path that is an argument of the model's factory is
read like the paths of the suite file, and also relative to the project, from which tests run.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Any

from pytest_modelreg.domain.errors import SampleSetError, SuiteFileError
from pytest_modelreg.engine.change.changed_files import Change, ChangedFiles, Reason, shorten
from pytest_modelreg.engine.change.suite_code import list_texts
from pytest_modelreg.engine.outcome import case_folder
from pytest_modelreg.engine.suite import Suite
from pytest_modelreg.engine.suite_file.document import read_document
from pytest_modelreg.engine.suite_file.fault import FaultLog
from pytest_modelreg.store import pin_path
from pytest_modelreg.store.sample_files import list_files
from pytest_modelreg.store.sample_table import SAMPLES_FILE, parse_table

_MAX_SAMPLES = 3


def explain_declared_files(suite: Suite, changed: ChangedFiles) -> Iterator[str]:
    """Yield which files changed that a suite names."""
    for explain in _EXPLANATIONS:
        yield from dict.fromkeys(explain(suite, changed))


def _explain_suite_file(suite: Suite, changed: ChangedFiles) -> Iterator[str]:
    change = changed.find(str(suite.file))
    if change is not None:
        yield f"suite file {change.what}"


def _explain_samples(suite: Suite, changed: ChangedFiles) -> Iterator[str]:
    if suite.samples.rows is not None:
        for path in (suite.samples.place, pin_path(suite.samples.place)):
            change = changed.find(str(path))
            if change is not None:
                yield _say("samples", change, changed)
        return
    folder = suite.samples.folder
    below = changed.find_below(folder)
    if not below:
        return
    real = changed.resolve(folder)
    known = _list_sample_files(Path(folder))
    samples: list[Reason] = []
    for change in below:
        inside = os.path.relpath(change.path, real).replace(os.sep, "/")
        if not change.path.startswith(os.path.join(real, "")):
            yield f"samples folder {changed.show(change.path)} {change.what}"
        elif inside == SAMPLES_FILE:
            yield f"{SAMPLES_FILE} {change.what}"
        elif known is None or inside in known:
            samples.append(partial(_describe_sample, inside, change.what))
    yield from shorten(samples, "more samples changed", limit=_MAX_SAMPLES)


def _describe_sample(file: str, what: str) -> str:
    return f"sample {file if file.isprintable() else ascii(file)} {what}"


def _list_sample_files(folder: Path) -> frozenset[str] | None:
    """Return the files that are pinned or would be, relative to the folder; None where it cannot be read."""
    try:
        return frozenset((*parse_table(folder).files, *list_files(folder).files))
    except (SampleSetError, OSError):  # the precheck itself says what is wrong with it
        return None


def _explain_checkpoints(suite: Suite, changed: ChangedFiles) -> Iterator[str]:
    for case in suite.cases:
        checkpoint = case.template.checkpoint
        change = None if checkpoint is None else changed.find(checkpoint.path)
        if change is not None:
            yield _say("checkpoint", change, changed)


def _explain_written_files(suite: Suite, changed: ChangedFiles) -> Iterator[str]:
    """Yield files that the suite file names and no case does any more: labels, and weights by a pattern."""
    if all(change.path.endswith(".py") for change in changed):
        return
    try:
        data = read_document(suite.file, FaultLog(str(suite.file))).data
    except SuiteFileError:  # gone or broken since it was loaded
        return
    for text in _list_paths(list(_find_values(data, "labels"))):
        change = changed.find(os.path.join(suite.root, text))
        if change is not None:
            yield _say("labels", change, changed)
    patterns = [text for text in list_texts(list(_find_values(data, "checkpoint"))) if set(text) & set("*?[")]
    if not patterns:
        return
    # A file that is gone makes no variant any more; those that are there are cases.
    root = changed.resolve(str(suite.root))
    for change in (change for change in changed if change.what == "deleted"):
        inside = os.path.relpath(change.path, root).replace(os.sep, "/")
        if any(_may_match(inside, pattern) for pattern in patterns):
            yield _say("checkpoint", change, changed)


def _may_match(path: str, pattern: str) -> bool:
    """Whether a pattern of files may have matched: ``*`` stands for folders too, so rather more than did."""
    return fnmatchcase(path, os.path.normpath(pattern).replace(os.sep, "/").replace("**/", "*"))


def _explain_runtime_files(suite: Suite, changed: ChangedFiles) -> Iterator[str]:
    for case in suite.cases:
        runtime = case.template.runtime
        for text in _list_paths(runtime.options):
            # Weights of a large ONNX file lie beside it: model.onnx.data.
            for change in changed.find_beside(os.path.join(suite.root, text)):
                yield _say(runtime.kind, change, changed)


def _explain_model_arguments(suite: Suite, changed: ChangedFiles) -> Iterator[str]:
    for case in suite.cases:
        for text in _list_paths(case.template.model_args):
            for base in (str(suite.root), changed.root):
                path = os.path.join(base, text)
                around = os.path.join(changed.resolve(str(suite.root)), "")
                is_folder = os.path.isdir(path) and not around.startswith(
                    os.path.join(changed.resolve(path), "")
                )
                found = changed.find_below(path) if is_folder else [changed.find(path)]
                for change in found:
                    if change is not None:
                        yield _say("model argument", change, changed)


def _explain_goldens(suite: Suite, changed: ChangedFiles) -> Iterator[str]:
    for case in suite.cases:
        if case.keeps_golden and changed.find_below(str(case_folder(suite, case))):
            yield f"golden of {case.variant} changed"


_EXPLANATIONS: tuple[Callable[[Suite, ChangedFiles], Iterator[str]], ...] = (
    _explain_suite_file,
    _explain_samples,
    _explain_checkpoints,
    _explain_written_files,
    _explain_runtime_files,
    _explain_model_arguments,
    _explain_goldens,
)


def _say(what: str, change: Change, changed: ChangedFiles) -> str:
    return f"{what} {changed.show(change.path)} {change.what}"


def _list_paths(value: Any) -> Iterator[str]:
    return (text for text in list_texts(value) if text.strip() and "\0" not in text and "\n" not in text)


def _find_values(data: Any, key: str) -> Iterator[Any]:
    if isinstance(data, dict):
        for name, value in data.items():
            if name == key:
                yield value
            else:
                yield from _find_values(value, key)
    elif isinstance(data, list):
        for value in data:
            yield from _find_values(value, key)
