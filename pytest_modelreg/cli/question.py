"""Asking a person on a terminal."""

from __future__ import annotations


def ask(question: str) -> bool:
    """Return whether the answer begins with y; an end of input is a no."""
    try:
        return input(f"{question} [y/N] ").strip().lower().startswith("y")
    except EOFError:
        return False
