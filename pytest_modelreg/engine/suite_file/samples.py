"""The block ``samples`` of a suite file: a folder with a file a sample, or a file with a row a sample.

What belongs here: its keys, and which of them go together. To add a key, add its field and, where it belongs
to one of the two forms only, its name to :data:`_KEYS_OF`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, Field

from pytest_modelreg.domain.sample import RowFile, SampleSet
from pytest_modelreg.engine.suite_file.block import Block
from pytest_modelreg.engine.suite_file.document import Document
from pytest_modelreg.engine.suite_file.fault import FaultLog
from pytest_modelreg.engine.suite_file.path import ExistingFolder, RowFilePath
from pytest_modelreg.engine.suite_file.value import InputColumns, LoaderName, Text
from pytest_modelreg.observe import LOADERS
from pytest_modelreg.store import OPENERS

_KEYS_OF: Mapping[str, Mapping[str, str]] = {
    "file": {
        "folder": "which names another sample set; keep one of them",
        "loader": "whose rows have no files to be loaded; take it out",
    },
    "folder": dict.fromkeys(("id", "label", "tags", "input"), "whose files have no columns; take it out"),
}
"""By the key that says what the samples are: keys that cannot stand beside it, and why."""


class SamplesBlock(Block):
    """The pinned sample set: a folder with a file a sample, or a file with a row a sample."""

    model_config = ConfigDict(
        json_schema_extra={"oneOf": [{"required": ["folder", "loader"]}, {"required": ["file"]}]}
    )

    folder: ExistingFolder | None = Field(
        default=None,
        description="folder with samples.csv, relative to this file",
        examples=["fixtures/photos"],
    )
    loader: LoaderName | None = Field(
        default=None,
        description=f"how a sample's file is read: {', '.join(LOADERS)} (image: Pillow, mode as stored), "
        "or module:fn called with the path",
        examples=["image"],
    )
    file: RowFilePath | None = Field(
        default=None,
        description=f"{', '.join(OPENERS)} file with a row a sample, pinned by `modelreg pin FILE`, "
        "relative to this file",
        examples=["data/rows.jsonl"],
    )
    id: Text | None = Field(
        default=None, description="column with the samples' ids; default: the row's number, from 1"
    )
    label: Text | None = Field(default=None, description="column with the ground truth")
    tags: Text | None = Field(
        default=None, description="column with tags: text separated by spaces, or lists"
    )
    input: InputColumns | None = Field(
        default=None,
        description="columns that preprocess is given: a list gives a dict by column, one name its value; "
        "default: a dict of all but id, label and tags",
        examples=[["age", "income"]],
    )

    def declare(self) -> SampleSet:
        """Return the set without its samples."""
        if self.file is None:
            return SampleSet(folder=self.folder or "", samples=())
        path = Path(self.file)
        chosen = (self.input,) if isinstance(self.input, str) else tuple(self.input or ())
        rows = RowFile(
            name=path.name,
            id=self.id,
            label=self.label,
            tags=self.tags,
            input=chosen,
            is_bare=isinstance(self.input, str),
        )
        return SampleSet(folder=str(path.parent), samples=(), rows=rows)


def check_samples(document: Document, log: FaultLog) -> None:
    """Note keys of one form of the block beside the other form."""
    written = _read(document)
    form = "file" if "file" in written else "folder"
    if form in written:
        for key, reason in _KEYS_OF[form].items():
            if key in written:
                path = ("samples", key)
                log.add(document.line(path, of_key=True), path, f"expected no {key} beside {form}, {reason}")


def list_missing(document: Document) -> Iterator[str]:
    """Yield keys that the block needs and has not."""
    written = _read(document)
    if "file" not in written and isinstance(document.data.get("samples"), dict):
        yield from (key for key in ("folder", "loader") if key not in written)


def _read(document: Document) -> Mapping[str, Any]:
    written = document.data.get("samples")
    return written if isinstance(written, dict) else {}
