"""A scaffolded suite loads, says what it guessed, and never replaces one that is there."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_modelreg.domain.errors import UsageFault
from pytest_modelreg.engine.scaffold import LOADER_SUFFIXES, _quote, guess_loader, write_suite
from pytest_modelreg.engine.suite import Suite
from pytest_modelreg.engine.suite_file.document import parse_document
from pytest_modelreg.engine.suite_file.fault import FaultLog
from pytest_modelreg.engine.suite_loading import load_suite
from pytest_modelreg.observe import LOADERS


def scaffold(folder: Path, **changes) -> Suite:
    """Write a suite and load it."""
    arguments = {
        "model": "shop.models:build",
        "preprocess": "shop.data:prepare",
        "samples": folder / "samples",
        "checkpoint": None,
    }
    return load_suite(write_suite(folder, **{**arguments, **changes}), rootdir=folder)


@pytest.fixture
def project(tmp_path):
    """A project folder with photos."""
    folder = tmp_path / "photo-shop"
    (folder / "samples").mkdir(parents=True)
    for name in ("a.jpg", "b.PNG", "README.md"):
        (folder / "samples" / name).touch()
    return folder


def test_scaffolded_suite_has_what_was_asked_for(project):
    """The arguments, the folder's name and the guessed loader."""
    (project / "w.safetensors").touch()
    suite = scaffold(project, checkpoint=project / "w.safetensors")
    case = suite.cases[0]
    assert (suite.name, suite.model, case.template.preprocess) == (
        "photo-shop",
        "shop.models:build",
        "shop.data:prepare",
    )
    assert (case.template.loader, suite.samples.place) == ("image", project / "samples")
    assert case.template.checkpoint is not None
    assert case.template.checkpoint.path == str(project / "w.safetensors")


def test_every_loader_is_named_in_the_file_and_only_those_are_guessed(project):
    """The comment beside the guess says what else there is."""
    scaffold(project)
    comment = f"# {' | '.join(LOADERS)} | module:fn"
    assert comment in (project / "modelreg.yaml").read_text()
    assert LOADER_SUFFIXES.keys() <= LOADERS.keys()


def test_paths_are_written_relative_to_the_file(project, monkeypatch):
    """The suite works in another clone; the command was run in another folder."""
    monkeypatch.chdir(project.parent)
    scaffold(project, samples=Path("photo-shop/samples"))
    text = (project / "modelreg.yaml").read_text()
    assert "folder: samples\n" in text
    assert str(project) not in text


def test_suite_that_is_there_is_never_replaced(project):
    """init run twice must not cost the edits in between."""
    (project / "modelreg.yaml").write_text("mine")
    with pytest.raises(UsageFault, match=r"expected no modelreg\.yaml in .*, found one"):
        scaffold(project)
    assert (project / "modelreg.yaml").read_text() == "mine"


def test_unusable_arguments_are_named_by_flag_all_at_once(project):
    """Nothing is written, and no message speaks of lines of a file that is not there."""
    with pytest.raises(UsageFault) as caught:
        scaffold(project, model="shop.models.build", preprocess="x", checkpoint=project / "w.bin", name="a/b")
    assert [line.split(": ")[0] for line in str(caught.value).split("\n")] == [
        "--name",
        "--model",
        "--checkpoint",
        "--preprocess",
    ]
    assert not (project / "modelreg.yaml").exists()


def test_absent_samples_are_named(project):
    """The folder has to be there before it is pinned."""
    with pytest.raises(UsageFault, match="--samples: expected a folder of sample files"):
        scaffold(project, samples=project / "nope")


@pytest.mark.parametrize(
    ("files", "loader"),
    [
        (["a.jpg", "b.jpeg", "sub/c.webp", "samples.csv", "README.txt.md"], "image"),
        (["a.npy", "b.npz"], "array"),
        (["a.txt"], "text"),
        (["a.json"], "json"),
        (["a.wav"], "path"),
        (["a.jpg", "b.txt"], "path"),
        ([], "path"),
    ],
)
def test_loader_is_guessed_from_the_files(tmp_path, files, loader):
    """One kind of file has its loader; several, or an unknown one, are handed on as paths."""
    for file in files:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).touch()
    assert guess_loader(tmp_path) == loader


@pytest.mark.parametrize(
    ("folder", "name"),
    [
        ("py", "model"),
        ("[x]", "x"),
        ("2024", "2024"),
        ("a b=c", "a-b-c"),
        ("off", "off"),
        ("größe", "größe"),
        ("===", "model"),
    ],
)
def test_name_comes_from_the_folder_and_is_usable(tmp_path, folder, name):
    """Any folder can be scaffolded without --name."""
    (tmp_path / folder / "samples").mkdir(parents=True)
    assert scaffold(tmp_path / folder).name == name


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_any_text_is_read_back_as_it_was_written(text):
    """A path with quotes, colons or hashes does not change what the file says."""
    log = FaultLog("suite.yaml")
    assert parse_document(f"key: {_quote(text)}  # comment\n", log).data == {"key": text}
    assert log.faults == ()
