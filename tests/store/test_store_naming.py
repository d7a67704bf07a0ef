"""Names from suites and models as names of files and folders."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_modelreg.store.naming import output_name, safe_component

FORBIDDEN = re.compile(r'[<>:"/\\|?*\x00-\x1f]')
ANY_TEXT = st.text(st.characters(), max_size=300)


@pytest.mark.parametrize(
    "name",
    [
        "photo-classifier",
        "reference",
        "torch-1.13",
        "fast-onnx",
        "TestModel",
        "test_x[a-1]",
        "s[reference]",
        "größe",
    ],
)
def test_ordinary_folder_names_stay(name: str) -> None:
    """What people write as suite and variant names is what they find on disk."""
    assert safe_component(name) == name


@pytest.mark.parametrize("path", ["logits", "features.0.pooled", "last_hidden_state", "boxes-2d"])
def test_ordinary_output_paths_stay(path: str) -> None:
    """A golden's files are recognisable by the output path."""
    assert output_name(path) == path


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".",
        "..",
        "../up",
        "a/b",
        "a\\b",
        "C:x",
        "nul",
        "CON",
        "con.txt",
        "com1",
        "a.",
        "a ",
        ".git",
        "x\ny",
        "e\u0301",
    ],
)
def test_dangerous_names_are_hashed(name: str) -> None:
    """Nothing that a system treats specially survives, and no two of them meet."""
    safe = safe_component(name)
    assert safe != name
    assert re.search(r"~[0-9a-f]{16}$", safe)


@given(name=ANY_TEXT)
def test_component_is_valid_everywhere(name: str) -> None:
    """Any string becomes one component that Linux, macOS and Windows accept."""
    safe = safe_component(name)
    assert not FORBIDDEN.search(safe)
    assert 0 < len(safe) <= 80
    assert len(safe.encode()) <= 200
    assert safe[0] not in ". "
    assert safe[-1] not in ". "
    assert not re.fullmatch(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", safe.casefold())


@given(one=ANY_TEXT, other=ANY_TEXT)
def test_output_names_never_meet(one: str, other: str) -> None:
    """Two output paths get two names, also where file systems ignore case."""
    assert (output_name(one).casefold() == output_name(other).casefold()) == (one == other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Logits", "logits"),
        ("a/b", "a_b"),
        ("a b", "a_b"),
        ("x" * 300, "x" * 301),
        ("", "~"),
        ("é", "e\u0301"),
    ],
)
def test_look_alike_output_paths_are_told_apart(one: str, other: str) -> None:
    """Planted look-alikes: case, separators, length, composition."""
    assert output_name(one).casefold() != output_name(other).casefold()


@given(path=ANY_TEXT)
def test_output_name_is_ascii_and_bounded(path: str) -> None:
    """File names need no encoding and fit every file system."""
    assert re.fullmatch(r"[A-Za-z0-9_.\-~]{1,80}", output_name(path))
