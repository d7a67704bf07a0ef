"""A stand-in for the runner: steps of an action or workflow, run by bash as GitHub runs them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")
INPUT = re.compile(r"inputs\.([\w-]+)")

SHELL = ("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c")
"""How the runner starts bash for a step with ``shell: bash``."""


def read_yaml(path: Path) -> Any:
    """Return a YAML file of the repository."""
    return yaml.safe_load(path.read_text(encoding="utf-8"))


@dataclass
class Ran:
    """What a step came to."""

    code: int
    text: str
    outputs: dict[str, str] = field(default_factory=dict)


class Runner:
    """Runs steps in a project's folder, with the package's own interpreter in front of the path."""

    def __init__(self, project: Any) -> None:
        self.folder: Path = project.path
        self.temp = self.folder.parent / f"{self.folder.name}_runner"
        self.temp.mkdir()
        self.summary = self.temp / "summary.md"

    def bash(self, script: str, variables: Mapping[str, str] | None = None) -> Ran:
        """Run a script with these variables beside the runner's own."""
        output = self.temp / "output.txt"
        output.write_text("", encoding="utf-8")
        environ = {
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "RUNNER_TEMP": str(self.temp),
            "GITHUB_ACTIONS": "true",
            "GITHUB_ACTION_PATH": str(ROOT),
            "GITHUB_OUTPUT": str(output),
            "GITHUB_STEP_SUMMARY": str(self.summary),
            "GITHUB_WORKSPACE": str(self.folder),
            "CI": "true",
            **(variables or {}),
        }
        done = subprocess.run(
            [*SHELL, script],
            cwd=self.folder,
            env=environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
            check=False,
        )
        lines = output.read_text(encoding="utf-8").splitlines()
        return Ran(done.returncode, done.stdout, dict(line.split("=", 1) for line in lines))

    def step(self, name: str, inputs: Mapping[str, str] | None = None) -> Ran:
        """Run the step of the action whose name begins with this, its inputs as given or by default."""
        action = read_yaml(ROOT / "action.yml")
        (step,) = (step for step in action["runs"]["steps"] if step["name"].startswith(name))
        given = {key: spec["default"] for key, spec in action["inputs"].items()} | dict(inputs or {})
        variables = {key: fill_in(value, given) for key, value in step.get("env", {}).items()}
        return self.bash(step["run"], variables)


def fill_in(text: str, inputs: Mapping[str, str]) -> str:
    """Return text with its ``${{ inputs.x }}`` replaced; another expression is an error."""

    def value(found: re.Match[str]) -> str:
        name = INPUT.fullmatch(found[1])
        assert name is not None, f"the stand-in knows inputs only, got {found[0]}"
        return inputs[name[1]]

    return EXPRESSION.sub(value, text)


@pytest.fixture
def runner(recorded: Any) -> Runner:
    """A runner in a project with a golden."""
    return Runner(recorded)
