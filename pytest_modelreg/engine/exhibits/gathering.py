"""All that a report shows of a run beside its numbers, and how much of it.

What belongs here: which cases and samples are worth a picture, the worst first, and what it may weigh.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_modelreg.domain.case import case_id
from pytest_modelreg.domain.errors import ModelRegError
from pytest_modelreg.domain.exhibit import CaseExhibit, Exhibits, InputDifference, MaskPair, Panel, SampleFace
from pytest_modelreg.domain.result import SampleMeasures
from pytest_modelreg.domain.verdict import Verdict
from pytest_modelreg.engine.exhibits.both_sides import BothSides, open_both_sides
from pytest_modelreg.engine.exhibits.box_pairs import draw_boxes
from pytest_modelreg.engine.exhibits.class_bars import draw_class_bars
from pytest_modelreg.engine.exhibits.faces import read_faces
from pytest_modelreg.engine.exhibits.fed_inputs import draw_input_difference, read_fed_inputs
from pytest_modelreg.engine.exhibits.mask_pairs import draw_masks
from pytest_modelreg.engine.exhibits.module_errors import measure_module_errors
from pytest_modelreg.engine.exhibits.value_pairs import pick_value_pairs
from pytest_modelreg.engine.kept_case import CASE_FILE, read_kept_case
from pytest_modelreg.engine.planned_case import PlannedCases
from pytest_modelreg.engine.subject import subject_of_case
from pytest_modelreg.engine.values import VALUES_SUITE
from pytest_modelreg.observe.failure import describe_crash
from pytest_modelreg.observe.thumbnail import has_pictures
from pytest_modelreg.store import read_measures, safe_component

PANEL_SAMPLES = 20
"""Samples of a case that are looked at closely: those that the record details."""

FED_SAMPLES = 12
"""Samples that are looked at for what the model was fed."""

FACES = 160
"""Samples of all suites that get a thumbnail or a text, the worst of the worst cases first."""

PICTURE_BYTES = 1_100_000
"""What the panels' pictures may weigh together; the thumbnails come on top, some 4 KB each."""

_ORDER = (Verdict.ERROR, Verdict.DRIFT, Verdict.STALE)

Record = Mapping[str, Any]


def gather_exhibits(
    records: Sequence[Record],
    folder: Path | None,
    planned: PlannedCases,
    root: Path,
    *,
    commands: Mapping[str, str] | None = None,
) -> Exhibits:
    """Return what there is to be shown of a run's cases.

    Parameters
    ----------
    records : sequence of mapping
        The ``cases`` of its report.
    folder : Path or None
        The run's folder; None where it kept nothing.
    planned : PlannedCases
        The cases that the suites have now.
    root : Path
        The project's root: goldens of Python tests are below it.
    commands : mapping of str to str, or None
        What accepts a case, by its id, as the run said it; None: it is not known any more, and is what the
        suites say now.
    """
    ordered = sorted(records, key=_rank)
    measures = {str(record["id"]): _read_measures(folder, str(record["id"])) for record in ordered}
    faces = _gather_faces(ordered, measures, planned)
    gathering = _Gathering(folder, planned, root, faces)
    cases = {}
    for record in ordered:
        name = str(record["id"])
        command = _find_command(record, planned) if commands is None else commands.get(name, "")
        cases[name] = replace(gathering.show(record), measures=measures[name], command=command)
    return Exhibits(faces=faces, cases=cases)


class _Gathering:
    """Opens case by case, and stops drawing when the pictures are heavy enough."""

    def __init__(
        self,
        folder: Path | None,
        planned: PlannedCases,
        root: Path,
        faces: Mapping[str, Mapping[str, SampleFace]],
    ) -> None:
        self._folder = folder
        self._planned = planned
        self._root = root
        self._faces = faces
        self._left_bytes = PICTURE_BYTES if has_pictures() else 0
        self._charged: set[bytes] = set()
        self._verified: set[str] = set()

    def show(self, record: Record) -> CaseExhibit:
        """Return what there is of one case; nothing of one that kept no outputs."""
        folder = None if self._folder is None else self._folder / safe_component(str(record["id"]))
        if folder is None or not (folder / CASE_FILE).is_file() or record["verdict"] not in _ORDER:
            return CaseExhibit()
        try:
            sides = open_both_sides(read_kept_case(folder), self._planned, self._root, self._verified)
            return self._open(sides, record)
        except (ModelRegError, OSError) as error:
            return CaseExhibit(missing=self._shorten(str(error)))
        except Exception as error:  # noqa: BLE001 - the per-case edge: no picture may cost a report
            return CaseExhibit(missing=self._shorten(describe_crash(error)))

    def _shorten(self, text: str) -> str:
        """Return the first line without folders of this machine: a page is passed on."""
        line = text.partition("\n")[0]
        for folder in (self._folder, self._root):
            line = line if folder is None else line.replace(f"{folder}{os.sep}", "")
        return line

    def _open(self, sides: BothSides, record: Record) -> CaseExhibit:
        inputs = read_fed_inputs(sides)
        worst = [str(sample["id"]) for sample in record["samples"][:PANEL_SAMPLES]]
        # Exact inputs are those of a few samples that were chosen beforehand, rarely of the worst.
        samples = list(dict.fromkeys((*worst, *list(inputs[1])[:FED_SAMPLES])))
        boxes = draw_boxes(sides, samples, self._faces.get(str(record["suite"]), {}), inputs)
        panels: dict[str, tuple[Panel, ...]] = {}
        for sample in samples:
            found: list[Panel] = [*boxes.get(sample, ())]
            for path in sides.paths:
                found += filter(None, [draw_class_bars(sides, path, sample)])
                if self._left_bytes > 0:
                    found += self._charge(draw_masks(sides, path, sample))
            if self._left_bytes > 0:
                found += self._charge(draw_input_difference(inputs, sample))
            if found:
                panels[sample] = tuple(found)
        return CaseExhibit(
            panels=panels,
            depth=measure_module_errors(sides),
            pairs=pick_value_pairs(sides, record["outputs"]),
        )

    def _charge(self, panel: InputDifference | MaskPair | None) -> Iterator[Panel]:
        """Yield a panel that there is, and note what it weighs: equal pictures are embedded once."""
        if panel is None:
            return
        last = panel.difference if isinstance(panel, InputDifference) else panel.changed
        new = {picture.data for picture in (panel.expected, panel.actual, last) if picture is not None}
        self._left_bytes -= sum(map(len, new - self._charged))
        self._charged |= new
        yield panel


def _gather_faces(
    records: Sequence[Record], measures: Mapping[str, SampleMeasures], planned: PlannedCases
) -> dict[str, dict[str, SampleFace]]:
    """Return the faces of every suite's samples, with a picture for the worst."""
    wanted: dict[tuple[str, str], None] = {}
    for record in records:
        named = [str(sample["id"]) for sample in record["samples"]]
        if record["verdict"] in _ORDER:
            found = measures[str(record["id"])]
            failed = [name for name, has_failed in zip(found.ids, found.failed, strict=True) if has_failed]
            named += [*failed, *found.ids]
        wanted.update(dict.fromkeys((str(record["suite"]), name) for name in named))
    shown = list(wanted)[:FACES]
    faces = {}
    for suite in dict.fromkeys(str(record["suite"]) for record in records):
        ids = [name for owner, name in shown if owner == suite]
        known = next(str(record["id"]) for record in records if record["suite"] == suite)
        found_faces = _read_suite_faces(suite, known, ids, planned)
        if found_faces:
            faces[suite] = found_faces
    return faces


def _read_suite_faces(
    suite: str, known: str, ids: Sequence[str], planned: PlannedCases
) -> dict[str, SampleFace]:
    if suite == VALUES_SUITE:
        return {}  # values of Python tests come from no file
    try:
        found, case = planned.find(known)
        return read_faces(planned.read_samples(found), case.template.loader, ids)
    except (ModelRegError, OSError):  # another checkout: the report is without pictures
        return {}


def _find_command(record: Record, planned: PlannedCases) -> str:
    """Return the command that accepts what a suite's case came to; empty where there is none."""
    verdict, name = record["verdict"], case_id(str(record["suite"]), str(record["variant"]))
    if record["suite"] == VALUES_SUITE or verdict not in (*_ORDER[1:], Verdict.MISSING):
        return ""
    try:
        subject = subject_of_case(*planned.find(name))
    except ModelRegError:
        return ""
    return subject.recording_command if verdict == Verdict.MISSING else subject.command


def _read_measures(folder: Path | None, name: str) -> SampleMeasures:
    if folder is None:
        return SampleMeasures()
    try:
        return read_measures(folder / safe_component(name))
    except ModelRegError:
        return SampleMeasures()


def _rank(record: Record) -> int:
    """Return where the cases of a verdict come: those that are looked at closely first."""
    verdict = Verdict(record["verdict"])
    return _ORDER.index(verdict) if verdict in _ORDER else len(_ORDER)
