"""What the text of a Python file names besides modules."""

from __future__ import annotations

from pathlib import Path

from pytest_modelreg.observe.python_source import Source, read_source


def read(tmp_path: Path, text: str) -> Source:
    """Return what a file of this text says."""
    path = tmp_path / "code.py"
    path.write_text(text)
    return read_source(str(path))


def test_variables_are_read_in_every_usual_way(tmp_path: Path):
    """By subscript, by method, by function, and asked for."""
    text = """
import os
from os import environ, getenv
a = os.environ["A"]
b = os.environ.get("B", "1")
c = os.getenv("C")
d = getenv("D")
e = environ["E"]
f = "F" in os.environ
"""
    assert read(tmp_path, text).variables == {"A", "B", "C", "D", "E", "F"}


def test_a_dictionary_of_another_name_is_no_environment(tmp_path: Path):
    """Just inside: the same calls, and a name that is worked out."""
    text = "import os\nx = settings.get('A')\ny = settings['B']\nz = os.environ[prefix + 'C']\n"
    assert read(tmp_path, text).variables == frozenset()


def test_texts_are_kept_whole_and_by_their_last_part(tmp_path: Path):
    """Where a file is, its path says; whether a changed file is meant, its name."""
    found = read(tmp_path, "x = 'conf/pre.json'\ny = 'a\\nb.json'\n")
    assert found.texts == {"conf/pre.json"}
    assert found.file_names == {"pre.json"}
