"""The folder that goldens of Python tests, run folders and printed commands start from."""

from __future__ import annotations

import shlex

import pytest

ONE = "def test_it(modelreg):\n    modelreg.check(embed())\n"


@pytest.fixture
def nested(module, monkeypatch):
    """A project without a configuration file of pytest, two folders below, and a recorded golden."""
    project = module.path / "home/project"
    module.write(ONE, "home/project/tests/test_m.py")
    (project / ".git").mkdir()
    (module.path / "home/existing.md").write_text("# x", encoding="utf-8")
    monkeypatch.chdir(project)
    module.record()
    assert (project / "golden/py/tests.test_m/test_it/output/golden.json").is_file()
    return module, project


@pytest.mark.parametrize(
    ("folder", "arguments"),
    [
        ("", ()),
        ("", ("--modelreg-markdown=../existing.md",)),
        ("", ("--modelreg-markdown=../existing.md", "-n", "1")),
        ("", ("tests",)),
        ("", ("tests/test_m.py::test_it",)),
        ("tests", ()),
        ("tests", ("test_m.py", "--modelreg-markdown=../../existing.md")),
        ("..", ("project/tests",)),
    ],
)
def test_base_does_not_follow_the_arguments(nested, monkeypatch, folder, arguments):
    """The golden is found, and named alike, however the run is started."""
    module, project = nested
    monkeypatch.chdir(project / folder)
    assert module.verdicts(*arguments) == {"tests/test_m.py::test_it::output": "match"}
    assert [path.parent for path in (module.path / "home").rglob(".modelreg")] == [project]


@pytest.mark.parametrize("mark", ["golden", "modelreg.yaml", "setup.py"])
def test_every_mark_of_a_project_counts(module, monkeypatch, mark):
    """A folder below has none of them."""
    (module.path / mark).mkdir()
    module.write(ONE, "tests/test_m.py")
    monkeypatch.chdir(module.path / "tests")
    module.record()
    assert module.folders() == ["tests.test_m/test_it/output"]


def test_without_any_mark_it_is_where_pytest_was_started(module):
    """Not the folder of the tests that were named."""
    module.write(ONE, "deep/tests/test_m.py")
    module.record("deep/tests")
    assert module.folders() == ["deep.tests.test_m/test_it/output"]


def test_configuration_file_decides(module, monkeypatch):
    """Its folder is pytest's root folder, whatever else lies around."""
    (module.path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    module.write(ONE, "tests/test_m.py")
    (module.path / "tests/golden").mkdir()
    monkeypatch.chdir(module.path / "tests")
    module.record()
    assert module.folders() == ["tests.test_m/test_it/output"]


@pytest.mark.parametrize("mark", ["golden", "other"])
def test_printed_command_keeps_the_base(module, mark):
    """A test alone may stand below another mark than the whole run."""
    (module.path / ".git").mkdir()
    module.write(ONE, "sub/test_m.py")
    (module.path / "sub" / mark).mkdir()
    module.record()
    (module.path / "sub/scale.txt").write_text("1.2", encoding="utf-8")
    (command,) = [line.split("intended: ")[1] for line in module.run().outlines if "intended: pytest" in line]
    assert ("--rootdir=." in command) == (mark == "golden")
    assert module.run(*shlex.split(command)[2:]).ret == 0
    assert set(module.verdicts().values()) == {"match"}
