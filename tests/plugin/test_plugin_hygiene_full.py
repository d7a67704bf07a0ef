"""The oldest pytest and the oldest numpy that are supported, in an environment of their own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

OLDEST_NUMPY = {(3, 10): "1.24.*", (3, 11): "1.24.*", (3, 12): "1.26.*", (3, 13): "2.1.*"}
"""The first release line at or above the package's bound that has wheels for a Python."""

VALUES_TEST = """
import numpy as np
import pytest


@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_values(modelreg, scale):
    modelreg.check(np.arange(6.0) * scale, name="six")
"""


@pytest.fixture(scope="session")
def oldest(tmp_path_factory) -> Path:
    """Python of an environment with the oldest pytest and numpy and the package as users install it."""
    folder = tmp_path_factory.mktemp("oldest")
    source = folder / "source"
    # From a copy: a build in the checkout would leave its own folders there.
    shutil.copytree(
        ROOT / "pytest_modelreg",
        source / "pytest_modelreg",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source / name)
    venv.create(folder / "venv", with_pip=True)
    python = folder / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
    numpy = OLDEST_NUMPY.get(sys.version_info[:2])
    subprocess.run(
        [
            str(python),
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "pytest==8.0.*",
            "numpy" if numpy is None else f"numpy=={numpy}",
            str(source),
        ],
        check=True,
        timeout=600,
    )
    return python


@pytest.mark.full
def test_oldest_pytest_and_numpy_record_match_and_drift(project, oldest):
    """A suite and a Python test go through recording, a match and a drift, in strict mode."""
    project.write("test_values.py", VALUES_TEST)
    project.pin()

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(oldest), "-m", "pytest", "--modelreg", "--strict-markers", "--strict-config", *arguments],
            cwd=project.path,
            env={key: value for key, value in os.environ.items() if key != "PYTEST_ADDOPTS"},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    missing = run()
    assert missing.returncode == 1, missing.stdout + missing.stderr
    assert "pytest-8.0." in missing.stdout
    assert "3 missing" in missing.stdout
    recorded = run("--modelreg-regen=missing")
    assert recorded.returncode == 0, recorded.stdout + recorded.stderr
    assert "3 recorded" in recorded.stdout
    match = run("-W", "error")
    assert match.returncode == 0, match.stdout + match.stderr
    assert "3 match" in match.stdout
    project.edit("toymodel.py", "scale=1.0", "scale=1.2")
    project.edit("test_values.py", "* scale", "* (scale if scale < 2 else 3)")
    drift = run()
    assert drift.returncode == 1, drift.stdout + drift.stderr
    assert "2 drift" in drift.stdout
    assert "1 match" in drift.stdout
    assert "Traceback" not in drift.stdout
