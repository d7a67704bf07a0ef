"""The other commands, as typed in a shell."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest


def run_command(project, *arguments, **environment):
    """Run ``modelreg`` in a process and return what subprocess returns."""
    return subprocess.run(
        [sys.executable, "-m", "pytest_modelreg", *arguments],
        cwd=project.path,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_help_lists_every_command(project):
    """A newcomer finds the commands and the exit codes."""
    done = run_command(project, "--help")
    assert done.returncode == 0
    for word in ("init", "pin", "regen", "schema", "exit:"):
        assert word in done.stdout


def test_unknown_command_names_the_nearest(project):
    """Exit 2 and a hint."""
    done = run_command(project, "regan")
    assert done.returncode == 2
    assert "did you mean regen?" in done.stderr


def test_schema_is_json(project):
    """Editors get a JSON Schema."""
    done = run_command(project, "schema")
    assert done.returncode == 0
    assert json.loads(done.stdout)["properties"]["suite"]


def test_pin_writes_once_and_verifies_afterwards(project):
    """The first call writes, the second changes nothing, --check passes."""
    assert run_command(project, "pin", "samples").returncode == 0
    written = (project.path / "samples/samples.csv").read_bytes()
    assert run_command(project, "pin", "samples").returncode == 0
    assert run_command(project, "pin", "samples", "--check").returncode == 0
    assert (project.path / "samples/samples.csv").read_bytes() == written


def test_pin_names_every_fault_and_changes_nothing(project):
    """Changed, missing and extra files in one message, exit 2; --update accepts them."""
    run_command(project, "pin", "samples")
    written = (project.path / "samples/samples.csv").read_bytes()
    project.write("samples/s0.json", "[0, 0, 0]")
    (project.path / "samples/s1.json").unlink()
    project.write("samples/new.json", "[1, 1, 1]")
    for arguments in (("pin", "samples"), ("pin", "samples", "--check")):
        done = run_command(project, *arguments)
        assert done.returncode == 2
        for name in ("s0.json", "s1.json", "new.json"):
            assert name in done.stderr
    assert (project.path / "samples/samples.csv").read_bytes() == written
    assert run_command(project, "pin", "samples", "--update").returncode == 0
    assert run_command(project, "pin", "samples", "--check").returncode == 0


def test_pin_of_no_folder(project):
    """A missing folder is bad usage."""
    assert run_command(project, "pin", "nowhere").returncode == 2


def test_init_writes_pins_records_and_names_the_next_command(project):
    """From a model to a first golden in one command."""
    (project.path / "modelreg.yaml").unlink()
    done = run_command(
        project,
        "init",
        "--model",
        "toymodel:build",
        "--preprocess",
        "toydata:prepare",
        "--samples",
        "samples",
    )
    assert done.returncode == 0, done.stderr
    assert "pytest --modelreg" in done.stdout.splitlines()[-1]
    assert project.pytest().ret == 0


def test_init_keeps_an_existing_suite(project):
    """A suite file is never overwritten."""
    before = (project.path / "modelreg.yaml").read_bytes()
    done = run_command(
        project,
        "init",
        "--model",
        "toymodel:build",
        "--preprocess",
        "toydata:prepare",
        "--samples",
        "samples",
    )
    assert done.returncode == 2
    assert (project.path / "modelreg.yaml").read_bytes() == before


def test_init_with_a_model_that_fails_says_how_to_go_on(project):
    """What was written stays; the message names the command that goes on from there."""
    (project.path / "modelreg.yaml").unlink()
    done = run_command(
        project, "init", "--model", "toymodel:bild", "--preprocess", "toydata:prepare", "--samples", "samples"
    )
    assert done.returncode == 3
    assert "did you mean build" in done.stdout
    assert "modelreg regen" in done.stdout


@pytest.mark.parametrize("command", ["pin", "regen", "init", "schema"])
def test_every_command_has_help(project, command):
    """--help works for each."""
    assert run_command(project, command, "--help").returncode == 0
