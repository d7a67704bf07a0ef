"""What is known of an artefact, kept beside it for the cases that share it.

What belongs here: the record and its file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from pytest_modelreg.domain.environment import FactValue
from pytest_modelreg.domain.observation import RuntimeFinding

_NAME = "export.json"


@dataclass(frozen=True, kw_only=True)
class ExportRecord:
    """What an export found out.

    Parameters
    ----------
    sizes : mapping of str to int
        Sizes of the declared axes of the batch that it was made with, by axis name.
    facts : mapping of str to scalar
        For the fingerprint.
    findings : tuple of RuntimeFinding
        Where the graph is not as declared.
    """

    sizes: Mapping[str, int] = field(default_factory=dict)
    facts: Mapping[str, FactValue] = field(default_factory=dict)
    findings: tuple[RuntimeFinding, ...] = ()


def write_record(artefact: Path, record: ExportRecord) -> None:
    """Write a record beside its artefact."""
    artefact.with_name(_NAME).write_text(json.dumps(asdict(record)), encoding="utf-8")


def read_record(artefact: Path) -> ExportRecord:
    """Read the record beside an artefact."""
    found: dict[str, Any] = json.loads(artefact.with_name(_NAME).read_text(encoding="utf-8"))
    findings = tuple(RuntimeFinding(**finding) for finding in found["findings"])
    return ExportRecord(sizes=found["sizes"], facts=found["facts"], findings=findings)
