"""What to do about a file that a loader cannot decode.

What belongs here: which suffixes go with which loader. A suffix decides nothing, it
only makes one of two causes the likelier: the wrong ``loader:``, or a damaged file. To
add a suffix, add it to :data:`_SUFFIXES`.
"""

from __future__ import annotations

_SUFFIXES = {
    "image": frozenset(
        {".avif", ".bmp", ".gif", ".ico", ".j2k", ".jfif", ".jp2", ".jpe", ".jpeg", ".jpg", ".pbm", ".pcx"}
        | {".pgm", ".png", ".pnm", ".ppm", ".tga", ".tif", ".tiff", ".webp"}
    ),
    "array": frozenset({".npy", ".npz"}),
    "json": frozenset({".json"}),
    "text": frozenset({".csv", ".htm", ".html", ".log", ".md", ".tsv", ".txt", ".xml"}),
}
_REPLACE = "replace the file and pin it again"


def advise_on_file(loader: str, suffix: str) -> str:
    """Return the end of a message about a file that ``loader`` could not decode.

    Parameters
    ----------
    loader : str
        Name of a loader of ours.
    suffix : str
        The file's, with its dot; empty when it has none.
    """
    suffix = suffix.lower()
    fitting = next((name for name, known in _SUFFIXES.items() if suffix in known), None)
    # Text has any suffix: only one that is another loader's speaks against it.
    if not suffix or fitting == loader or (loader == "text" and fitting is None):
        return _REPLACE
    meant = f"loader: {fitting}" if fitting is not None else "the loader that reads it, or module:fn"
    return f"{suffix} is no suffix of loader {loader!r}: set {meant} in the suite file, or {_REPLACE}"
