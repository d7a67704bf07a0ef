"""The planted faults and benign changes, judged once and read by every test.

Judging takes most of a minute, so that the workers of a run share it: one does it, the others wait.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from pytest_modelreg.store.lock import locked

SCRIPT = Path(__file__).with_name("rehearsal.py")
TIMEOUT_S = 1800.0
_HEADING = re.compile(r"_{2,} (?P<case>\S+) _{2,}")


@dataclass
class Rehearsal:
    """What one judging of everything left behind.

    Attributes
    ----------
    folder : Path
        Of the project, with the reports.
    """

    folder: Path
    _records: dict[str, dict[str, Any]] = field(default_factory=dict)

    def records(self, report: str) -> dict[str, Any]:
        """Return the records of a report by case id."""
        if report not in self._records:
            document = json.loads((self.folder / report).read_text(encoding="utf-8"))
            self._records[report] = {case["id"]: case for case in document["cases"]}
        return self._records[report]

    def case(self, case: str, report: str = "report.json") -> dict[str, Any]:
        """Return the record of a case."""
        found: dict[str, Any] = self.records(report)[case]
        return found

    def told(self, case: str, output: str = "judge.txt") -> str:
        """Return what was said of a case: its section on the terminal if it failed, else its notes."""
        lines: list[str] = []
        current = ""
        for line in (self.folder / output).read_text(encoding="utf-8").splitlines():
            heading = _HEADING.fullmatch(line)
            if heading:
                current = heading["case"]
            elif line.startswith(("-----", "=====")):
                current = ""
            elif current == case:
                lines.append(line)
        report = "report.json" if output == "judge.txt" else output.replace(".txt", ".json")
        return "\n".join(lines or self.case(case, report)["notes"])

    def run(self, *steps: str) -> None:
        """Run steps of the script; its output is shown when it fails."""
        done = subprocess.run(
            [sys.executable, str(SCRIPT), str(self.folder), *steps],
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="session")
def rehearsal(tmp_path_factory: pytest.TempPathFactory) -> Rehearsal:
    """Everything judged, by this worker or by another one of the same run."""
    base = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        base = base.parent
    folder = base / "faults"
    folder.mkdir(exist_ok=True)
    found = Rehearsal(folder)
    state = folder / "rehearsal.txt"
    with locked(folder, timeout_s=TIMEOUT_S):
        if not state.exists():
            state.write_text("failed", encoding="utf-8")
            found.run("build", "record", "judge")
            state.write_text("done", encoding="utf-8")
    assert state.read_text(encoding="utf-8") == "done", "another worker tells why judging failed"
    return found
