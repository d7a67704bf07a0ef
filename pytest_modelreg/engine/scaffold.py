"""A first suite file, written for a model, its preprocessing and its samples.

What belongs here: the text of the file and the guesses in it. The text is checked as a
suite before it is written, so that what ``init`` leaves behind always loads.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path

from pytest_modelreg.domain.errors import SuiteFileError, UsageFault
from pytest_modelreg.engine.discovery import SUITE_FILE
from pytest_modelreg.engine.suite_file.scalar import resolve_scalar
from pytest_modelreg.engine.suite_file.support import MAX_NAME_CHARS, RESERVED_NAMES
from pytest_modelreg.engine.suite_loading import parse_suite
from pytest_modelreg.observe import LOADERS
from pytest_modelreg.store import OPENERS, is_row_file
from pytest_modelreg.store.sample_files import list_files

LOADER_SUFFIXES: Mapping[str, frozenset[str]] = {
    "image": frozenset({".jpg", ".jpeg", ".png", ".bmp", ".gif", ".webp", ".tif", ".tiff", ".ppm", ".pgm"}),
    "array": frozenset({".npy", ".npz"}),
    "text": frozenset({".txt"}),
    "json": frozenset({".json"}),
}
"""File names' ends by the loader that reads such files."""

_PLAIN_TEXT = re.compile(r"[A-Za-z_][\w./:-]*[\w/]", re.ASCII)

_FLAGS: Mapping[str, str] = {
    "suite": "--name",
    "samples.folder": "--samples",
    "samples.loader": "--loader",
    "samples.file": "--samples",
    "samples.id": "--id",
    "reference.model": "--model",
    "reference.preprocess": "--preprocess",
    "reference.checkpoint": "--checkpoint",
}

_TEMPLATE = """\
# What this model answers on its pinned samples, compared by `pytest --modelreg`.
# All keys: `modelreg schema` prints a JSON Schema that editors complete and check this file with.
modelreg: 1
suite: {name}
samples:
{samples}

reference:
  model: {model}
{checkpoint}  preprocess: {preprocess}
  batch_size: 8

# What the numbers mean, by output path. A bare tensor takes the only name here.
# Class scores get readable samples, and their decisions are compared too:
# outputs:
#   logits: {{kind: classification, labels: labels.txt, top_k: 5}}

# Limits; without them those of the outputs' dtypes apply (float32: rel_l2 at most 1e-5).
# checks: {{rel_l2: 1e-5}}
"""


def write_suite(
    folder: Path,
    *,
    model: str,
    preprocess: str,
    samples: Path,
    checkpoint: Path | None,
    name: str | None = None,
    loader: str | None = None,
    id_column: str | None = None,
) -> Path:
    """Write ``modelreg.yaml`` and return its path.

    Parameters
    ----------
    folder : Path
        Where the file is written.
    model, preprocess : str
        ``module:attr`` references; not imported.
    samples, checkpoint : Path
        As on a command line: relative to the working directory, or absolute.
    name : str or None
        The suite's name; None makes one of the folder's.
    loader : str or None
        None guesses it from the samples' file names.
    id_column : str or None
        Of a file with rows.

    Raises
    ------
    UsageFault
        When the file exists already, or an argument does not fit; it names the flags.
    """
    path = folder / SUITE_FILE
    shown = None if checkpoint is None else _quote(_relative(checkpoint, folder))
    text = _TEMPLATE.format(
        name=_quote(name if name is not None else _name_after(folder)),
        samples=_describe_samples(samples, folder, loader, id_column),
        model=_quote(model),
        checkpoint="" if shown is None else f"  checkpoint: {shown}\n",
        preprocess=_quote(preprocess),
    )
    try:
        parse_suite(text, path, rootdir=folder)
    except SuiteFileError as error:
        lines = [f"{_FLAGS.get(fault.key, fault.key)}: {fault.message}" for fault in error.faults]
        raise UsageFault("\n".join(lines)) from error
    try:
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except FileExistsError as error:
        raise UsageFault(
            f"expected no {SUITE_FILE} in {folder}, found one: edit it, or move it away"
        ) from error
    except OSError as error:
        raise UsageFault(
            f"expected to write {path}, but: {error.strerror or type(error).__name__}"
        ) from error
    return path


def _describe_samples(samples: Path, folder: Path, loader: str | None, id_column: str | None) -> str:
    """Return the keys of the block ``samples``."""
    place = _quote(_relative(samples, folder))
    if is_row_file(samples) and samples.is_file():
        if loader is not None:
            raise UsageFault(f"--loader: expected none for {samples}, whose rows have no files to be loaded")
        named = "" if id_column is None else f"\n  id: {_quote(id_column)}"
        hint = "# label: COLUMN, tags: COLUMN; input: [COLUMN, ...] for preprocess, by default all the others"
        return f"  file: {place}{named}\n  {hint}"
    if not samples.is_dir():
        raise UsageFault(
            f"--samples: expected a folder of sample files or a file of {' '.join(OPENERS)}, got "
            f"{str(samples)!r}, which is not one"
        )
    if id_column is not None:
        raise UsageFault(f"--id: expected none for the folder {samples}, whose samples.csv has the ids")
    chosen = _quote(loader if loader is not None else guess_loader(samples))
    return f"  folder: {place}\n  loader: {chosen}  # {' | '.join(LOADERS)} | module:fn"


def guess_loader(samples: Path) -> str:
    """Return the loader for all files below a folder; ``path`` when they are of several kinds."""
    loaders = {_loader_of(file) for file in list_files(samples).files}
    return loaders.pop() if len(loaders) == 1 else "path"


def _loader_of(file: str) -> str:
    suffix = Path(file).suffix.lower()
    return next((loader for loader, suffixes in LOADER_SUFFIXES.items() if suffix in suffixes), "path")


def _name_after(folder: Path) -> str:
    raw = os.path.basename(os.path.abspath(folder))
    name = re.sub(r"[^\w.+-]+", "-", raw).strip("-.")[:MAX_NAME_CHARS].rstrip("-.")
    return name if name and name.casefold() not in RESERVED_NAMES else "model"


def _relative(path: Path, folder: Path) -> str:
    """Return a path as the suite file writes it."""
    try:
        return Path(os.path.relpath(path, folder)).as_posix()
    except ValueError:  # Windows: another drive has no relative path
        return Path(os.path.abspath(path)).as_posix()


def _quote(text: str) -> str:
    """Return text as a YAML scalar that is read back as the same text."""
    if _PLAIN_TEXT.fullmatch(text) and isinstance(resolve_scalar(text), str):
        return text
    return json.dumps(text)
