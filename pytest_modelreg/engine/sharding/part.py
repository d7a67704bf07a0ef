"""One of the runs that are to be merged, read from its folder: data from another machine, believed nowhere.

What belongs here: reading, and refusing what is damaged. What several of them are together is ``union``'s.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_modelreg.domain.case import case_id
from pytest_modelreg.domain.errors import GoldenError, UsageFault
from pytest_modelreg.engine.kept_run import REPORT_FILE, KeptRun, read_run
from pytest_modelreg.engine.sharding.share import RunShare, read_share
from pytest_modelreg.store import safe_component
from pytest_modelreg.store.json_object import JsonObject
from pytest_modelreg.store.sealed_record import advising

_GET_AGAIN = "get the run again, whole"


@dataclass(frozen=True, kw_only=True)
class Part:
    """A run that is to be merged with others.

    Parameters
    ----------
    folder : Path
        Of the run.
    share : RunShare
        What it had to do.
    records : mapping of str to dict
        Of the report, by case id, in its order.
    started : str
        ISO 8601, UTC.
    duration_s : float
        Seconds.
    commit : str or None
        The commit of the project.
    is_dirty : bool or None
        Whether the project differed from it.
    environment : mapping
        Fingerprint of the machine, as a report has it.
    """

    folder: Path
    share: RunShare
    records: Mapping[str, dict[str, Any]]
    started: str
    duration_s: float
    commit: str | None
    is_dirty: bool | None
    environment: Mapping[str, Any]

    @property
    def name(self) -> str:
        """How messages call it."""
        return f"shard {self.share.shard} ({self.folder})"


def find_parts(named: Iterable[Path]) -> list[Path]:
    """Return run folders: those named, and instead of one that is none those directly in it."""
    found = []
    for folder in named:
        inside = [path.parent for path in sorted(folder.glob(f"*/{REPORT_FILE}"))]
        is_run = (folder / REPORT_FILE).is_file() or not inside
        found += [folder] if is_run else inside
    return found


def read_parts(folders: Iterable[Path]) -> list[Part]:
    """Return runs that are to be merged, sorted by their numbers.

    Raises
    ------
    UsageFault
        With every fault of every folder.
    """
    parts, faults = [], []
    for folder in folders:
        try:
            parts.append(_read_part(folder))
        except (GoldenError, UsageFault) as error:
            faults.append(str(error))
    if faults:
        raise UsageFault("\n".join(faults))
    return sorted(parts, key=lambda part: part.share.shard.number)


def _read_part(folder: Path) -> Part:
    with advising(_GET_AGAIN):
        run = read_run(folder)
        path = folder / REPORT_FILE
        share = read_share(run.report, path)
        if share is None:
            what = "one of a release that had no shards" if run.report else "none: it was cut off"
            raise UsageFault(
                f"{folder}: expected the run folder of a shard, with what {REPORT_FILE} says for the merge, "
                f"got {what}; run that shard again"
            )
        _require_kept(run)
        report = JsonObject(run.report, path)
        facts = report.object("run")
        git = facts.object("git")
        return Part(
            folder=folder,
            share=share,
            records=_read_records(report, run.report["cases"], folder),
            started=facts.text("started"),
            duration_s=facts.number("duration_s"),
            commit=git.optional("commit", git.text),
            is_dirty=git.optional("dirty", git.boolean),
            environment=report.mapping("environment"),
        )


def _require_kept(run: KeptRun) -> None:
    """Refuse a run of whose cases something is lost, damaged, or in the folder of another case."""
    for case in run.cases:
        if case.fault:
            raise GoldenError(case.fault)
        if case.kept is not None and case.kept.folder.name != safe_component(case.id):
            raise GoldenError(
                f"{case.kept.folder}: expected what the run kept of a case of that name, got {case.id}; "
                f"{_GET_AGAIN}"
            )


def _read_records(report: JsonObject, records: list[Any], folder: Path) -> dict[str, dict[str, Any]]:
    found = {}
    for fields, record in zip(report.records("cases"), records, strict=True):
        name = fields.text("id")
        if name != case_id(fields.text("suite"), fields.text("variant")) or name in found:
            raise GoldenError(
                f"{folder / REPORT_FILE}: expected one record a case, named by it, got {name!r:.80}; "
                f"{_GET_AGAIN}"
            )
        _require_record(fields)
        found[name] = dict(record)
    return found


def _require_record(fields: JsonObject) -> None:
    """Refuse a record that lacks what every record has: whoever renders it relies on it."""
    fields.mapping("axes")
    fields.text("message")
    for _, output in fields.objects("outputs"):
        output.text("dtype")
        output.shape("shape")
        for key in ("n_total", "n_mismatched", "nan_expected", "nan_actual"):
            output.integer(key)
    for check in fields.records("checks"):
        for key in ("name", "output", "source"):
            check.text(key)
        check.boolean("ok")
        check.number("limit")
    fields.integer("n_samples")
    fields.texts("drifted_samples")
    for sample in fields.records("samples"):
        for key in ("id", "expected", "actual"):
            sample.text(key)
        sample.boolean("ok")
    for cause in fields.records("causes"):
        cause.text("cause")
        cause.text("summary")
        cause.mapping("evidence")
    for change in fields.records("environment_changes"):
        change.text("key")
    for finding in fields.records("structure"):
        for key in ("output", "what"):
            finding.text(key)
    fields.texts("notes")
    fields.number("duration_s")
