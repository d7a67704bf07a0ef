"""Which outputs belong to a detection: boxes, and what lies beside them.

What belongs here: finding siblings by their paths, and what is wrong with what a suite says of them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from pytest_modelreg.domain.case import OutputSpec
from pytest_modelreg.domain.nearest import suggest
from pytest_modelreg.domain.output_path import find_entry

KIND = "detection"


@dataclass(frozen=True, kw_only=True)
class DetectionGroup:
    """The outputs of one detection.

    Parameters
    ----------
    boxes : str
        Path of the boxes.
    spec : OutputSpec
        What the suite says of them.
    scores, classes : str or None
        Paths of their scores and class numbers, where those are outputs of their own.
    along : tuple of str
        Paths of further outputs with a row a box.
    """

    boxes: str
    spec: OutputSpec
    scores: str | None
    classes: str | None
    along: tuple[str, ...]

    @property
    def deciding(self) -> tuple[str, ...]:
        """Paths of what decides which box is which."""
        return tuple(path for path in (self.boxes, self.scores, self.classes) if path is not None)

    @property
    def members(self) -> tuple[str, ...]:
        """Paths of all of it."""
        return (*self.deciding, *self.along)


def find_groups(paths: Collection[str], outputs: Mapping[str, OutputSpec]) -> tuple[DetectionGroup, ...]:
    """Return the detections among these outputs.

    Parameters
    ----------
    paths : collection of str
        Output paths of either side.
    outputs : mapping of str to OutputSpec
        What is declared, by output path or pattern.
    """
    found = []
    for path in paths:
        spec = find_entry(path, outputs)
        if spec is not None and spec.kind == KIND and spec.per != "ignore":
            found.append(
                DetectionGroup(
                    boxes=path,
                    spec=spec,
                    scores=None if spec.scores is None else _find_sibling(path, spec.scores, paths),
                    classes=None if spec.classes is None else _find_sibling(path, spec.classes, paths),
                    along=tuple(_find_sibling(path, name, paths) for name in spec.along),
                )
            )
    return tuple(found)


def list_group_faults(paths: Collection[str], outputs: Mapping[str, OutputSpec]) -> list[str]:
    """Return what is wrong with the paths that detections name: absent, or named twice."""
    return [fault for group in find_groups(paths, outputs) for fault in _list_faults(group, paths, outputs)]


def _list_faults(
    group: DetectionGroup, paths: Collection[str], outputs: Mapping[str, OutputSpec]
) -> Iterator[str]:
    seen = {group.boxes}
    for key, name, path in _list_named(group):
        where = f"outputs.{group.boxes}: {key}"
        spec = find_entry(path, outputs) or OutputSpec()
        if path not in paths:
            beside = [other for other in paths if other != group.boxes]
            known = ", ".join(beside) or "none"
            what = "an output that is compared" if spec.per == "ignore" else "an output path beside it"
            yield f"{where}: expected {what} ({known}), got {name!r}{suggest(name, beside)}"
        elif path in seen:
            yield f"{where}: expected every output once, got {name!r} twice"
        elif spec.kind == KIND:
            yield f"{where}: expected an output of another kind, got {name!r}, which is kind: {KIND} too"
        seen.add(path)


def _list_named(group: DetectionGroup) -> Iterator[tuple[str, str, str]]:
    """Yield key, name as written and path of everything that the boxes name."""
    spec = group.spec
    if spec.scores is not None and group.scores is not None:
        yield "scores", spec.scores, group.scores
    if spec.classes is not None and group.classes is not None:
        yield "classes", spec.classes, group.classes
    for name, path in zip(spec.along, group.along, strict=True):
        yield "along", name, path


def _find_sibling(boxes: str, name: str, paths: Collection[str]) -> str:
    """Return the path of an output that is named by its path beside the boxes, else by its whole path."""
    parent = boxes.rpartition(".")[0]
    beside = f"{parent}.{name}" if parent else name
    return name if beside not in paths and name in paths else beside
