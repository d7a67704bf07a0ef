"""What a report shows of a run beside its numbers: pictures and values that the engine gathered for it.

What belongs here: values, small and ready to be drawn. Who gathers them is ``engine.exhibits``', who draws
them ``report.html``'s. To show one more thing of a sample, add a panel with its fields here, one module
there that makes it and one template that draws it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pytest_modelreg.domain.result import SampleMeasures


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A small picture as a file.

    Parameters
    ----------
    data : bytes
        The file.
    media_type : str
        ``image/jpeg`` or ``image/png``.
    width, height : int
        In pixels.
    """

    data: bytes = field(repr=False)
    media_type: str
    width: int
    height: int


@dataclass(frozen=True, kw_only=True)
class SampleFace:
    """What a pinned sample is, for people; the same for every case of its suite.

    Parameters
    ----------
    picture : Picture or None
        A thumbnail, as the file is stored: not rotated, not cropped.
    stored_size : tuple of int or None
        Width and height of the picture in its file, in pixels.
    text : str
        A short rendering where there is no picture.
    label : str
        Ground truth; empty where the set has none.
    tags : tuple of str
        Groups of the sample.
    """

    picture: Picture | None = None
    stored_size: tuple[int, int] | None = None
    text: str = ""
    label: str = ""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Bar:
    """A class with its share on both sides, dimensionless from 0 to 1."""

    label: str
    expected: float
    actual: float


@dataclass(frozen=True, kw_only=True)
class ClassBars:
    """The classes that either side ranks highest."""

    output: str
    bars: tuple[Bar, ...]


@dataclass(frozen=True, kw_only=True)
class Box:
    """A box in shares of the picture's width and height.

    Parameters
    ----------
    left, top, right, bottom : float
        Dimensionless, 0 at the upper left.
    label : str
        Class and score, as far as there are any.
    """

    left: float
    top: float
    right: float
    bottom: float
    label: str = ""


@dataclass(frozen=True, kw_only=True)
class BoxPair:
    """Boxes of both sides, at most the highest scoring few.

    Parameters
    ----------
    scale : str
        What coordinates were taken for: ``pixels of the file``, ``shares``.
    """

    output: str
    expected: tuple[Box, ...]
    actual: tuple[Box, ...]
    scale: str


@dataclass(frozen=True, kw_only=True)
class MaskPair:
    """Masks of both sides as pictures to be laid over the sample, clear where class 0 is.

    Parameters
    ----------
    changed : Picture
        Clear where both agree.
    n_changed, n_places : int
        Pixels of the masks.
    legend : tuple of (str, str)
        Classes with their colours, as ``#rrggbb``.
    """

    output: str
    expected: Picture
    actual: Picture
    changed: Picture
    n_changed: int
    n_places: int
    legend: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, kw_only=True)
class InputDifference:
    """What the model was fed, then and now, and where that differs.

    Parameters
    ----------
    path : str
        Which input of the model; empty for a bare tensor.
    difference : Picture or None
        Amplified; None where both are of different shapes.
    gain : float
        How many times the difference is amplified, dimensionless.
    largest : float
        Largest absolute difference, in the input's own unit.
    """

    path: str
    expected: Picture
    actual: Picture
    difference: Picture | None
    gain: float
    largest: float


Panel = ClassBars | BoxPair | MaskPair | InputDifference
"""One thing to look at of a sample, expected against actual."""


@dataclass(frozen=True, kw_only=True)
class ModuleError:
    """How far one module's answer is from the golden's, as a relative error, dimensionless."""

    module: str
    rel_l2: float


@dataclass(frozen=True, kw_only=True)
class ValuePairs:
    """Elements of one output, in the output's own unit, evenly picked."""

    output: str
    expected: tuple[float, ...]
    actual: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class CaseExhibit:
    """What is shown of one case.

    Parameters
    ----------
    measures : SampleMeasures
        Of every compared sample; empty where the run has none.
    panels : mapping of str to tuple of Panel
        By sample id.
    depth : tuple of ModuleError
        Modules in the order in which they returned.
    pairs : ValuePairs or None
        Of the output that drifted most.
    command : str
        The one command that would accept what was seen; empty where there is none.
    missing : str
        Why pictures of the outputs are not there; empty where they are, or nothing is missed.
    """

    measures: SampleMeasures = field(default_factory=SampleMeasures)
    panels: Mapping[str, tuple[Panel, ...]] = field(default_factory=dict)
    depth: tuple[ModuleError, ...] = ()
    pairs: ValuePairs | None = None
    command: str = ""
    missing: str = ""


@dataclass(frozen=True, kw_only=True)
class Exhibits:
    """What a report shows of a run beside its numbers.

    Parameters
    ----------
    faces : mapping of str to mapping of str to SampleFace
        By suite, then by sample id.
    cases : mapping of str to CaseExhibit
        By case id.
    """

    faces: Mapping[str, Mapping[str, SampleFace]] = field(default_factory=dict)
    cases: Mapping[str, CaseExhibit] = field(default_factory=dict)
