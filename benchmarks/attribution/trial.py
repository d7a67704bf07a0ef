"""One trial: a fault planted in a copy of its base project, and what the tool said from outside.

What belongs here: running the tool and reading its JSON report. Nothing of the tool is imported.
"""

from __future__ import annotations

import json
import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.attribution.base_project import BaseProjects
from benchmarks.attribution.fault import Fault
from benchmarks.attribution.runner import Runner


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What the tool said of one planted fault.

    Parameters
    ----------
    fault : Fault
        What was planted.
    verdict : str
        Of the case; ``none`` where there was no report.
    causes : tuple of (str, float, str)
        Cause, confidence and summary, as ranked by the tool.
    drifted : tuple of str
        Ids of the drifting samples.
    message : str
        The case's message, or what went wrong with the run.
    duration_s : float
        Of the run as its report has it: observing, judging and diagnosing one case. The case's own
        duration does not hold diagnosis.
    diagnosis_s : float or None
        How much longer the run took than with ``--modelreg-diagnose=off``; None where not measured.
    elapsed_s : float
        Of the whole trial.
    """

    fault: Fault
    verdict: str
    causes: tuple[tuple[str, float, str], ...] = ()
    drifted: tuple[str, ...] = ()
    message: str = ""
    duration_s: float = 0.0
    diagnosis_s: float | None = None
    elapsed_s: float = 0.0

    @property
    def is_detected(self) -> bool:
        """Whether the verdict says that something is wrong; of a benign change, a false alarm."""
        if self.fault.is_benign:
            return self.verdict != "match"
        return self.verdict in self.fault.verdicts

    @property
    def first_cause(self) -> str | None:
        """The cause that was named first."""
        return self.causes[0][0] if self.causes else None

    @property
    def is_right(self) -> bool:
        """Whether a fault was detected and its cause named first, or a benign change let through."""
        if self.fault.is_benign:
            return not self.is_detected
        return self.is_detected and self.first_cause in self.fault.accepted

    @property
    def affects_others(self) -> bool:
        """Whether other samples drifted than those that the fault is known to affect."""
        known = self.fault.affected
        return known is not None and self.is_detected and set(known) != set(self.drifted)


def run_trial(fault: Fault, projects: BaseProjects, *, timed: bool, keep: bool) -> Outcome:
    """Plant a fault, run the tool, and read what it said."""
    started = time.perf_counter()
    folder = projects.folder / "trials" / fault.name
    shutil.rmtree(folder, ignore_errors=True)
    try:
        projects.copy_for(fault, folder)
        for edit in fault.plant:
            edit.apply(folder)
        case, duration_s = _judge(fault, folder, projects.runner)
        without = None
        if timed:
            _, without = _judge(fault, folder, projects.runner, "--modelreg-diagnose=off")
    except (RuntimeError, ValueError) as error:
        return Outcome(fault=fault, verdict="none", message=str(error))
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)
    return Outcome(
        fault=fault,
        verdict=case["verdict"],
        causes=tuple((c["cause"], c["confidence"], c["summary"]) for c in case["causes"]),
        drifted=tuple(case["drifted_samples"]),
        message=case["message"],
        duration_s=duration_s,
        diagnosis_s=None if without is None else max(0.0, duration_s - without),
        elapsed_s=time.perf_counter() - started,
    )


def _judge(fault: Fault, folder: Path, runner: Runner, *arguments: str) -> tuple[dict[str, Any], float]:
    """Run the fault's case; return its record and the seconds that the run took."""
    case = f"{fault.project}[{fault.variant}]"
    report = folder / "report.json"
    report.unlink(missing_ok=True)
    options = ("--modelreg-json", report.name, "-k", case, *arguments)
    runner.judge(folder, *options, variables=fault.variables)
    if not report.exists():
        raise RuntimeError(f"no report: {(folder / 'printed.txt').read_text(encoding='utf-8')[-2000:]}")
    document = json.loads(report.read_text(encoding="utf-8"))
    (record,) = document["cases"]
    assert record["id"] == case, record["id"]
    return record, document["run"]["duration_s"]
