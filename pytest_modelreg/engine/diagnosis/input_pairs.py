"""What two models were fed for the same samples, side by side.

What belongs here: pairing arrays of two sides by sample and input path. Where they come from is the
caller's: two traces, or a golden and what was prepared just now.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from pytest_modelreg.diagnose import InputPair
from pytest_modelreg.domain.case import CaseSpec

Arrays = Mapping[str, Mapping[str, NDArray[Any]]]
"""By sample, then by input path."""


def pair_arrays(expected: Arrays, actual: Arrays, spec: CaseSpec) -> tuple[InputPair, ...]:
    """Return what both sides have, with the samples' files.

    Parameters
    ----------
    expected, actual : mapping
        The golden's inputs, and this run's.
    """
    samples = spec.samples
    files = {sample.id: Path(samples.folder, sample.file) for sample in samples.samples}
    return tuple(
        InputPair(
            sample=name,
            path=path,
            expected=array,
            actual=actual[name][path],
            file=files.get(name),
            loader=spec.loader,
        )
        for name, leaves in expected.items()
        if name in actual
        for path, array in leaves.items()
        if path in actual[name]
    )
