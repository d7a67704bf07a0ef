"""What every mapping of a suite file has in common."""

from __future__ import annotations

from typing import ClassVar

from pydantic import BaseModel, ConfigDict


class Block(BaseModel):
    """A mapping of a suite file: unknown keys are refused, nothing is converted.

    Attributes
    ----------
    not_yet : frozenset of str
        Keys that only a later release understands.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, protected_namespaces=())

    not_yet: ClassVar[frozenset[str]] = frozenset()
