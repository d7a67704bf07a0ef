"""Commands of README and docs: every flag and every command that a page names is one that there is."""

from __future__ import annotations

import argparse
import importlib
import re
import shlex
from pathlib import Path

import pytest

from pytest_modelreg.cli.command import COMMANDS
from pytest_modelreg.plugin.options import add_options

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "examples").rglob("*.md")),
]
CONSOLE = re.compile(r"```console\n(.*?)```", re.S)


def list_lines() -> list[tuple[str, str]]:
    """Return every line behind a prompt with its page, continued lines joined."""
    found = []
    for page in PAGES:
        for block in CONSOLE.findall(page.read_text(encoding="utf-8")):
            joined = block.replace("\\\n", " ")
            lines = [line[2:] for line in joined.splitlines() if line.startswith("$ ")]
            found += [(page.relative_to(ROOT).as_posix(), line) for line in lines]
    return found


LINES = list_lines()


def split(line: str) -> list[str]:
    """Return the words of the last simple command of a line, without comments and assignments."""
    if line.count('"') % 2:  # a string that goes on in the next line
        return []
    words = shlex.split(line, comments=True)
    for separator in ("&&", "|", ">", "2>&1"):
        if separator in words:
            words = words[: words.index(separator)]
    return [word for number, word in enumerate(words) if "=" not in word or number]


@pytest.fixture(scope="module")
def flags() -> set[str]:
    """Return all flags that the plugin adds."""
    parser = pytest.Parser(_ispytest=True)
    add_options(parser)
    return {name for option in parser.getgroup("modelreg").options for name in option.names()}


def test_there_are_lines_to_look_at():
    """A pattern that finds nothing would pass."""
    assert len(LINES) > 50
    assert sum(line.startswith("modelreg") for _, line in LINES) > 20


@pytest.mark.parametrize(("page", "line"), LINES, ids=[f"{page}: {line[:60]}" for page, line in LINES])
def test_line_is_one_that_can_be_typed(page, line, flags):
    """Commands are parsed by their own parsers; of pytest, the flags that are this plugin's."""
    words = split(line)
    if words[:3] == ["python", "-m", "pytest_modelreg"]:
        words = ["modelreg", *words[3:]]
    if words[:1] == ["modelreg"] and len(words) > 1 and not words[1].startswith("-"):
        assert words[1] in COMMANDS
        module = importlib.import_module(f"pytest_modelreg.cli.{words[1]}")
        parser = argparse.ArgumentParser(prog=line, exit_on_error=False, allow_abbrev=False)
        module.add_arguments(parser)
        parser.parse_intermixed_args(words[2:])
    elif "pytest" in words:
        named = {word.partition("=")[0] for word in words if word.startswith("--modelreg")}
        assert named <= flags
