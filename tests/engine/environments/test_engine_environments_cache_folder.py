"""Where environments are kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_modelreg.domain.errors import EnvironmentUnavailable
from pytest_modelreg.engine.environments.cache_folder import find_cache_folder, make_folder


def test_the_cache_is_the_users(tmp_path, monkeypatch) -> None:
    """Where each system keeps such things."""
    home = tmp_path / "home"
    assert find_cache_folder({}, platform="linux") == home / ".cache/pytest-modelreg"
    assert find_cache_folder({}, platform="darwin") == home / "Library/Caches/pytest-modelreg"
    xdg = {"XDG_CACHE_HOME": "/big/cache"}
    assert find_cache_folder(xdg, platform="linux") == Path("/big/cache/pytest-modelreg")
    local = {"LOCALAPPDATA": "/users/me/local"}
    assert find_cache_folder(local, platform="win32") == Path("/users/me/local/pytest-modelreg/Cache")


def test_a_relative_xdg_folder_is_ignored(tmp_path) -> None:
    """As its standard says; it would be in the repository."""
    variables = {"XDG_CACHE_HOME": "cache"}
    assert find_cache_folder(variables, platform="linux") == tmp_path / "home/.cache/pytest-modelreg"


def test_a_variable_names_another_one(tmp_path) -> None:
    """On every system, before all others."""
    variables = {"MODELREG_CACHE": "~/mine", "XDG_CACHE_HOME": "/x", "LOCALAPPDATA": "/y"}
    for platform in ("linux", "darwin", "win32"):
        assert find_cache_folder(variables, platform=platform) == tmp_path / "home/mine"


def test_a_relative_folder_is_refused() -> None:
    """It would be another one in every working directory."""
    with pytest.raises(
        EnvironmentUnavailable, match=r"^MODELREG_CACHE: expected the absolute path .* got mine"
    ):
        find_cache_folder({"MODELREG_CACHE": "mine"})


def test_a_folder_that_cannot_be_made_names_the_variable(tmp_path) -> None:
    """A file is in its place."""
    (tmp_path / "file").touch()
    with pytest.raises(EnvironmentUnavailable) as caught:
        make_folder(tmp_path / "file" / "environments")
    assert str(caught.value) == (
        f"expected a folder to keep environments in, got {tmp_path}/file/environments: Not a directory; set "
        "MODELREG_CACHE to one that can be written"
    )
    make_folder(tmp_path / "a" / "b")
    assert (tmp_path / "a" / "b").is_dir()
