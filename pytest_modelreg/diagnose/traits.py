"""What some samples have in common that the others have not.

What belongs here: traits read from a sample's file, its tags and its label, and picking the one that
tells the affected samples from the rest. To add one, add it to :func:`_list_traits`. Pillow is imported
inside the function that reads a header.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

UPRIGHT = 1
"""The EXIF orientation that asks for no turn."""

_ORIENTATION_TAG = 274
_NEARLY_ALL = 0.9
_NEARLY_NONE = 0.1
_SIZES_PX = (64, 128, 256, 512, 1024, 2048)
_ELONGATED = 2.0
_LARGE_BYTES = (1 << 16, 1 << 20, 10 << 20)


def find_common_trait(
    files: Mapping[str, Path],
    affected: Sequence[str],
    *,
    tags: Mapping[str, Sequence[str]] | None = None,
    labels: Mapping[str, str] | None = None,
) -> str | None:
    """Return a trait that all affected samples have and nearly no other has.

    Parameters
    ----------
    files : mapping of str to Path
        Every sample's file by id; samples without one may be missing.
    affected : sequence of str
        Ids.
    tags, labels : mapping, optional
        By id.

    Returns
    -------
    str or None
        As a sentence takes it after "samples with": ``image mode P``. None where all samples are
        affected, or none, or no trait tells them apart.
    """
    tags, labels = tags or {}, labels or {}
    ids = dict.fromkeys([*files, *tags, *labels, *affected])
    inside = set(affected)
    if not inside or len(inside) == len(ids):
        return None
    traits = {name: _list_traits(files.get(name), tags.get(name, ()), labels.get(name)) for name in ids}
    candidates = dict.fromkeys(trait for name in affected for trait in traits[name])
    rated = []
    for order, trait in enumerate(candidates):
        has = {name for name in ids if trait in traits[name]}
        missed = len(inside - has) / len(inside)
        extra = len(has - inside) / len(ids.keys() - inside)
        if missed <= 0.0 and extra <= _NEARLY_NONE:
            rated.append((extra, order, trait))
    if rated:
        return min(rated)[2]
    return _find_alternatives(ids, inside, traits)


def _find_alternatives(
    ids: Mapping[str, None], inside: set[str], traits: Mapping[str, Sequence[str]]
) -> str | None:
    """Return two or three traits of one kind that cover the affected samples between them."""
    kinds = dict.fromkeys(trait.rsplit(" ", 1)[0] for name in inside for trait in traits[name])
    for kind in kinds:
        values = dict.fromkeys(
            trait for name in sorted(inside) for trait in traits[name] if trait.rsplit(" ", 1)[0] == kind
        )
        pure = [
            value for value in values if not any(value in traits[name] for name in ids if name not in inside)
        ]
        covered = {name for name in inside if any(value in traits[name] for value in pure)}
        if 1 < len(pure) <= 3 and len(covered) >= _NEARLY_ALL * len(inside):
            words = sorted(value.rsplit(" ", 1)[1] for value in pure)
            return f"{kind} {', '.join(words[:-1])} or {words[-1]}"
    return None


def _list_traits(file: Path | None, tags: Sequence[str], label: str | None) -> list[str]:
    """Return the traits of a sample, the most telling first."""
    found = [f"tag {tag}" for tag in tags]
    if file is not None:
        found += _read_image_traits(file)
        found.append(f"file type {file.suffix.lower() or 'none'}")
        found += _read_size_traits(file)
    if label is not None:
        found.append(f"label {label}")
    return found


def _read_size_traits(file: Path) -> list[str]:
    try:
        n_bytes = file.stat().st_size
    except OSError:
        return []
    return [f"files over {limit >> 10} KiB" for limit in _LARGE_BYTES if n_bytes > limit]


def _read_image_traits(file: Path) -> list[str]:
    header = _read_header(file)
    if header is None:
        return []
    mode, width, height, orientation, has_transparency = header
    found = []
    if orientation != UPRIGHT:
        found += ["an EXIF orientation other than upright", f"EXIF orientation {orientation}"]
    if mode.startswith("I;16") or mode == "I":
        found.append("16 bits a channel")
    if has_transparency:
        found.append("transparency")
    found.append(f"image mode {mode}")
    if mode in ("L", "LA", "1"):
        found.append("no colour")
    found.append("square shape" if width == height else "a shape other than square")
    if max(width, height) >= _ELONGATED * min(width, height):
        found.append("one side at least twice the other")
    found.append("portrait shape" if height > width else "landscape shape")
    found += [f"a short side under {limit} px" for limit in _SIZES_PX if min(width, height) < limit]
    found += [f"a long side over {limit} px" for limit in reversed(_SIZES_PX) if max(width, height) > limit]
    return found


def read_orientations(files: Mapping[str, Path]) -> dict[str, int]:
    """Return the EXIF orientations, 1 for upright, of the files that are images which Pillow reads."""
    headers = {name: _read_header(file) for name, file in files.items()}
    return {name: header[3] for name, header in headers.items() if header is not None}


def _read_header(file: Path) -> tuple[str, int, int, int, bool] | None:
    """Return mode, width, height, EXIF orientation and whether it is transparent, without decoding."""
    try:
        from PIL import Image
    except ImportError:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(file) as image:
                orientation = int(image.getexif().get(_ORIENTATION_TAG, UPRIGHT) or UPRIGHT)
                transparent = image.mode in ("LA", "PA", "RGBA") or "transparency" in image.info
                return image.mode, image.width, image.height, orientation, transparent
    except (OSError, SyntaxError, ValueError, EOFError, TypeError, Image.DecompressionBombError):
        # What Pillow raises on files that are no images, or damaged ones.
        return None
