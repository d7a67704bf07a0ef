"""The reference pages, written from the schema, the parsers and the docstrings that they are about.

What belongs here: one function a page. To write them again after a change:
``python docs/reference/generate.py``; a test says when they are behind.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
NOTE = "<!-- Written by docs/reference/generate.py: change what it reads, and run it again. -->\n"


def write_suite_page() -> str:
    """Return the page of ``modelreg.yaml``, from its JSON Schema."""
    from pytest_modelreg.engine.schema import json_schema

    schema = json_schema()
    lines = [
        NOTE,
        "# The suite file, key by key",
        "",
        "From `modelreg schema`, which editors read too. Paths are relative to the file; a key that is not "
        "here is refused.",
    ]
    lines += _describe_block("modelreg.yaml", schema)
    for name, block in sorted(schema["$defs"].items()):
        lines += _describe_block(name.removesuffix("Block").lower(), block)
    return "\n".join([*lines, ""])


def _describe_block(name: str, block: Mapping[str, Any]) -> list[str]:
    properties = block.get("properties", {})
    if not properties:
        return []
    required = set(block.get("required", ()))
    lines = [
        "",
        f"## {name}",
        "",
        block.get("description", ""),
        "",
        "| key | value | what it says |",
        "| --- | --- | --- |",
    ]
    for key, value in properties.items():
        what = value.get("description", "") + (" (required)" if key in required else "")
        default = f"; default `{value['default']}`" if value.get("default") not in (None, {}, []) else ""
        lines.append(f"| `{key}` | {_escape(_name_type(value))} | {_escape(what + default)} |")
    return lines


def _name_type(value: Mapping[str, Any]) -> str:
    if "$ref" in value:
        name = value["$ref"].rpartition("/")[2].removesuffix("Block").lower()
        return f"[{name}](#{name})"
    if "anyOf" in value:
        return ", ".join(dict.fromkeys(_name_type(each) for each in value["anyOf"]))
    if "const" in value:
        return f"`{value['const']}`"
    if "enum" in value:
        return ", ".join(
            f"`{str(each).lower() if isinstance(each, bool) else each}`" for each in value["enum"]
        )
    kind = value.get("type", "any")
    if kind == "array":
        return f"list of {_name_type(value.get('items', {}))}"
    if kind == "object" and isinstance(value.get("additionalProperties"), Mapping):
        return f"mapping to {_name_type(value['additionalProperties'])}"
    return str(kind)


def _escape(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")


def write_commands_page() -> str:
    """Return the page of all commands and flags, from their parsers."""
    import pytest

    from pytest_modelreg.cli.command import COMMANDS, Exit
    from pytest_modelreg.plugin.options import add_options

    lines = [NOTE, "# Commands and flags", "", "| exit code | meaning |", "| --- | --- |"]
    meanings = {
        Exit.OK: "nothing differs, or a regeneration succeeded",
        Exit.DIFFERS: "behaviour differs, or waits for review",
        Exit.USAGE: "bad usage or configuration",
        Exit.COULD_NOT_RUN: "a case could not run",
    }
    lines += [f"| {int(code)} | {meaning} |" for code, meaning in meanings.items()]
    lines += ["", "## pytest", "", "| flag or ini setting | what it does |", "| --- | --- |"]
    parser = pytest.Parser(_ispytest=True)
    add_options(parser)
    for option in parser.getgroup("modelreg").options:
        lines.append(_describe_flag(option.names(), option.attrs()))
    for name, what in COMMANDS.items():
        module = importlib.import_module(f"pytest_modelreg.cli.{name}")
        command = argparse.ArgumentParser(prog=f"modelreg {name}", add_help=False)
        module.add_arguments(command)
        lines += ["", f"## modelreg {name}", "", f"{what[0].upper()}{what[1:]}.", ""]
        actions = command._actions
        if actions:
            lines += ["| argument | what it does |", "| --- | --- |"]
            lines += [_describe_flag(each.option_strings or [each.dest], vars(each)) for each in actions]
    return "\n".join([*lines, ""])


def _describe_flag(names: list[str], attrs: Mapping[str, Any]) -> str:
    metavar = attrs.get("metavar") or ""
    choices = attrs.get("choices")
    if choices:
        metavar = "{" + ",".join(map(str, choices)) + "}"
    told = names if names[0].startswith("-") else [str(metavar or names[0])]
    suffix = f" {metavar}" if names[0].startswith("-") and metavar else ""
    what = str(attrs.get("help") or "").replace("%%", "%")
    return f"| {_escape(', '.join(f'`{name}{suffix}`' for name in told))} | {_escape(what)} |"


def write_python_page() -> str:
    """Return the page of what projects and other packages call or implement, from docstrings."""
    from pytest_modelreg.domain import errors
    from pytest_modelreg.plugin import hooks
    from pytest_modelreg.plugin.values import ValueChecker
    from pytest_modelreg.runtimes import port

    lines = [
        NOTE,
        "# Python",
        "",
        "## The `modelreg` fixture",
        "",
        *_describe(ValueChecker.check, "modelreg.check"),
    ]
    lines += ["", "## Hooks", "", "Implemented in a project's root `conftest.py`, or in a plugin."]
    for name, function in inspect.getmembers(hooks, inspect.isfunction):
        if name.startswith("pytest_modelreg_"):
            lines += ["", *_describe(function, name)]
    lines += ["", "## Runtimes of other packages", ""]
    lines += [
        "A package adds a runtime by an entry point of the group `pytest_modelreg.runtimes` that names a "
        "class:"
    ]
    lines += ["", *_describe(port.Runtime, "Runtime")]
    lines += ["", "## Errors", "", "All below one root; a drift is a verdict and never an exception.", ""]
    lines += list(_draw_tree(errors.ModelRegError, 0))
    return "\n".join([*lines, ""])


def _describe(thing: Any, name: str) -> list[str]:
    signature = str(inspect.signature(thing)) if inspect.isfunction(thing) else ""
    signature = signature.replace("'", "").replace("(self, ", "(")
    return [f"### {name}", "", "```text", f"{name}{signature}", "", inspect.getdoc(thing) or "", "```"]


def _draw_tree(error: type[Exception], depth: int) -> Iterator[str]:
    first = (inspect.getdoc(error) or "").partition("\n")[0]
    yield f"{'    ' * depth}- `{error.__name__}`: {first}"
    for child in sorted(error.__subclasses__(), key=lambda each: each.__name__):
        if child.__module__ == error.__module__:
            yield from _draw_tree(child, depth + 1)


PAGES = {
    "suite-file.md": write_suite_page,
    "commands.md": write_commands_page,
    "python.md": write_python_page,
}
"""File name to what writes it."""


def main() -> int:
    """Write all pages."""
    for name, write in PAGES.items():
        (HERE / name).write_text(write(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
