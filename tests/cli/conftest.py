"""What tests of commands share: frameworks that are loaded once, and a command typed in this process."""

from __future__ import annotations

import importlib
import re
import sys
import tempfile
from contextlib import suppress

import pytest

from pytest_modelreg.cli.command import main


@pytest.fixture(autouse=True, scope="session")
def loaded_frameworks() -> None:
    """Load torch and Pillow before any test: what pytester forgets after one breaks when loaded again."""
    for name in ("torch", "PIL.Image"):
        with suppress(ImportError):
            importlib.import_module(name)


@pytest.fixture
def command(project, capsys, monkeypatch, tmp_path_factory):
    """Return a function that runs the command in this process: its exit code and what it printed."""
    scratch = tmp_path_factory.mktemp("temp")
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))

    def run(*arguments):
        for name in ("toydata", "toymodel"):
            sys.modules.pop(name, None)
        capsys.readouterr()
        try:
            code = main(["precheck", *arguments])
        except SystemExit as end:
            code = end.code
        printed = capsys.readouterr()
        assert list(scratch.iterdir()) == [], "files were left in the folder for temporary ones"
        # How many threads the recording process had is no matter of these tests.
        return int(code), re.sub(r"environment differs \(.*?\); ", "", printed.out), printed.err

    yield run
    for name in ("toydata", "toymodel"):
        sys.modules.pop(name, None)
