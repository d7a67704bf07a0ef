"""The packages of an environment, as written: checked, and brought to one spelling.

What belongs here: what may be written. Only what names the same files tomorrow: an environment is built
once and found again by this list, so that a file or folder which changes behind it would go unnoticed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import urlsplit

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from pytest_modelreg.domain.errors import EnvironmentUnavailable

_WHEELS = "build a wheel of it and name its folder in PIP_FIND_LINKS"
_ADVICE = {
    "-r": "an option, and files with requirements are not followed; write what it lists here",
    "-c": "an option; write the versions here",
    "-e": f"an option, and what changes cannot be kept: name its folder in python_path, or {_WHEELS}",
}
_OPTION = (
    "an option; those belong to the installer's own configuration, such as PIP_INDEX_URL, PIP_FIND_LINKS or "
    "pip.conf"
)
_LONG = {"--requirement": "-r", "--constraint": "-c", "--editable": "-e"}


def normalise_requirements(written: Sequence[str]) -> tuple[str, ...]:
    """Return requirements in one spelling and order, each once.

    Allowed is what pip calls a requirement specifier: ``torch==2.13.0``,
    ``name[extra]>=1,<2; python_version < "3.12"``, ``name @ https://...``, ``name @ git+https://...@rev``.

    Raises
    ------
    EnvironmentUnavailable
        When some are none of these; all of them are named.
    """
    faults, found = [], set()
    for text in written:
        try:
            found.add(_normalise(text.strip()))
        except ValueError as error:
            faults.append(f"requirements: expected a package such as torch==2.13.0, got {text!r}: {error}")
    if faults:
        raise EnvironmentUnavailable("\n".join(faults))
    return tuple(sorted(found))


def _normalise(text: str) -> str:
    if text.startswith("-"):
        option = re.split(r"[\s=]", text, maxsplit=1)[0]
        short = _LONG.get(option, option if option.startswith("--") else option[:2])
        raise ValueError(_ADVICE.get(short, _OPTION))
    looks_like_file = re.match(r"[./\\~]|[A-Za-z]:[\\/]", text) or text.endswith((".whl", ".tar.gz", ".zip"))
    if looks_like_file and "://" not in text:
        raise ValueError(f"a file, which may change without its name; {_WHEELS}")
    if re.match(r"[a-z+]+://", text):
        raise ValueError("a URL without the package's name; write `name @ URL`")
    try:
        requirement = Requirement(text)
    except InvalidRequirement as error:
        raise ValueError(str(error).splitlines()[0]) from error
    if requirement.url is not None:
        _check_url(requirement.url)
    extras = ",".join(sorted(canonicalize_name(extra) for extra in requirement.extras))
    name = canonicalize_name(requirement.name) + (f"[{extras}]" if extras else "")
    versions = ",".join(sorted(str(one) for one in requirement.specifier))
    place = f" @ {requirement.url} " if requirement.url else ""
    marker = f"; {requirement.marker}" if requirement.marker else ""
    return f"{name}{versions}{place}{marker}".strip()


def _check_url(url: str) -> None:
    parts = urlsplit(url)
    if parts.scheme in ("", "file") or parts.scheme.endswith("+file"):
        raise ValueError(f"a file, which may change without its name; {_WHEELS}")
    # Requirements stand in goldens, reports and messages.
    is_web = parts.scheme.endswith(("http", "https"))  # git+ssh://git@host names nobody
    if parts.password or (is_web and parts.username):
        raise ValueError("a URL with a name or password in it; write those to ~/.netrc")
