"""The preprocessing checklist: what people check by hand when a model behaves oddly.

What belongs here: facts about what a pipeline feeds the model, each read from its stages or
measured on what it made of the samples, never guessed; an unknown one says why. To add a
fact, add it to the module that can know it (``stage_settings`` reads, ``input_statistics`` and
``channel_order`` measure) and it appears under its name.
"""

from __future__ import annotations

from pytest_modelreg.observe.checklist.survey import Survey

__all__ = ["Survey"]
