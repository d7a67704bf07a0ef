"""What is judged is the source that is there, whatever bytecode lies beside it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

PROBE = """
import sys
from pytest_modelreg.observe.imports import suite_imports
with suite_imports([sys.argv[1]]):
    import importlib
    print(importlib.import_module(sys.argv[2]).VALUE)
"""


def read_value(folder, module) -> str:
    """Import a module as a suite does, in a fresh process that may write bytecode."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(
        [sys.executable, "-c", PROBE, str(folder), module],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    return done.stdout.strip()


@pytest.mark.parametrize("module", ["pipeline", "shop.pipeline", "plain.pipeline"])
def test_edit_of_equal_length_within_a_second_is_seen(tmp_path, module):
    """A cached .pyc of the same second and size must not stand in for the edited source."""
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop/__init__.py").touch()
    file = tmp_path / (module.replace(".", "/") + ".py")
    file.parent.mkdir(exist_ok=True)
    file.write_text("VALUE = 1\n", encoding="utf-8")
    os.utime(file, (1_000_000_000, 1_000_000_000))
    # As an ordinary import would have left it, with bytecode beside it.
    subprocess.run([sys.executable, "-m", "compileall", "-q", str(tmp_path)], check=True)
    assert list(tmp_path.rglob("*.pyc"))
    file.write_text("VALUE = 2\n", encoding="utf-8")
    os.utime(file, (1_000_000_000, 1_000_000_000))
    assert read_value(tmp_path, module) == "2"


def test_no_bytecode_is_left_beside_a_suite(tmp_path):
    """A comparison leaves the project as it was."""
    (tmp_path / "pipeline.py").write_text("VALUE = 1\n", encoding="utf-8")
    assert read_value(tmp_path, "pipeline") == "1"
    assert not list(tmp_path.rglob("*.pyc"))


def test_faulty_source_is_shown_with_its_line(tmp_path):
    """A traceback through a freshly compiled module still points into its file."""
    (tmp_path / "pipeline.py").write_text("\n\nraise ValueError('third line')\n", encoding="utf-8")
    with pytest.raises(subprocess.CalledProcessError) as caught:
        read_value(tmp_path, "pipeline")
    assert 'pipeline.py", line 3' in caught.value.stderr
