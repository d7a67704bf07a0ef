"""``case.json``: what a kept observation needs to be judged and accepted later, without its test.

What belongs here: the file beside an observation in a run folder. A suite's case is planned
again from its suite file; what a Python test declared is in the file. To keep one more fact,
add it to the writing and to the reading function.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from pytest_modelreg.domain.case import BOX_FORMATS, OutputSpec, case_id
from pytest_modelreg.domain.check import CheckPlan, Limit, OutputChecks
from pytest_modelreg.domain.errors import GoldenError, RunFolderError
from pytest_modelreg.domain.sample import SampleSet
from pytest_modelreg.domain.verdict import Verdict
from pytest_modelreg.engine.outcome import Outcome
from pytest_modelreg.engine.suite import CasePlan
from pytest_modelreg.store import golden_sha256, parse_json, replace_atomically
from pytest_modelreg.store.json_object import JsonObject
from pytest_modelreg.store.sealed_record import RUN_AGAIN, advising, open_sealed, seal_record

CASE_FILE = "case.json"
CASE_FORMAT = 2
"""As with goldens: 1 has no digest of its own, 2 must carry one."""

_KEY = "modelreg_case"
_LEFT_OUT = frozenset({"root", "python_path", "samples", "default_threads", "facts", "outputs"})


@dataclass(frozen=True, kw_only=True)
class KeptCase:
    """A case whose observation was kept, with what became of it.

    Parameters
    ----------
    folder : Path
        Of the observation.
    golden : str
        Folder of its golden, relative to the root of what it belongs to.
    outputs, checks : mapping, CheckPlan
        What a Python test declared; empty for a case of a suite.
    is_numbered : bool
        Whether its samples have no names but their numbers.
    keeps_golden : bool
        Whether the golden is the case's own.
    plan : str
        Digest of what the suite said of the case; empty for values of a Python test.
    decision : str
        ``accepted`` or ``rejected``; empty while it waits.
    golden_sha256 : str
        Of the golden's record that the case was held against; empty where there was none, or where the
        run is of a release that did not note it.
    """

    folder: Path
    suite: str
    variant: str
    verdict: Verdict
    golden: str
    outputs: Mapping[str, OutputSpec] = field(default_factory=dict)
    checks: CheckPlan = field(default_factory=CheckPlan)
    is_numbered: bool = False
    keeps_golden: bool = True
    plan: str = ""
    decision: str = ""
    golden_sha256: str = ""

    @property
    def id(self) -> str:
        """The case id."""
        return case_id(self.suite, self.variant)


def write_kept_case(folder: Path, outcome: Outcome) -> None:
    """Write what reviewing an outcome will need beside its observation.

    Raises
    ------
    RunFolderError
        When the folder cannot be written.
    """
    result = outcome.result
    fields: dict[str, Any] = {
        "suite": result.suite,
        "variant": result.variant,
        "verdict": result.verdict.value,
        "golden": outcome.place.shown,
        "keeps_golden": outcome.keeps_golden,
        "plan": "" if outcome.case is None else digest_plan(outcome.case),
        "golden_sha256": (golden_sha256(outcome.place.found) or "") if outcome.golden is not None else "",
    }
    if outcome.case is None:
        fields["values"] = {
            "outputs": {path: asdict(spec) for path, spec in outcome.outputs.items()},
            "checks": {
                "by_output": {path: _plain(asked) for path, asked in outcome.checks.by_output.items()},
                "default": _plain(outcome.checks.default),
            },
            "is_numbered": outcome.is_numbered,
        }
    _write(folder, fields)


def digest_plan(case: CasePlan) -> str:
    """Return a digest of what a suite says of what a case runs, the same on every machine.

    Left out are the machine's folders, and how outputs are judged.
    """
    template = asdict(replace(case.template, samples=SampleSet(folder="", samples=()), facts={}))
    checkpoint = case.template.checkpoint
    kept = {key: value for key, value in template.items() if key not in _LEFT_OUT}
    if checkpoint is not None:
        kept["checkpoint"] = [Path(checkpoint.path).name, checkpoint.key]
    if case.template.samples.rows is not None:
        kept["rows"] = asdict(case.template.samples.rows)
    return hashlib.sha256(json.dumps(kept, sort_keys=True, default=str).encode()).hexdigest()[:16]


def write_decision(case: KeptCase, decision: str) -> None:
    """Note what somebody decided of a kept case, so that it is not asked again.

    Raises
    ------
    GoldenError
        When its record was damaged meanwhile.
    RunFolderError
        When the folder cannot be written.
    """
    path = case.folder / CASE_FILE
    data = _read(path)
    _open(data, path)  # damage that came since must not get a digest that vouches for it
    _write(case.folder, {**parse_json(data, path), "decision": decision})


def read_kept_case(folder: Path) -> KeptCase:
    """Read ``case.json``.

    Raises
    ------
    GoldenError
        When it is missing, damaged or of a newer release; one line with the path.
    """
    path = folder / CASE_FILE
    with advising(RUN_AGAIN):
        return _read_fields(folder, _open(_read(path), path))


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise GoldenError(
            f"{path}: expected the record of a kept case: {error.strerror or error}; {RUN_AGAIN}"
        ) from error


def _open(data: bytes, path: Path) -> JsonObject:
    with advising(RUN_AGAIN):
        return open_sealed(data, path, key=_KEY, newest=CASE_FORMAT)


def _read_fields(folder: Path, fields: JsonObject) -> KeptCase:
    values = fields.object("values") if "values" in fields else None
    outputs = {} if values is None else {path: _read_spec(spec) for path, spec in values.objects("outputs")}
    return KeptCase(
        folder=folder,
        suite=fields.text("suite"),
        variant=fields.text("variant"),
        verdict=Verdict(fields.one_of("verdict", tuple(verdict.value for verdict in Verdict))),
        golden=fields.text("golden"),
        outputs=outputs,
        checks=CheckPlan() if values is None else _read_plan(values.object("checks")),
        is_numbered=values is not None and values.boolean("is_numbered"),
        keeps_golden=fields.boolean("keeps_golden"),
        plan=fields.text("plan"),
        decision=fields.text("decision") if "decision" in fields else "",
        golden_sha256=fields.text("golden_sha256") if "golden_sha256" in fields else "",
    )


def _write(folder: Path, fields: Mapping[str, Any]) -> None:
    path = folder / CASE_FILE
    try:
        replace_atomically(path, seal_record(fields, key=_KEY, version=CASE_FORMAT))
    except OSError as error:
        raise RunFolderError(
            f"{path}: cannot be written: {error.strerror or error}; free space or give write access"
        ) from error


def _plain(asked: OutputChecks) -> dict[str, Any]:
    return {"limits": [asdict(limit) for limit in asked.limits], "off": sorted(asked.off)}


def _read_spec(fields: JsonObject) -> OutputSpec:
    return OutputSpec(
        kind=fields.text("kind"),
        per=fields.text("per"),
        per_is_declared=fields.boolean("per_is_declared"),
        labels=fields.texts("labels") if "labels" in fields else None,
        top_k=fields.integer("top_k"),
        **_read_detection(fields),
    )


def _read_detection(fields: JsonObject) -> dict[str, Any]:
    """Return what a record says of boxes; nothing where it is of a release that knew none."""
    if "box_format" not in fields:
        return {}
    return {
        "scores": fields.optional("scores", fields.text),
        "classes": fields.optional("classes", fields.text),
        "along": fields.texts("along"),
        "box_format": fields.one_of("box_format", BOX_FORMATS),
        "threshold": fields.optional("threshold", fields.number),
        "ignore_index": fields.optional("ignore_index", fields.integer) if "ignore_index" in fields else None,
        "logits": fields.optional("logits", fields.text) if "logits" in fields else None,
    }


def _read_plan(fields: JsonObject) -> CheckPlan:
    return CheckPlan(
        by_output={path: _read_checks(asked) for path, asked in fields.objects("by_output")},
        default=_read_checks(fields.object("default")),
    )


def _read_checks(fields: JsonObject) -> OutputChecks:
    return OutputChecks(
        limits=tuple(_read_limit(limit) for limit in fields.records("limits")),
        off=frozenset(fields.texts("off")),
    )


def _read_limit(fields: JsonObject) -> Limit:
    tags = fields.object("tags")
    return Limit(
        name=fields.text("name"),
        value=fields.optional("value", fields.number),
        tags={tag: tags.number(tag) for tag in fields.mapping("tags")},
        rtol=fields.optional("rtol", fields.number),
        atol=fields.optional("atol", fields.number),
        bound=fields.optional("bound", fields.text),
        source=fields.text("source"),
    )
