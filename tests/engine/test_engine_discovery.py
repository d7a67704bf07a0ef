"""Suite files are found by name, each once, and not where nobody keeps suites."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_modelreg.domain.errors import UsageFault
from pytest_modelreg.engine.discovery import find_suites, is_suite_file


def nothing_ignored(path: Path) -> bool:
    """Pass nothing over."""
    return False


def make(root: Path, *files: str) -> None:
    """Create empty files."""
    for file in files:
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).touch()


def found_below(root: Path, *paths: Path) -> list[str]:
    """Return what is found, relative to the root."""
    found = find_suites(paths or (root,), ignored=nothing_ignored)
    return [path.relative_to(root).as_posix() for path in found]


@pytest.mark.parametrize("name", ["modelreg.yaml", "photos.modelreg.yaml", "a.b.modelreg.yaml"])
def test_names_of_suite_files(name):
    """The usual name, or with a prefix."""
    assert is_suite_file(Path("somewhere") / name)


@pytest.mark.parametrize(
    "name", ["modelreg.yml", "xmodelreg.yaml", ".modelreg.yaml", "modelreg.yaml.bak", "Modelreg.yaml"]
)
def test_names_of_other_files(name):
    """What only looks alike, and hidden files."""
    assert not is_suite_file(Path(name))


def test_suites_are_found_below_folders_and_sorted(tmp_path):
    """At any depth."""
    make(tmp_path, "z/modelreg.yaml", "a/b/c/x.modelreg.yaml", "modelreg.yaml", "a/test_x.py")
    assert found_below(tmp_path) == ["a/b/c/x.modelreg.yaml", "modelreg.yaml", "z/modelreg.yaml"]


def test_named_file_is_found_and_others_are_not(tmp_path):
    """A test file among the arguments is no suite, and brings none with it."""
    make(tmp_path, "modelreg.yaml", "test_x.py")
    assert found_below(tmp_path, tmp_path / "modelreg.yaml", tmp_path / "test_x.py") == ["modelreg.yaml"]
    assert found_below(tmp_path, tmp_path / "test_x.py") == []


def test_no_path_finds_nothing(tmp_path):
    """An empty list is not the working directory."""
    assert find_suites([], ignored=nothing_ignored) == []


@pytest.mark.parametrize("folder", [".hidden", ".modelreg/runs/1", "node_modules/x", "__pycache__", ".venv"])
def test_folders_of_tools_are_passed_over(tmp_path, folder):
    """Run folders, caches and installed packages hold copies of other people's suites."""
    make(tmp_path, f"{folder}/modelreg.yaml", "sub/modelreg.yaml")
    assert found_below(tmp_path) == ["sub/modelreg.yaml"]


def test_virtual_environment_is_passed_over_by_its_mark(tmp_path):
    """Whatever its name is."""
    make(tmp_path, "env/pyvenv.cfg", "env/lib/modelreg.yaml")
    assert found_below(tmp_path) == []


def test_folder_that_is_named_is_looked_into(tmp_path):
    """A path that somebody writes down is meant."""
    make(tmp_path, ".hidden/modelreg.yaml")
    assert found_below(tmp_path, tmp_path / ".hidden") == [".hidden/modelreg.yaml"]


def test_ignored_files_and_folders_are_passed_over(tmp_path):
    """pytest's own rules for what to collect hold here too; a folder's are asked before it is read."""
    make(tmp_path, "a/modelreg.yaml", "b/c/modelreg.yaml", "d/modelreg.yaml")
    asked = []

    def ignored(path: Path) -> bool:
        asked.append(path)
        return path.name == "b" or path.parent.name == "d"

    assert find_suites([tmp_path], ignored=ignored) == [tmp_path / "a" / "modelreg.yaml"]
    assert tmp_path / "b" / "c" not in asked


def test_path_named_twice_is_one_suite(tmp_path):
    """Also when one path lies inside another, or is written differently."""
    make(tmp_path, "a/modelreg.yaml")
    paths = [tmp_path, tmp_path / "a", tmp_path / "a" / "modelreg.yaml", tmp_path / "a" / ".." / "a"]
    assert found_below(tmp_path, *paths) == ["a/modelreg.yaml"]


def test_loop_of_links_ends(tmp_path):
    """A link to a parent folder is not walked again."""
    make(tmp_path, "a/modelreg.yaml")
    (tmp_path / "a" / "up").symlink_to(tmp_path)
    (tmp_path / "a" / "self").symlink_to("self")
    assert found_below(tmp_path) == ["a/modelreg.yaml"]


def test_suite_behind_a_link_is_listed_where_it_is(tmp_path):
    """One suite, not two that fight over one golden."""
    make(tmp_path, "z/modelreg.yaml")
    (tmp_path / "a").symlink_to(tmp_path / "z")
    (tmp_path / "b.modelreg.yaml").symlink_to(tmp_path / "z" / "modelreg.yaml")
    assert found_below(tmp_path) == ["z/modelreg.yaml"]


def test_suite_that_only_a_link_leads_to_is_found(tmp_path):
    """A shared folder of suites may be linked into a project."""
    make(tmp_path, "shared/modelreg.yaml", "project/x.txt")
    (tmp_path / "project" / "suites").symlink_to(tmp_path / "shared")
    assert found_below(tmp_path, tmp_path / "project") == ["project/suites/modelreg.yaml"]


def test_folder_named_like_a_suite_is_a_folder(tmp_path):
    """It is looked into, not loaded."""
    make(tmp_path, "modelreg.yaml/x.modelreg.yaml")
    assert found_below(tmp_path) == ["modelreg.yaml/x.modelreg.yaml"]


def test_absent_path_is_a_usage_fault(tmp_path):
    """A mistyped path must not look like a project without suites."""
    with pytest.raises(UsageFault, match=r"expected an existing file or folder, found none at .*nope"):
        find_suites([tmp_path, tmp_path / "nope"], ignored=nothing_ignored)


def test_relative_paths_give_absolute_ones(tmp_path, monkeypatch):
    """What is found means the same from everywhere."""
    make(tmp_path, "a/modelreg.yaml")
    monkeypatch.chdir(tmp_path)
    assert find_suites([Path("a")], ignored=nothing_ignored) == [tmp_path / "a" / "modelreg.yaml"]
