"""Reasons in a suite's Python code."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

DATA = "src/shop/data.py"


def test_nothing_changed_selects_nothing(shop) -> None:
    """A clean working tree at the revision is no reason."""
    assert shop.reasons() == []


@pytest.mark.parametrize(
    ("file", "reason"),
    [
        ("data.py", "preprocess code changed: src/shop/data.py (imported by shop.data:prepare)"),
        ("colour.py", "preprocess code changed: src/shop/colour.py (imported by shop.data:prepare)"),
        ("models.py", "model code changed: src/shop/models.py (imported by shop.models:build)"),
        (
            "__init__.py",
            "preprocess and model code changed: src/shop/__init__.py "
            "(imported by shop.data:prepare, shop.models:build)",
        ),
    ],
)
def test_a_changed_module_names_role_file_and_reference(shop, file: str, reason: str) -> None:
    """The module itself, what it imports, and the package around it."""
    path = shop.path / "src/shop" / file
    path.write_text(path.read_text() + "\n# changed\n")
    assert shop.reasons() == [reason]


@pytest.mark.parametrize(
    "file", ["src/shop/web.py", "src/other.py", "other.py", "README.md", "tests/test_a.py"]
)
def test_an_unrelated_file_selects_nothing(shop, file: str) -> None:
    """What the code does not import is no reason, in its own package either."""
    shop.write(file, "changed = True\n")
    assert shop.reasons() == []


@pytest.mark.parametrize(
    "statement",
    [
        "import shop.extra",
        "import shop.extra as extra",
        "from shop import extra",
        "from shop.extra import VALUE",
        "from .extra import VALUE",
        "from . import extra",
        "from importlib import import_module\nimport_module('shop.extra')",
        "import importlib\nimportlib.import_module('.extra', package='shop')",
        "import importlib\nimportlib.import_module('.extra', __package__)",
        "__import__('shop.extra')",
        "def late():\n    import shop.extra",
        "try:\n    import shop.extra\nexcept ImportError:\n    pass",
        "from .star import *",
        "from .inner import *",
        "from shop.inner import deep",
    ],
)
def test_every_way_to_import_is_followed(shop, statement: str) -> None:
    """Absolute, relative, late, by a literal name, and through a package's __all__."""
    shop.write_base(
        {
            DATA: f"{statement}\n\n\ndef prepare(sample):\n    return sample\n",
            "src/shop/extra.py": "VALUE = 1\n",
            "src/shop/star.py": "from shop.extra import VALUE\n",
            "src/shop/inner/__init__.py": "__all__ = ['deep']\n",
            "src/shop/inner/deep.py": "from ..extra import VALUE\n",
        }
    )
    assert shop.reasons() == []
    shop.write("src/shop/extra.py", "VALUE = 2\n")
    assert shop.reasons() == ["preprocess code changed: src/shop/extra.py (imported by shop.data:prepare)"]


@pytest.mark.parametrize(
    "statement",
    [
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import shop.web",
        "'''import shop.web'''",
        "import web",
        "from shop.colour import web",
    ],
)
def test_what_is_not_imported_is_not_followed(shop, statement: str) -> None:
    """Type checkers' imports, text, and names that mean something else."""
    shop.write_base({DATA: f"{statement}\n", "web.md": ""})
    shop.write("src/shop/web.py", "PORT = 443\n")
    expected = (
        []
        if statement != "import web"
        else [
            "preprocess code may import src/shop/web.py, changed "
            "(src/shop/data.py imports web, which python_path does not hold)"
        ]
    )
    assert shop.reasons() == expected


def test_every_role_is_followed(shop) -> None:
    """Loader, collate, forward, transform, runtime options and checks of one's own are code too."""
    roles = ["loader", "collate", "forward", "transform", "runtime", "check"]
    shop.write_base(
        {f"{role}_code.py": "def do(*values):\n    return 1\n" for role in roles}
        | {
            "modelreg.yaml": """\
modelreg: 1
suite: toy
samples: {folder: samples, loader: "loader_code:do"}
reference:
  model: shop.models:build
  collate: collate_code:do
  forward: forward_code:do
  runtime: {kind: onnx, transform: "transform_code:do", custom_ops: ["runtime_code:do"]}
checks: {"check_code:do": {max: 1}}
"""
        }
    )
    for role in roles:
        shop.write(f"{role}_code.py", "changed = True\n")
    assert [reason.split(" code")[0] for reason in shop.reasons()] == roles


def test_code_of_a_variant_counts(shop) -> None:
    """A suite is one thing: its variants' preprocessing is its own."""
    text = (shop.path / "modelreg.yaml").read_text()
    shop.write_base(
        {"modelreg.yaml": f"{text}variants:\n  fast: {{preprocess: 'fast:prepare'}}\n", "fast.py": "a = 1\n"}
    )
    shop.write("fast.py", "a = 2\n")
    assert shop.reasons() == ["preprocess code changed: fast.py (imported by fast:prepare)"]


def test_committed_staged_unstaged_and_new_files_count(shop) -> None:
    """What will be merged is the working tree, however far it is on its way into git."""
    for name in ("a", "b", "c"):
        shop.write(f"src/shop/{name}.py")
    shop.write_base({DATA: "from . import a, b, c, d\n"})
    shop.write("src/shop/a.py", "x = 2\n")
    shop.commit()
    shop.write("src/shop/b.py", "x = 2\n")
    shop.git("add", "src/shop/b.py")
    shop.write("src/shop/c.py", "x = 2\n")
    shop.write("src/shop/d.py")
    assert [reason.split(" (")[0] for reason in shop.reasons()] == [
        "preprocess code changed: src/shop/a.py",
        "preprocess code changed: src/shop/b.py",
        "preprocess code changed: src/shop/c.py",
        "preprocess code added: src/shop/d.py",
    ]


def test_a_file_that_was_only_touched_is_no_change(shop) -> None:
    """A checkout or a formatter that rewrites equal bytes selects nothing."""
    path = shop.path / DATA
    path.write_text(path.read_text())
    os.utime(path, (1, 1))
    shop.git("config", "diff.autoRefreshIndex", "false")
    assert shop.reasons() == []


def test_a_change_that_was_taken_back_is_no_change(shop) -> None:
    """Commits do not count, contents do."""
    before = (shop.path / DATA).read_text()
    shop.write(DATA)
    shop.commit()
    shop.write(DATA, before)
    shop.commit()
    assert shop.reasons() == []


def test_a_deleted_module_counts(shop) -> None:
    """Code that still imports it does something else now, or nothing."""
    (shop.path / "src/shop/colour.py").unlink()
    assert shop.reasons() == ["preprocess code deleted: src/shop/colour.py (imported by shop.data:prepare)"]


def test_a_renamed_module_counts_at_both_places(shop) -> None:
    """A rename detection that hides the old name would hide the change."""
    shop.git("mv", "src/shop/colour.py", "src/shop/color.py")
    shop.write(DATA, "from . import color\n")
    assert {reason.split(" (")[0] for reason in shop.reasons()} == {
        "preprocess code changed: src/shop/data.py",
        "preprocess code added: src/shop/color.py",
    }


def test_a_deleted_module_that_went_before_another_counts(shop) -> None:
    """The same import finds another file now, which itself did not change."""
    shop.write_base({DATA: "import tone\n", "tone.py": "A = 1\n", "src/tone.py": "A = 2\n"})
    (shop.path / "tone.py").unlink()
    assert shop.reasons() == ["preprocess code deleted: tone.py (imported by shop.data:prepare)"]


def test_a_deleted_module_behind_another_selects_nothing(shop) -> None:
    """What Python did not find first was not imported."""
    shop.write_base({DATA: "import tone\n", "tone.py": "A = 1\n", "src/tone.py": "A = 2\n"})
    (shop.path / "src/tone.py").unlink()
    assert shop.reasons() == []


def test_a_new_module_in_front_counts(shop) -> None:
    """It is imported in the place of the one that was."""
    shop.write_base({DATA: "import tone\n", "src/tone.py": "A = 2\n"})
    shop.write("tone.py", "A = 1\n")
    assert shop.reasons() == ["preprocess code added: tone.py (imported by shop.data:prepare)"]


def test_an_init_file_that_is_gone_counts(shop) -> None:
    """Its code ran before every module of the package."""
    (shop.path / "src/shop/__init__.py").unlink()
    assert [reason.split(" (")[0] for reason in shop.reasons()] == [
        "preprocess and model code deleted: src/shop/__init__.py"
    ]


def test_namespace_packages_are_followed(shop) -> None:
    """A folder without __init__.py is a package too, also one in two folders of the path."""
    shop.write_base({DATA: "import parts.a, parts.b\n", "parts/a.py": "", "src/parts/b.py": ""})
    shop.write("parts/a.py")
    shop.write("src/parts/b.py")
    assert [reason.split(" (")[0] for reason in shop.reasons()] == [
        "preprocess code changed: parts/a.py",
        "preprocess code changed: src/parts/b.py",
    ]


def test_an_installed_package_wins_over_a_folder_of_its_name(shop) -> None:
    """A data folder `numpy/` is not what `import numpy` means."""
    shop.write_base({DATA: "import numpy.scripts\n", "numpy/scripts.py": ""})
    shop.write("numpy/scripts.py")
    assert shop.reasons() == []


def test_code_that_is_installed_in_place_is_followed(shop, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package of the repository that is on sys.path, but not on the suite's path."""
    shop.write_base({DATA: "import toy_common\n", "libs/toy_common/__init__.py": ""})
    monkeypatch.setattr(sys, "path", [*sys.path, str(shop.path / "libs")])
    shop.write("libs/toy_common/__init__.py")
    assert shop.reasons() == [
        "preprocess code changed: libs/toy_common/__init__.py (imported by shop.data:prepare)"
    ]


def test_a_module_that_is_nowhere_is_looked_for_by_name(shop) -> None:
    """Something puts it on the path where the suite runs; which file that is, its name says."""
    shop.write_base({DATA: "import toy_common\n", "libs/toy_common/a.py": "", "libs/toy_other/a.py": ""})
    shop.write("libs/toy_common/a.py")
    shop.write("libs/toy_other/a.py")
    assert shop.reasons() == [
        "preprocess code may import libs/toy_common/a.py, changed "
        "(src/shop/data.py imports toy_common, which python_path does not hold)"
    ]


@pytest.mark.parametrize(
    ("code", "word"),
    [
        (
            "import importlib\n\n\ndef find(name):\n    return importlib.import_module(name)\n",
            "import_module on line 5",
        ),
        ("from importlib import import_module as load\nload('x')\n", "import_module on line 1"),
        ("names = ['a']\nlist(map(__import__, names))\n", "__import__ on line 2"),
        ("from importlib.metadata import entry_points\nentry_points()\n", "entry_points on line 2"),
        ("import hydra\n", "hydra on line 1"),
    ],
)
def test_imports_by_name_reach_the_whole_python_path(shop, code: str, word: str) -> None:
    """Which module it will be is not known, so any of them may be; tests are not imported so."""
    shop.write_base({DATA: code, "tests/test_web.py": "", "src/shop/web.txt": ""})
    shop.write("tests/test_web.py")
    assert shop.reasons() == []
    shop.write("src/shop/web.py", "PORT = 443\n")
    why = f"src/shop/data.py does not say what it imports: {word}"
    assert shop.reasons() == [f"preprocess code may import src/shop/web.py, changed ({why})"]


def test_imports_by_name_stay_on_the_python_path(shop) -> None:
    """A module outside of the suite's path cannot be meant."""
    text = (shop.path / "modelreg.yaml").read_text()
    shop.write_base({"modelreg.yaml": f"{text}python_path: [src]\n", DATA: "__import__(input())\n"})
    shop.write("tools/build.py")
    assert shop.reasons() == []


@pytest.mark.parametrize(
    "code",
    [
        "import sys\nsys.path.insert(0, '../tools')\n",
        "from sys import path\npath.append('../tools')\n",
        "exec(open('../tools/build.py').read())\n",
        "import runpy\nrunpy.run_path('../tools/build.py')\n",
    ],
)
def test_code_from_any_place_reaches_the_whole_repository(shop, code: str) -> None:
    """A path that is put together may lead anywhere."""
    text = (shop.path / "modelreg.yaml").read_text()
    shop.write_base({"modelreg.yaml": f"{text}python_path: [src]\n", DATA: code})
    shop.write("tools/build.py")
    assert [reason.split(" (")[0] for reason in shop.reasons()] == [
        "preprocess code may import tools/build.py, added"
    ]


@pytest.mark.parametrize(
    "code", ["model.eval()\n", "x.exec()\n", "import sys\nsys.argv\n", "self.path = 1\n"]
)
def test_words_that_import_nothing_reach_nothing(shop, code: str) -> None:
    """`eval` is called on every model."""
    shop.write_base({DATA: code})
    shop.write("src/shop/web.py", "PORT = 443\n")
    assert shop.reasons() == []


def test_a_syntax_error_counts_and_says_where(shop) -> None:
    """What the file imports is not known, and whether it changed does not matter."""
    shop.write_base({"src/shop/colour.py": "BLUE = (\n"})
    assert shop.reasons() == [
        "preprocess code cannot be parsed: src/shop/colour.py (line 1: '(' was never closed), "
        "so that what it imports is not known (imported by shop.data:prepare)"
    ]


@pytest.mark.parametrize("content", [b"x = 1\0", b"# coding: nonsense\n", b"x = '\xff'\n", b"(" * 5000])
def test_files_that_are_no_python_count(shop, content: bytes) -> None:
    """Whatever the parser says, the command goes on."""
    (shop.path / "src/shop/colour.py").write_bytes(content)
    shop.commit(tag="base")
    (reason,) = shop.reasons()
    assert reason.startswith("preprocess code cannot be parsed: src/shop/colour.py (")


def test_no_code_of_the_suite_runs(shop) -> None:
    """The choice is made of files: an import with a side effect has none."""
    mark = shop.path / "mark"
    shop.write_base({DATA: f"open({str(mark)!r}, 'w')\nfrom . import colour\n"})
    shop.write("src/shop/colour.py")
    assert shop.reasons()
    assert not mark.exists()
    assert "shop" not in sys.modules


def test_many_changed_files_are_a_short_list(shop) -> None:
    """A reason that nobody reads to its end is none."""
    names = [f"part{n}" for n in range(9)]
    shop.write_base({DATA: f"from . import {', '.join(names)}\n"} | {f"src/shop/{n}.py": "" for n in names})
    for name in names:
        shop.write(f"src/shop/{name}.py")
    reasons = shop.reasons()
    assert len(reasons) == 6
    assert reasons[-1] == "4 more files of its code changed"


def test_names_with_spaces_newlines_and_other_scripts(shop) -> None:
    """Git quotes such names where it is not asked for plain ones."""
    shop.write_base({DATA: "from . import größe\nopen('two\\nlines.txt')\nopen('a file.txt')\n"})
    shop.write("src/shop/größe.py")
    shop.write("src/shop/a file.txt")
    shop.write("src/shop/two\nlines.txt")
    reasons = shop.reasons()
    assert reasons[0] == "preprocess code added: src/shop/größe.py (imported by shop.data:prepare)"
    assert {reason.split(" added")[0] for reason in reasons[1:]} == {
        "src/shop/a file.txt",
        "'src/shop/two\\nlines.txt'",
    }


def test_a_linked_module_counts_at_both_ends(shop, tmp_path: Path) -> None:
    """Git has the link and what it leads to as two files."""
    shop.write("shared/tone.py", "A = 1\n")
    (shop.path / "src/shop/tone.py").symlink_to("../../shared/tone.py")
    (shop.path / "src/linked").symlink_to("../shared")
    shop.write_base({DATA: "from . import tone\nimport linked.tone\n", "shared/other.py": ""})
    assert shop.reasons() == []
    shop.write("shared/tone.py", "A = 2\n")
    assert shop.reasons() == ["preprocess code changed: shared/tone.py (imported by shop.data:prepare)"]
    shop.git("checkout", "shared/tone.py")
    (shop.path / "src/linked").unlink()
    (shop.path / "src/linked").symlink_to("../shared/../shared")
    assert shop.reasons() == ["preprocess code changed: src/linked (imported by shop.data:prepare)"]


def test_links_that_lead_in_a_circle_end(shop) -> None:
    """A link to itself is a file that is not there."""
    (shop.path / "src/shop/tone.py").symlink_to("tone.py")
    shop.write_base({DATA: "from . import tone\n"})
    (reason,) = shop.reasons()
    assert "cannot be parsed: src/shop/tone.py" in reason
