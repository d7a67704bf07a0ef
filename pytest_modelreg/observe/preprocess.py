"""Preprocessing: from a loaded sample to what the model is fed for it.

What belongs here: applying the suite's callable, or its list of stages, to one sample.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pytest_modelreg.domain.errors import PreprocessError
from pytest_modelreg.observe.inputs import convert_sample
from pytest_modelreg.observe.user_code import attributed


class Preprocess:
    """A suite's preprocessing, applied to one loaded sample at a time.

    Parameters
    ----------
    found : callable, list or tuple of callables, or None
        What the reference named; stages of a list are applied in order. None: the
        loaded sample is the input.
    reference : str or None
        As in the suite file, for messages.
    to_tensors : bool
        Whether the model is a module, so that arrays become tensors.
    """

    def __init__(self, found: Any, *, reference: str | None, to_tensors: bool) -> None:
        if found is None:
            self.stages: tuple[Callable[[Any], Any], ...] = ()
        else:
            self.stages = tuple(found) if isinstance(found, (list, tuple)) else (found,)
        self._reference = reference
        self._to_tensors = to_tensors

    def __call__(self, sample: Any, *, sample_id: str) -> Any:
        """Return the model input for one loaded sample.

        Raises
        ------
        PreprocessError
            A stage raised or returned None, or what it returned can be no model input; the message
            names sample, reference and the user's file and line.
        """
        what = f"sample {sample_id!r}: preprocess {self._reference!r}"
        if not self.stages:
            what = f"sample {sample_id!r} (no preprocess)"
        with attributed(PreprocessError, what):
            for index, stage in enumerate(self.stages):
                sample = stage(sample)
                # A None inside a structure is an input that is left out; alone it is a
                # forgotten return, and a model may well answer something to it.
                if sample is None:
                    at = f": stage {index}" if len(self.stages) > 1 else ""
                    raise PreprocessError(f"{what}{at} returned None: is a `return` missing?")
        try:
            return convert_sample(sample, to_tensors=self._to_tensors)
        except PreprocessError as error:
            raise PreprocessError(f"{what}: {error}") from error
