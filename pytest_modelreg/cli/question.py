"""Asking a person on a terminal."""

from __future__ import annotations


def ask(question: str) -> bool:
    """Return whether the answer begins with y; an end of input is a no."""
    try:
        return input(f"{question} [y/N] ").strip().lower().startswith("y")
    except EOFError:
        return False


def ask_text(question: str) -> str | None:
    """Return what is answered, stripped; None where input ends."""
    try:
        return input(f"{question} ").strip()
    except EOFError:
        print()  # the answer's line was never ended
        return None
