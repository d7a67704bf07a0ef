"""Every picture of a page once, however often it is shown."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass

from pytest_modelreg.domain.exhibit import Picture


@dataclass(frozen=True, kw_only=True)
class ShelvedPicture:
    """A picture of the page, shown wherever its id is used.

    Parameters
    ----------
    source : str
        The file itself, as a ``data:`` address.
    """

    id: str
    width: int
    height: int
    source: str


class PictureShelf:
    """Pictures by their content, as many as may be embedded.

    Parameters
    ----------
    most_bytes : int
        What they may weigh together; those that come later have no place.
    """

    def __init__(self, most_bytes: int) -> None:
        self._left_bytes = most_bytes
        self._found: dict[bytes, ShelvedPicture] = {}

    def add(self, picture: Picture | None) -> ShelvedPicture | None:
        """Return the picture of the page; None where there is none, or no place left."""
        if picture is None:
            return None
        key = hashlib.sha256(picture.data).digest()
        if key not in self._found:
            if len(picture.data) > self._left_bytes:
                return None
            self._left_bytes -= len(picture.data)
            data = base64.b64encode(picture.data).decode("ascii")
            self._found[key] = ShelvedPicture(
                id=f"p{len(self._found)}",
                width=picture.width,
                height=picture.height,
                source=f"data:{picture.media_type};base64,{data}",
            )
        return self._found[key]

    @property
    def pictures(self) -> list[ShelvedPicture]:
        """All of them, in the order in which they came."""
        return list(self._found.values())
