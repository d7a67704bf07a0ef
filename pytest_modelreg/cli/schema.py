"""``modelreg schema``: the JSON Schema of a suite file, on standard output."""

from __future__ import annotations

import argparse
import json

from pytest_modelreg.cli.command import Exit


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare nothing: the command has no arguments."""


def run(arguments: argparse.Namespace) -> int:
    """Print the schema."""
    from pytest_modelreg.engine.schema import json_schema

    print(json.dumps(json_schema(), indent=2))
    return Exit.OK
