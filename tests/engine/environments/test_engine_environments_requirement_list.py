"""Requirements as written: one spelling for what is the same, and what may not be written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_modelreg.domain.errors import EnvironmentUnavailable
from pytest_modelreg.engine.environments.requirement_list import normalise_requirements

ALLOWED = {
    "torch": "torch",
    " Torch == 2.13.0 ": "torch==2.13.0",
    "torch>=2,<3": "torch<3,>=2",
    "My_Package.x [B, a]": "my-package-x[a,b]",
    "numpy<2;python_version<'3.12'": 'numpy<2; python_version < "3.12"',
    "x @ https://example.org/x-1.whl": "x @ https://example.org/x-1.whl",
    "x @ git+https://example.org/x.git@abc": "x @ git+https://example.org/x.git@abc",
    "x @ git+ssh://git@example.org/x.git": "x @ git+ssh://git@example.org/x.git",
    "x @ https://example.org/x-1.whl ; os_name=='nt'": 'x @ https://example.org/x-1.whl ; os_name == "nt"',
}

REFUSED = {
    "-r old.txt": "files with requirements are not followed",
    "--requirement=old.txt": "files with requirements are not followed",
    "-rold.txt": "files with requirements are not followed",
    "-c limits.txt": "write the versions here",
    "-e .": "name its folder in python_path",
    "--editable .": "name its folder in python_path",
    "--index-url https://example.org": "PIP_INDEX_URL",
    "--extra-index-url=https://example.org": "PIP_INDEX_URL",
    "-i x": "PIP_INDEX_URL",
    ".": "may change without its name",
    "./package": "may change without its name",
    "../package": "may change without its name",
    "/opt/torch-2.whl": "may change without its name",
    "C:\\wheels\\x": "may change without its name",
    "torch-2.whl": "may change without its name",
    "x @ file:///opt/x.whl": "may change without its name",
    "x @ git+file:///opt/x": "may change without its name",
    "https://example.org/x.whl": "write `name @ URL`",
    "git+https://example.org/x": "write `name @ URL`",
    "x @ https://me:secret@example.org/x.whl": "~/.netrc",
    "x @ https://token@example.org/x.whl": "~/.netrc",
    "x @ git+https://token@example.org/x.git": "~/.netrc",
    "torch = 2": "",
    "torch==": "",
    "": "",
    "# torch": "",
    "a\nb": "",
}


@pytest.mark.parametrize("written", ALLOWED)
def test_a_requirement_has_one_spelling(written) -> None:
    """Which pip reads as it reads the one that was written."""
    assert normalise_requirements([written]) == (ALLOWED[written],)
    assert normalise_requirements([ALLOWED[written]]) == (ALLOWED[written],)


@pytest.mark.parametrize("written", REFUSED)
def test_what_names_other_files_tomorrow_is_refused(written) -> None:
    """With what to write instead."""
    with pytest.raises(EnvironmentUnavailable) as caught:
        normalise_requirements([written])
    assert str(caught.value).startswith(
        f"requirements: expected a package such as torch==2.13.0, got {written!r}: "
    )
    assert REFUSED[written] in str(caught.value)


def test_all_that_is_refused_is_named_at_once() -> None:
    """One line each."""
    with pytest.raises(EnvironmentUnavailable) as caught:
        normalise_requirements(["-e .", "torch", "./x"])
    lines = str(caught.value).splitlines()
    assert [line.split("got ")[1].split(":")[0] for line in lines] == ["'-e .'", "'./x'"]


@given(st.permutations([*ALLOWED, "Torch==2.13.0"]))
def test_order_and_repetition_make_no_difference(written) -> None:
    """A set of requirements is one environment."""
    assert normalise_requirements(written) == normalise_requirements(list(ALLOWED))
