"""Which installer builds an environment, and how it is called."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from pytest_modelreg.engine.environments import installer
from pytest_modelreg.engine.environments.installer import Installer, choose_installer


def test_without_uv_it_is_pip(monkeypatch, tmp_path) -> None:
    """A folder without programs is all of PATH."""
    monkeypatch.setenv("PATH", str(tmp_path))
    assert choose_installer(sys.executable) == Installer(name="pip")


def test_uv_is_taken_where_it_is(uv_log, tmp_path) -> None:
    """By its absolute path."""
    assert choose_installer(sys.executable) == Installer(name="uv", program=str(tmp_path / "scripts" / "uv"))


@pytest.mark.parametrize("name", ["PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "PIP_NO_INDEX"])
def test_where_pip_alone_is_told_its_sources_it_is_pip(uv_log, monkeypatch, name) -> None:
    """Of which uv knows nothing: it would install from elsewhere."""
    monkeypatch.setenv(name, "x")
    option = name.removeprefix("PIP_").replace("_", "-").lower()
    expected = Installer(name="pip", reason=f"pip's configuration, {option}, is none of uv's")
    assert choose_installer(sys.executable) == expected


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("global.timeout='9'", "uv"),
        ("freeze.all='index-url='", "uv"),
        ("global.index-url='https://example.org'", "pip"),
        ("install.find-links='/opt/wheels'", "pip"),
    ],
)
def test_a_configuration_file_of_pips_counts(uv_log, monkeypatch, make_script, line, name) -> None:
    """Whatever section its sources are in, as `pip config list` shows them; other settings do not count."""
    pip = make_script(f'#!/bin/sh\n[ "$*" = "-m pip config list" ] && echo "{line}"\n')
    monkeypatch.setattr(installer.sys, "executable", pip)
    assert choose_installer("/nowhere/python").name == name


@pytest.mark.parametrize("name", ["UV_INDEX_URL", "UV_DEFAULT_INDEX", "UV_FIND_LINKS"])
def test_where_uv_is_told_as_well_it_is_uv(uv_log, monkeypatch, name) -> None:
    """Whoever set both knows what uv needs."""
    monkeypatch.setenv("PIP_INDEX_URL", "x")
    monkeypatch.setenv(name, "y")
    assert choose_installer(sys.executable).name == "uv"


def test_a_configuration_file_of_uvs_counts(uv_log, monkeypatch, tmp_path) -> None:
    """The user's."""
    monkeypatch.setenv("PIP_INDEX_URL", "x")
    file = tmp_path / "home" / ".config" / "uv" / "uv.toml"
    file.parent.mkdir(parents=True)
    file.touch()
    assert choose_installer(sys.executable).name == "uv"


def test_an_interpreter_without_pip_tells_nothing(uv_log, monkeypatch, make_script) -> None:
    """One made by uv; the variables are still known."""
    bare = make_script("#!/bin/sh\necho No module named pip\nexit 1\n")
    monkeypatch.setattr(installer.sys, "executable", bare)
    assert choose_installer(bare).name == "uv"
    monkeypatch.setenv("PIP_INDEX_URL", "x")
    assert choose_installer(bare).name == "pip"


def test_a_requirement_is_never_taken_for_an_option() -> None:
    """Both stop reading options before the first one."""
    for one in (Installer(name="pip"), Installer(name="uv", program="/bin/uv")):
        _, install = one.make_commands("/usr/bin/python3", Path("/cache/x"), ["numpy<2", "torch==2"])
        assert install[-3:] == ["--", "numpy<2", "torch==2"]


def test_settings_that_install_elsewhere_are_taken_away(monkeypatch) -> None:
    """And those that say where from stay."""
    monkeypatch.setenv("PIP_TARGET", "/elsewhere")
    monkeypatch.setenv("PIP_USER", "1")
    monkeypatch.setenv("UV_SYSTEM_PYTHON", "1")
    monkeypatch.setenv("PIP_INDEX_URL", "https://example.org")
    variables = Installer.make_variables()
    assert variables["PIP_USER"] == "0"
    assert variables["PIP_INDEX_URL"] == "https://example.org"
    assert not {"PIP_TARGET", "UV_SYSTEM_PYTHON"} & set(variables)
    assert os.environ["PIP_TARGET"] == "/elsewhere"
