"""The folder that goldens, run folders and the names of Python tests start from.

What belongs here: which folder that is. pytest's own root folder follows the arguments where
no configuration file holds it, the values of options included, so that goldens would move
with them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import pytest

from pytest_modelreg.engine.run import find_marked_folder


def find_base(config: pytest.Config) -> Path:
    """Return pytest's root folder where a configuration file or the user names it, else the project's.

    The project's is the nearest folder, from the tests that were named upwards, that looks like
    one; where there is none, the folder in which pytest was started.
    """
    if config.inipath is not None or config.option.rootdir:
        return Path(config.rootpath)
    return guess_base(list_argument_paths(config), Path(config.invocation_params.dir))


def guess_base(paths: Iterable[Path], start: Path) -> Path:
    """Return the base of a run of these files and folders, started in ``start`` without a configuration."""
    folders = [os.path.abspath(path if path.is_dir() else path.parent) for path in paths]
    try:
        common = Path(os.path.commonpath(folders or [str(start)]))
    except ValueError:  # several drives on Windows
        return start
    return find_marked_folder(common) or start


def list_argument_paths(config: pytest.Config) -> list[Path]:
    """Return the files and folders that pytest was asked to collect from."""
    start = config.invocation_params.dir
    paths = [start / str(argument).split("::", 1)[0] for argument in config.args]
    return [path for path in paths if path.exists()]
