"""The one error tree. A drift is not an error: it is a verdict.

Every message says what was expected, what was got, where, and what to do next.
To add an error, subclass the nearest node; only the per-case edge of the engine
catches the whole tree and turns it into verdict ``error``.
"""

from __future__ import annotations

from dataclasses import dataclass


class ModelRegError(Exception):
    """Root of everything this package raises on purpose."""


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One fault of an input, in a form that can be listed with others.

    Parameters
    ----------
    where : str
        File, and line where known: ``modelreg.yaml:12``.
    key : str
        Path to the place inside it: ``reference.checkpoint``; empty for the whole.
    message : str
        ``expected X, got Y (did you mean Z?)``.
    """

    where: str
    key: str = ""
    message: str

    def __str__(self) -> str:
        return ": ".join(part for part in (self.where, self.key, self.message) if part)


class FaultsError(ModelRegError):
    """Several faults of one input, all reported at once."""

    def __init__(self, faults: tuple[Fault, ...] | list[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(str(fault) for fault in self.faults))


class SuiteFileError(FaultsError):
    """A suite file that cannot be used: unknown keys, wrong types, bad references."""


class SampleSetError(FaultsError):
    """A sample set that does not fit its ``samples.csv``, or the pin of its file."""


class ProjectFactError(FaultsError):
    """Facts of a project that cannot go into the fingerprint."""


class UsageFault(ModelRegError):
    """A flag or command that cannot be carried out as given (exit 2, under pytest 4)."""


class RegenerationRefused(UsageFault):
    """Regeneration that is locked (CI) or lacks its reason."""


class RunFolderError(UsageFault):
    """A run folder that cannot be made or written; the message names the path."""


class GoldenError(ModelRegError):
    """A golden that cannot be read or written; the message names the file."""


class GoldenFormatError(GoldenError):
    """A golden whose format version this release does not read."""


class CaseError(ModelRegError):
    """A case that could not run: the ways are its subclasses."""


class ImportReferenceError(CaseError):
    """A ``module:attr`` that cannot be imported, or would import somebody else's module."""


class SampleLoadError(CaseError):
    """A sample that the loader cannot decode."""


class PreprocessError(CaseError):
    """A preprocess or collate that raised, or returned what cannot be a model input."""


class CheckpointError(CaseError):
    """A checkpoint that cannot be read or does not fit the model."""


class ModelError(CaseError):
    """A model factory or forward pass that raised."""


class ForwardError(ModelError):
    """A forward pass that raised: the model was built, and could not be fed what it was fed."""


class OutputError(CaseError):
    """Model output that cannot be recorded: no batch axis, mixed structure, unknown type."""


class RuntimeUnavailable(CaseError):
    """A runtime that does not exist or whose framework is not installed."""


class EnvironmentUnavailable(CaseError):
    """Another environment that cannot be had, or whose worker ended without an answer."""


class ExportError(CaseError):
    """A model that a runtime cannot export, compile or load; names operator and module where known."""


class AbsentPartError(ExportError, AttributeError):
    """A part of a model that a file has not got: ``hasattr(model, name)`` is False."""


class CaseSkipped(CaseError):
    """A case that this machine cannot run, through no fault of the model: the reason is its message."""


class JudgeError(CaseError):
    """A check that cannot be applied, or a case in which nothing was compared."""
