"""What values in a list are called: they become part of the ids of cases."""

from __future__ import annotations

import re
import unicodedata
from typing import Any

_REFERENCE = re.compile(r"[\w.]+:[\w.]+")
_DEVICES = ("cuda:", "xpu:")
_CHECKPOINTS = (".pt", ".pth", ".safetensors")


def name_value(value: Any) -> str:
    """Return what a value in a list is called: its own text, a function's name, a file's stem."""
    if isinstance(value, dict):
        value = value.get("kind", value.get("path", ""))
    text = "true" if value is True else "off" if value is False else str(value)
    # Some file systems return other bytes for an accented letter than were written: one file, one id.
    text = unicodedata.normalize("NFC", text)
    if _REFERENCE.fullmatch(text) and not text.startswith(_DEVICES):
        text = text.rpartition(":")[2]
    elif "/" in text or text.lower().endswith(_CHECKPOINTS):
        text = text.rpartition("/")[2].rpartition(".")[0]
    return re.sub(r"[^\w.+-]+", "-", text).strip("-.")


def fold_name(name: str) -> str:
    """Return what is equal for two names that one file system or another takes for the same."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())
