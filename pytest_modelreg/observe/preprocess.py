"""Preprocessing: from a loaded sample to what the model is fed for it.

What belongs here: applying the suite's callable, or its stages, to one sample.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pytest_modelreg.domain.errors import PreprocessError
from pytest_modelreg.observe.inputs import convert_sample
from pytest_modelreg.observe.stages import PipelineStage, number_stage, split_pipeline
from pytest_modelreg.observe.user_code import attributed


class Preprocess:
    """A suite's preprocessing, applied to one loaded sample at a time.

    Parameters
    ----------
    found : callable, list or tuple of callables, or None
        What the reference named; stages of a list, a Compose or a Sequential are applied in
        order. None: the loaded sample is the input.
    reference : str or None
        As in the suite file, for messages.
    to_tensors : bool
        Whether the model is a module, so that arrays become tensors.
    """

    def __init__(self, found: Any, *, reference: str | None, to_tensors: bool) -> None:
        self.reference = reference
        self.to_tensors = to_tensors
        with attributed(PreprocessError, f"preprocess {reference!r}: describing its stages"):
            self.stages: tuple[PipelineStage, ...] = split_pipeline(found)
        self.parts: tuple[Any, ...] = tuple(stage.call for stage in self.stages)
        """Objects whose mode matters: the whole, and every stage."""
        if self.stages:
            self._calls = self.parts
            self.parts += () if isinstance(found, (list, tuple)) else (found,)
        else:
            self._calls = self.parts = () if found is None else (found,)

    def __call__(
        self, sample: Any, *, sample_id: str, watch: Callable[[int, Any], None] | None = None
    ) -> Any:
        """Return the model input for one loaded sample.

        Parameters
        ----------
        watch : callable, optional
            Called with the index of each stage but the last, and what it returned.

        Raises
        ------
        PreprocessError
            A stage raised or returned None, or what it returned can be no model input; the message
            names sample, reference and the user's file and line.
        """
        what = f"sample {sample_id!r}: preprocess {self.reference!r}"
        if not self._calls:
            what = f"sample {sample_id!r} (no preprocess)"
        last = len(self._calls) - 1
        for index, call in enumerate(self._calls):
            at = f": {number_stage(index, self.stages[index].name)}" if self.stages else ""
            with attributed(PreprocessError, f"{what}{at}"):
                sample = call(sample)
            # A None inside a structure is an input that is left out; alone it is a
            # forgotten return, and a model may well answer something to it.
            if sample is None:
                raise PreprocessError(f"{what}{at} returned None: is a `return` missing?")
            if watch is not None and index < last:
                watch(index, sample)
        try:
            return convert_sample(sample, to_tensors=self.to_tensors)
        except PreprocessError as error:
            raise PreprocessError(f"{what}: {error}") from error
