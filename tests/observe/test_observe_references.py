"""References: what cannot be resolved is said with the place and the nearest name."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from pytest_modelreg.domain.errors import ImportReferenceError
from pytest_modelreg.observe.imports import suite_imports
from pytest_modelreg.observe.references import resolve_references

MODULE = """
class Factory:
    @staticmethod
    def build():
        return "built"

STAGES = [len, str]
NUMBER = 3
"""

_numbers = itertools.count()


@pytest.fixture
def resolve(tmp_path: Path):
    """Resolve references against modules written into a fresh folder."""

    def resolve_with(references: dict[str, str], **files: str):
        folder = tmp_path / f"suite{next(_numbers)}"
        folder.mkdir()
        for name, text in {"mrref": MODULE, **files}.items():
            path = folder / f"{name.replace('__', '/')}.py"
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
            if path.parent != folder:
                (path.parent / "__init__.py").touch()
        with suite_imports([str(folder)]) as suite:
            return resolve_references(references, case="toy[reference]", folders=suite.folders)

    return resolve_with


def test_dotted_attributes_are_followed(resolve):
    """A static method of a class is a fine factory."""
    assert resolve({"model": "mrref:Factory.build"})["model"]() == "built"


def test_a_list_of_stages_is_allowed_for_preprocess_only(resolve):
    """preprocess may be stages; a model that is a list is a mistake."""
    assert resolve({"preprocess": "mrref:STAGES"})["preprocess"] == [len, str]
    with pytest.raises(ImportReferenceError, match="expected something callable, got list"):
        resolve({"model": "mrref:STAGES"})


def test_a_stage_that_is_not_callable_is_named(resolve):
    """The index leads to the stage."""
    with pytest.raises(ImportReferenceError, match="stage 2 is int"):
        resolve({"preprocess": "mrstages:STAGES"}, mrstages="STAGES = [len, 3]\n")


def test_a_value_that_is_not_callable_says_what_it_is(resolve):
    """A number is no factory."""
    with pytest.raises(ImportReferenceError, match="expected something callable, got int 3"):
        resolve({"model": "mrref:NUMBER"})


def test_a_missing_attribute_names_the_nearest_and_the_file(resolve):
    """The user sees which file was really imported."""
    with pytest.raises(
        ImportReferenceError, match=r"no attribute 'Factori' \(did you mean Factory\?\).*mrref.py"
    ):
        resolve({"model": "mrref:Factori.build"})


def test_a_missing_module_names_the_nearest_and_the_folders(resolve, tmp_path):
    """The user sees where was searched."""
    with pytest.raises(ImportReferenceError) as caught:
        resolve({"model": "mrreff:build"})
    assert "no module 'mrreff' (did you mean mrref?)" in str(caught.value)
    assert str(tmp_path) in str(caught.value)


def test_a_missing_submodule_names_the_nearest(resolve):
    """shop.modls is looked up among the modules of shop, and proposed as it is to be written."""
    with pytest.raises(
        ImportReferenceError, match=r"no module 'mrshop2.modls' \(did you mean mrshop2\.models\?\)"
    ):
        resolve({"model": "mrshop2.modls:build"}, mrshop2__models="")


def test_a_submodule_of_a_module_says_so(resolve):
    """A file is no package."""
    with pytest.raises(ImportReferenceError, match="'mrref' is a module, not a package"):
        resolve({"model": "mrref.models:build"})


def test_an_import_error_inside_user_code_names_their_line(resolve):
    """A module that they import and do not have is not ours to be missing."""
    with pytest.raises(ImportReferenceError) as caught:
        resolve({"model": "mrbroken:build"}, mrbroken="\n\nimport mr_not_there\n")
    message = str(caught.value)
    assert "model: 'mrbroken:build'" in message
    assert "ModuleNotFoundError: No module named 'mr_not_there'" in message
    assert "mrbroken.py:3" in message


def test_any_exception_at_import_is_told(resolve):
    """Also one that a factory module raises on purpose, and exit()."""
    with pytest.raises(ImportReferenceError, match=r"RuntimeError: no GPU.*mrgpu.py:1"):
        resolve({"model": "mrgpu:build"}, mrgpu="raise RuntimeError('no GPU')\n")
    with pytest.raises(ImportReferenceError, match="SystemExit"):
        resolve({"model": "mrexit:build"}, mrexit="raise SystemExit(2)\n")


def test_a_syntax_error_names_file_and_line(resolve):
    """The place is in the file that does not parse, not in importlib."""
    with pytest.raises(ImportReferenceError, match=r"SyntaxError: .*mrsyntax.py:2"):
        resolve({"model": "mrsyntax:build"}, mrsyntax="x = 1\ndef (:\n")


@pytest.mark.parametrize("reference", ["mrref", "mrref:", ":build", ""])
def test_a_reference_of_another_form_shows_the_form(resolve, reference):
    """module:attr is shown by example."""
    with pytest.raises(ImportReferenceError, match="expected module:attr, as in"):
        resolve({"model": reference})
