"""The digest that ``golden.json`` carries of itself, so that no byte of it changes unnoticed.

What belongs here: writing that one value and holding a file against it. It is a line of its
own beside the format version: two branches that both replace a golden always meet in it, so
that a merge of the two is a conflict and never a silent mixture. Checked by hand::

    sed -E 's/("modelreg_sha256": ")[0-9a-f]*/\\1000.../' golden.json | sha256sum   # 64 zeros
"""

from __future__ import annotations

import hashlib
import re

OWN_DIGEST_KEY = "modelreg_sha256"
BLANK = "0" * 64
"""What stands in the place of the digest while it is computed."""

# Two spaces: a key of the whole file. Text inside a string cannot begin a line.
_LINE = re.compile(rb'^(  "' + OWN_DIGEST_KEY.encode() + rb'": ")([0-9a-f]{64})(",?)$', re.MULTILINE)


def write_own_digest(data: bytes) -> bytes:
    """Return the bytes with the digest in the place of :data:`BLANK`.

    Parameters
    ----------
    data : bytes
        A rendered file whose key :data:`OWN_DIGEST_KEY` holds :data:`BLANK`.

    Notes
    -----
    sha256 over the whole file with 64 zeros as the value.
    """
    digest = hashlib.sha256(data).hexdigest().encode()
    return _LINE.sub(lambda line: line[1] + digest + line[3], data, count=1)


def find_own_digest_fault(data: bytes) -> str | None:
    """Say how a file differs from the digest that it carries; None when it does not."""
    lines = _LINE.findall(data)
    if len(lines) == 1:
        blanked = _LINE.sub(lambda line: line[1] + BLANK.encode() + line[3], data)
        recorded, actual = lines[0][1].decode(), hashlib.sha256(blanked).hexdigest()
        if recorded == actual:
            return None
        return f"expected sha256 {recorded[:12]} over its other bytes, got {actual[:12]}"
    plain = data.replace(b"\r\n", b"\n")
    if plain != data and find_own_digest_fault(plain) is None:
        return "line ends were converted: expected LF, got CRLF (the .gitattributes beside it prevents that)"
    return f"expected one line with the file's own digest ({OWN_DIGEST_KEY}), got {len(lines)}"
