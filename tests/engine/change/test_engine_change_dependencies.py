"""Reasons in what is installed."""

from __future__ import annotations

import pytest

PROJECT = """\
[project]
name = "shop"
version = "1"
requires-python = ">=3.10"
dependencies = ["torch>=2"]
[project.optional-dependencies]
dev = ["ruff"]
[dependency-groups]
test = ["pytest"]
[tool.poetry.group.dev.dependencies]
black = "*"
[tool.uv.sources]
torch = { index = "cpu" }
[tool.ruff]
line-length = 100
"""

SETUP = """\
[options]
install_requires =
  torch
[options.extras_require]
dev = ruff
[flake8]
max-line-length = 100
"""


@pytest.mark.parametrize(
    "file",
    [
        "requirements.txt",
        "requirements-dev.txt",
        "dev-requirements.in",
        "requirements/test.txt",
        "constraints.txt",
        "environment.yml",
        "poetry.lock",
        "uv.lock",
        "pylock.toml",
        "setup.py",
        "src/requirements.txt",
        ".python-version",
    ],
)
def test_a_changed_requirement_counts(shop, file: str) -> None:
    """Another Pillow resizes in another way."""
    shop.write_base({file: "torch==2.1\n"})
    shop.write(file, "torch==2.2\n")
    assert shop.reasons() == [f"dependencies in {file} changed"]


@pytest.mark.parametrize("file", ["docs/requirements.txt", "notes.txt", "lock", "src/other/uv.lock"])
def test_what_other_folders_install_selects_nothing(shop, file: str) -> None:
    """The documentation's packages, or another project's."""
    shop.write(file, "sphinx\n")
    assert shop.reasons() == []


def test_a_project_beside_the_suite_counts_where_its_code_is_on_the_path(make_shop) -> None:
    """Suites in one folder of the repository, the code and its requirements in another."""
    shop = make_shop(below="qa")
    text = (shop.path / "qa/modelreg.yaml").read_text()
    shop.write_base(
        {"qa/modelreg.yaml": f"{text}python_path: [../a/src]\n", "a/src/shop/data.py": "", "b/src/x.py": ""}
    )
    shop.write("a/requirements.txt")
    shop.write("b/requirements.txt")
    assert shop.reasons("qa/modelreg.yaml") == ["dependencies in a/requirements.txt added"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("torch>=2", "torch>=3"),
        (">=3.10", ">=3.11"),
        ('dev = ["ruff"]', 'dev = ["black"]'),
        ('"pytest"', '"tox"'),
        ('black = "*"', 'black = "1"'),
        ('"cpu"', '"cu128"'),
        ("[project]", "[project"),
    ],
)
def test_dependencies_in_a_project_file_count(shop, old: str, new: str) -> None:
    """In the tables of the standard and of the tools; a file that is no TOML may say anything."""
    shop.write_base({"pyproject.toml": PROJECT})
    assert old in PROJECT
    shop.write("pyproject.toml", PROJECT.replace(old, new))
    assert shop.reasons() == ["dependencies in pyproject.toml changed"]


@pytest.mark.parametrize(
    ("old", "new"),
    [("= 100", "= 110"), ('version = "1"', 'version = "2"'), ("[tool.ruff]", "# x\n[tool.ruff]")],
)
def test_other_settings_in_a_project_file_select_nothing(shop, old: str, new: str) -> None:
    """A line length moves no number."""
    shop.write_base({"pyproject.toml": PROJECT})
    assert old in PROJECT
    shop.write("pyproject.toml", PROJECT.replace(old, new))
    assert shop.reasons() == []


def test_a_project_file_that_comes_or_goes_counts_by_its_dependencies(shop) -> None:
    """A first pyproject.toml for a linter installs nothing."""
    shop.write("pyproject.toml", "[tool.ruff]\nline-length = 100\n")
    assert shop.reasons() == []
    shop.write("pyproject.toml", PROJECT)
    assert shop.reasons() == ["dependencies in pyproject.toml added"]
    shop.commit(tag="base")
    (shop.path / "pyproject.toml").unlink()
    assert shop.reasons() == ["dependencies in pyproject.toml deleted"]


@pytest.mark.parametrize(
    ("old", "new", "n_reasons"),
    [
        ("  torch", "  torch>2", 1),
        ("dev = ruff", "dev = black", 1),
        ("= 100", "= 110", 0),
        ("[options]", "options]", 1),
    ],
)
def test_only_dependencies_in_a_setup_file_count(shop, old: str, new: str, n_reasons: int) -> None:
    """It holds the settings of linters and of pytest, too."""
    shop.write_base({"setup.cfg": SETUP})
    assert old in SETUP
    shop.write("setup.cfg", SETUP.replace(old, new))
    assert shop.reasons() == ["dependencies in setup.cfg changed"] * n_reasons
