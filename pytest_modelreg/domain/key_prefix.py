"""Keys of a checkpoint that all lack, or all carry, a prefix which the model's have not.

What belongs here: finding it, and the one way in which messages say it: an error about a checkpoint that
does not fit, and an explanation of weights that were never loaded.
"""

from __future__ import annotations

from collections.abc import Collection

_MOST = 0.5
"""Share of keys that must be the model's without the prefix: of another model, some fit by chance."""


def describe_prefix(keys: Collection[str], names: Collection[str]) -> str:
    """Return that keys differ from names by one prefix; empty where they do not.

    Parameters
    ----------
    keys : collection of str
        Of the checkpoint, those that no entry of the model took.
    names : collection of str
        Of the model's state dict, those that got nothing.
    """
    extra = find_prefix(keys, names)
    if extra:
        return f"all of the checkpoint's keys begin with {extra!r}, which the model's do not"
    lacking = find_prefix(names, keys)
    if lacking:
        return f"the model's keys begin with {lacking!r}, which the checkpoint's do not"
    return ""


def find_prefix(keys: Collection[str], names: Collection[str]) -> str:
    """Return the prefix that all keys have, and without which most are among the names; else empty."""
    if not keys or not names:
        return ""
    known = frozenset(names)
    first = next(iter(keys))
    for place, letter in enumerate(first):
        prefix = first[: place + 1]
        if letter != "." or not all(key.startswith(prefix) for key in keys):
            continue
        n_fitting = sum(key[len(prefix) :] in known for key in keys)
        if n_fitting >= _MOST * len(keys):
            return prefix
    return ""
