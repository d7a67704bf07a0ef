"""A Python test's golden folder and the command that runs it alone."""

from __future__ import annotations

import shlex

import pytest

CASES = (
    "@pytest.mark.parametrize('n', [4, 2], ids=['A', 'a'])\n"
    "def test_it(modelreg, n):\n    modelreg.check(embed(n))\n"
)
ONE = "def test_it(modelreg):\n    modelreg.check(embed())\n"


@pytest.mark.parametrize("arguments", [(), ("--modelreg-regen=missing",), ("-n", "1"), ("-n", "2")])
def test_folders_that_differ_in_case_alone_clash(module, arguments):
    """One golden of two tests would judge the one by the other where file systems ignore case."""
    module.write(CASES)
    result = module.run(*arguments)
    result.assert_outcomes(failed=2)
    for one, other in ("Aa", "aA"):
        both = f"test_m.py::test_it[[]{one}[]] and test_m.py::test_it[[]{other}[]]"
        result.stdout.fnmatch_lines([f"error: tests {both} differ only in upper and lower case*rename one"])
    assert not (module.path / "golden").exists()


def test_module_names_that_become_one_folder_clash(module):
    """A dot in a file's name and a folder are one part of a golden's path."""
    module.write(ONE, "a/b/test_m.py")
    module.write(ONE, "a.b/test_m.py")
    assert set(module.verdicts("--import-mode=importlib").values()) == {"error"}
    result = module.run("--import-mode=importlib")
    result.stdout.fnmatch_lines(
        ["error: tests *a.b/*map to one golden folder, golden/py/a.b.test_m/test_it; *"]
    )


def test_clash_shows_also_when_one_of_both_runs(module):
    """What is an error does not depend on what else is selected."""
    module.write(CASES)
    module.run("-k", "A and not zzz").stdout.fnmatch_lines(["error: *rename one"])


def test_test_that_asks_while_it_runs_clashes_too(module):
    """getfixturevalue shows in no list of fixtures."""
    module.write(
        "@pytest.mark.parametrize('n', [4, 2], ids=['A', 'a'])\n"
        "def test_it(request, n):\n    request.getfixturevalue('modelreg').check(embed(n))\n"
    )
    assert list(module.verdicts().values()) == ["error", "error"]


def test_files_outside_of_the_root_folder_have_goldens_of_their_own(module):
    """Two of one name in two folders are two."""
    root = module.path / "root"
    root.mkdir()
    (root / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    for folder, n in (("x", 4), ("y", 2)):
        module.write(ONE.replace("embed()", f"embed({n})"), f"{folder}/test_m.py")
    arguments = ("--rootdir=root", "-c", "root/pytest.ini", "--import-mode=importlib", "x", "y")
    module.record(*arguments)
    folders = sorted(path.parent.relative_to(root).as_posix() for path in root.rglob("golden.json"))
    assert folders == [f"golden/py/up.{folder}.test_m/test_it/output" for folder in "xy"]
    assert set(module.verdicts(*arguments).values()) == {"match"}


def accept_as_printed(module, *arguments, below=""):
    """Run, then what the failure tells to type, in the same folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(module.path / below)
        lines = module.run(*arguments).outlines
        (command,) = [line.split("intended: ")[1] for line in lines if "intended: pytest" in line]
        typed = shlex.split(command)
        assert typed[:2] == ["pytest", "--modelreg"]
        return command, module.run(*typed[2:])


def test_printed_command_works_from_a_folder_below(module):
    """Node ids start at the root folder, paths where they are typed."""
    (module.path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    module.write(ONE, "sub/test_m.py")
    module.record()
    (module.path / "sub/scale.txt").write_text("1.2", encoding="utf-8")
    command, result = accept_as_printed(module, "test_m.py", below="sub")
    assert " test_m.py::test_it " in command
    assert "rootdir" not in command
    assert result.ret == 0


@pytest.mark.parametrize("workers", [(), ("-n", "1")])
def test_printed_command_has_the_root_folder_that_was_given(module, workers):
    """Without it the command would look for the golden elsewhere."""
    root = module.path / "my root"
    root.mkdir()
    (root / "my.ini").write_text("[pytest]\n", encoding="utf-8")
    module.write(ONE)
    given = ("--rootdir=my root", "-c", "my root/my.ini", "test_m.py")
    module.record(*given)
    module.scale(1.2)
    command, result = accept_as_printed(module, *given, *workers)
    assert "'--rootdir=my root' -c 'my root/my.ini' test_m.py::test_it" in command
    assert result.ret == 0


def test_printed_command_finds_a_doctest(module):
    """Doctests are collected only where they are asked for."""
    module.write('def documented():\n    """\n    >>> getfixture("modelreg").check(embed())\n    """\n')
    module.record("--doctest-modules")
    module.scale(1.2)
    command, result = accept_as_printed(module, "--doctest-modules")
    assert "--doctest-modules test_m.py::test_m.documented" in command
    assert result.ret == 0
