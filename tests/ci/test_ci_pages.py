"""Hooks, workflow and page: what they say is what the commands, the action and the hooks take."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
HOOKS = {hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))}
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
WORKFLOW = yaml.safe_load((ROOT / "docs/ci/github.yml").read_text(encoding="utf-8"))
PAGE = (ROOT / "docs/ci/README.md").read_text(encoding="utf-8")
BLOCKS = [yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", PAGE, flags=re.DOTALL)]


def find_block(key):
    """Return the YAML blocks of the page that have a key at their top."""
    return [block for block in BLOCKS if isinstance(block, dict) and key in block]


@pytest.mark.parametrize("name", HOOKS)
def test_hook_passes_in_a_green_project(runner, name):
    """Its line as pre-commit puts it together, from the root of the repository, without file names."""
    hook = HOOKS[name]
    ran = runner.bash(" ".join([hook["entry"], *map(shlex.quote, hook.get("args", []))]))
    assert ran.code == 0, ran.text
    assert hook["language"] == "python"
    assert hook["pass_filenames"] is False
    assert hook["always_run"] is True


@pytest.mark.parametrize("name", HOOKS)
def test_hook_fails_where_a_sample_was_changed(runner, recorded, name):
    """All three look at the samples' bytes."""
    recorded.write("samples/s0.json", "[9, 9, 9]")
    hook = HOOKS[name]
    assert runner.bash(" ".join([hook["entry"], *hook.get("args", [])])).code != 0


def test_precheck_hook_fails_where_the_pipeline_changed(runner, recorded):
    """The one that runs the project's code."""
    recorded.edit("toydata.py", "dtype=np.float32)", "dtype=np.float32) * np.float32(1.5)")
    assert runner.bash(HOOKS["modelreg-verify"]["entry"]).code == 0
    assert runner.bash(HOOKS["modelreg-precheck"]["entry"]).code == 1


def test_hooks_of_the_page_exist():
    """Each by its id, with keys that pre-commit knows."""
    named = [hook for block in find_block("repos") for repo in block["repos"] for hook in repo["hooks"]]
    assert {hook["id"] for hook in named} == set(HOOKS)
    (local,) = (hook for hook in named if "entry" in hook)
    assert local["entry"] == HOOKS[local["id"]]["entry"]


def test_workflow_gives_the_action_inputs_that_it_has():
    """A misspelt one would only be a warning in GitHub's log."""
    (step,) = (
        step for step in WORKFLOW["jobs"]["compare"]["steps"] if "pytest-modelreg" in step.get("uses", "")
    )
    assert set(step["with"]) <= set(ACTION["inputs"])


def test_page_lists_every_input_with_its_default():
    """The table is the reference."""
    rows = re.findall(r"^\| (`.*?) \|\s*(.*?)\s*\| .* \|$", PAGE, flags=re.MULTILINE)
    told = {}
    for names, defaults in rows:
        found = re.findall(r"`([\w-]+)`", names)
        values = [value.strip().strip("`") for value in defaults.split(",")] or [""]
        told.update(zip(found, values, strict=True))
    spoken = {"all that pytest finds": ""}
    assert {name: spoken.get(value, value) for name, value in told.items()} == {
        name: spec["default"] for name, spec in ACTION["inputs"].items()
    }


def test_shell_lines_of_the_workflow_run(runner, recorded):
    """In a project that has the requirements file they name."""
    recorded.write("requirements.txt", "")
    scripts = [step["run"] for step in WORKFLOW["jobs"]["compare"]["steps"] if "run" in step]
    assert scripts
    for script in scripts:
        assert "${{" not in script
        ran = runner.bash(script)
        assert ran.code == 0, ran.text


def test_shell_lines_of_the_gitlab_job_run(runner, recorded):
    """One after the other, and the artifact is where the job says."""
    recorded.write("requirements.txt", "")
    ((job),) = (block["models"] for block in find_block("models"))
    for line in job["script"]:
        ran = runner.bash(line)
        assert ran.code == 0, ran.text
    assert all((runner.folder / path).is_dir() for path in job["artifacts"]["paths"])
    assert (runner.folder / job["artifacts"]["reports"]["junit"]).is_file()


def test_own_upload_step_finds_the_hidden_folder():
    """Without the option an upload passes over what begins with a dot."""
    (step,) = (step for block in BLOCKS if isinstance(block, list) for step in block)
    assert step["with"]["path"] == ".modelreg/runs"
    assert step["with"]["include-hidden-files"] is True
