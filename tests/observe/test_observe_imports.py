"""Suite imports: every suite gets its own modules, and nobody else gets them."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

from pytest_modelreg.domain.errors import ImportReferenceError
from pytest_modelreg.observe.imports import suite_imports


def write(folder: Path, name: str, text: str) -> Path:
    """Write a file, with its folders."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture(autouse=True)
def untouched_import_state():
    """These tests import into this process: put back what they add."""
    modules, path = dict(sys.modules), list(sys.path)
    yield
    sys.path[:] = path
    for name in [name for name in sys.modules if name not in modules]:
        del sys.modules[name]


def test_two_suites_with_a_module_of_one_name_get_their_own(tmp_path):
    """Each suite's pipeline.py is its own, in either order and again."""
    for name in ("one", "two"):
        write(tmp_path / name, "mrpipeline.py", f"NAME = {name!r}\n")
    for name in ("one", "two", "one"):
        with suite_imports([str(tmp_path / name)]):
            found = importlib.import_module("mrpipeline")
            assert name == found.NAME
    assert "mrpipeline" not in sys.modules


def test_a_module_imported_from_elsewhere_is_an_error_naming_both_files(tmp_path, monkeypatch):
    """The suite must not get somebody else's module, nor silently replace it."""
    theirs = write(tmp_path / "tests", "mrclash.py", "NAME = 'theirs'\n")
    ours = write(tmp_path / "suite", "mrclash.py", "NAME = 'ours'\n")
    monkeypatch.syspath_prepend(str(tmp_path / "tests"))
    before = importlib.import_module("mrclash")
    with suite_imports([str(tmp_path / "suite")]), pytest.raises(ImportReferenceError) as caught:
        importlib.import_module("mrclash")
    assert str(theirs) in str(caught.value)
    assert str(ours) in str(caught.value)
    assert sys.modules["mrclash"] is before


def test_a_clash_is_found_through_another_module_of_the_suite(tmp_path, monkeypatch):
    """pipeline imports data: it is data that would be somebody else's."""
    write(tmp_path / "tests", "mrdata.py", "")
    write(tmp_path / "suite", "mrdata.py", "")
    write(tmp_path / "suite", "mrpipe.py", "import mrdata\n")
    monkeypatch.syspath_prepend(str(tmp_path / "tests"))
    importlib.import_module("mrdata")
    with suite_imports([str(tmp_path / "suite")]), pytest.raises(ImportReferenceError, match="mrdata"):
        importlib.import_module("mrpipe")


def test_a_namesake_that_nobody_asks_for_is_no_error(tmp_path, monkeypatch):
    """A folder may hold a conftest.py or helpers that the suite never imports."""
    write(tmp_path / "tests", "mrunused.py", "")
    write(tmp_path / "suite", "mrunused.py", "")
    write(tmp_path / "suite", "mrneeded.py", "NAME = 1\n")
    monkeypatch.syspath_prepend(str(tmp_path / "tests"))
    theirs = importlib.import_module("mrunused")
    with suite_imports([str(tmp_path / "suite")]):
        assert importlib.import_module("mrneeded").NAME == 1
    assert sys.modules["mrunused"] is theirs


def test_a_package_clash_hides_its_submodules_and_brings_them_back(tmp_path, monkeypatch):
    """Half of one package and half of another would be worse than either."""
    for name in ("tests", "suite"):
        write(tmp_path / name, "mrshop/__init__.py", "")
        write(tmp_path / name, "mrshop/models.py", f"NAME = {name!r}\n")
    monkeypatch.syspath_prepend(str(tmp_path / "tests"))
    theirs = importlib.import_module("mrshop.models")
    with suite_imports([str(tmp_path / "suite")]), pytest.raises(ImportReferenceError, match="mrshop"):
        importlib.import_module("mrshop.models")
    assert sys.modules["mrshop.models"] is theirs


def test_the_same_file_imported_before_is_shared(tmp_path, monkeypatch):
    """The user's tests and the suite use one module when it is one file."""
    write(tmp_path, "mrshared.py", "")
    monkeypatch.syspath_prepend(str(tmp_path))
    theirs = importlib.import_module("mrshared")
    with suite_imports([str(tmp_path)]):
        assert importlib.import_module("mrshared") is theirs
    assert sys.modules["mrshared"] is theirs


def test_a_module_that_a_plain_import_finds_stays(tmp_path, monkeypatch):
    """A module of the project itself must not exist twice."""
    write(tmp_path, "mrplain.py", "")
    monkeypatch.syspath_prepend(str(tmp_path))
    with suite_imports([str(tmp_path)]):
        ours = importlib.import_module("mrplain")
    assert sys.modules["mrplain"] is ours


def test_a_module_left_by_one_suite_is_swapped_for_another(tmp_path, monkeypatch):
    """What an earlier suite imported is no reason to refuse the next one its own."""
    write(tmp_path / "one", "mrleft.py", "NAME = 'one'\n")
    write(tmp_path / "two", "mrleft.py", "NAME = 'two'\n")
    monkeypatch.syspath_prepend(str(tmp_path / "one"))
    with suite_imports([str(tmp_path / "one")]):
        first = importlib.import_module("mrleft")
    with suite_imports([str(tmp_path / "two")]):
        assert importlib.import_module("mrleft").NAME == "two"
    assert sys.modules["mrleft"] is first


def test_a_suite_entered_again_does_not_import_twice(tmp_path):
    """Variants share the modules of their suite."""
    write(tmp_path, "mronce.py", "")
    with suite_imports([str(tmp_path)]):
        first = importlib.import_module("mronce")
    with suite_imports([str(tmp_path)]):
        assert importlib.import_module("mronce") is first


def test_an_edited_file_is_imported_anew(tmp_path):
    """A session may outlive an edit of the suite's code."""
    write(tmp_path, "mredited.py", "NAME = 'before'\n")
    with suite_imports([str(tmp_path)]):
        assert importlib.import_module("mredited").NAME == "before"
    write(tmp_path, "mredited.py", "NAME = 'after it'\n")
    with suite_imports([str(tmp_path)]):
        assert importlib.import_module("mredited").NAME == "after it"


def test_search_path_and_finders_are_as_before(tmp_path):
    """Neither the path of the suite nor what its modules add to it stays."""
    write(tmp_path / "suite", "mradds.py", f"import sys\nsys.path.insert(0, {str(tmp_path / 'vendor')!r})\n")
    write(tmp_path / "vendor", "mrvendored.py", "NAME = 1\n")
    path, finders = list(sys.path), list(sys.meta_path)
    for _ in range(2):  # the module is imported once, but its path is needed again
        with suite_imports([str(tmp_path / "suite")]):
            importlib.import_module("mradds")
            assert importlib.import_module("mrvendored").NAME == 1
        assert sys.path == path
        assert sys.meta_path == finders
        assert "mrvendored" not in sys.modules


def test_everything_is_put_back_when_user_code_raises(tmp_path):
    """An error in the block leaves no trace either."""
    write(tmp_path, "mrraises.py", "")
    path = list(sys.path)

    def fail() -> None:
        with suite_imports([str(tmp_path)]):
            importlib.import_module("mrraises")
            raise RuntimeError("user")

    with pytest.raises(RuntimeError, match="user"):
        fail()
    assert sys.path == path
    assert "mrraises" not in sys.modules


def test_standard_library_names_are_never_hidden(tmp_path):
    """A suite folder with a types.py must not take the interpreter's away."""
    write(tmp_path, "types.py", "")
    import types

    with suite_imports([str(tmp_path)]):
        assert sys.modules["types"] is types


def test_a_folder_without_init_is_no_namesake(tmp_path, monkeypatch):
    """A folder of data named like a module of the tests clashes with nothing."""
    write(tmp_path / "tests", "mrfolder.py", "NAME = 'theirs'\n")
    write(tmp_path / "suite", "mrfolder/readme.txt", "")
    monkeypatch.syspath_prepend(str(tmp_path / "tests"))
    theirs = importlib.import_module("mrfolder")
    with suite_imports([str(tmp_path / "suite")]):
        assert importlib.import_module("mrfolder") is theirs


def test_a_copy_of_what_this_process_runs_on_is_refused_at_once(tmp_path):
    """numpy cannot be hidden from a process that computes with it."""
    file = write(tmp_path, "numpy/__init__.py", "")
    with pytest.raises(ImportReferenceError) as caught, suite_imports([str(tmp_path)]):
        pass
    assert str(file) in str(caught.value)


def test_a_checkout_of_this_package_in_the_path_is_passed_over(tmp_path):
    """Its own suite runs also where the package is installed from elsewhere."""
    import pytest_modelreg

    write(tmp_path, "pytest_modelreg/__init__.py", "")
    with suite_imports([str(tmp_path)]):
        assert importlib.import_module("pytest_modelreg") is pytest_modelreg


def test_the_first_folder_of_the_path_wins(tmp_path):
    """python_path is searched in its order, in front of everything."""
    write(tmp_path / "a", "mrorder.py", "NAME = 'a'\n")
    write(tmp_path / "b", "mrorder.py", "NAME = 'b'\n")
    with suite_imports([str(tmp_path / "b"), str(tmp_path / "a")]):
        assert importlib.import_module("mrorder").NAME == "b"


def import_from(folder: Path, name: str):
    """Import as a user's test does that has its own folder on the path for a while."""
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(folder))


def refusal_of(folder: Path, name: str) -> str:
    """Return what a suite is told that asks for a name which somebody else holds."""
    with suite_imports([str(folder)]), pytest.raises(ImportReferenceError) as caught:
        importlib.import_module(name)
    return str(caught.value)


def test_a_clash_after_the_suite_ran_is_refused_like_one_before(tmp_path):
    """Serially the module was kept, under xdist the other worker imports it first: one answer."""
    suite = tmp_path / "suite"
    write(suite, "mrorder2.py", "")
    write(tmp_path / "tests", "mrorder2.py", "")
    with suite_imports([str(suite)]):
        importlib.import_module("mrorder2")
    theirs = import_from(tmp_path / "tests", "mrorder2")
    kept = refusal_of(suite, "mrorder2")
    assert kept == refusal_of(suite, "mrorder2"), "the second time nothing is kept: it is a first import"
    assert str(tmp_path / "tests") in kept
    assert sys.modules["mrorder2"] is theirs


def test_a_clash_that_is_over_is_forgotten(tmp_path):
    """Just inside: when the other module is gone, the suite gets its own again."""
    write(tmp_path / "suite", "mrgone.py", "NAME = 'ours'\n")
    write(tmp_path / "tests", "mrgone.py", "NAME = 'theirs'\n")
    with suite_imports([str(tmp_path / "suite")]):
        importlib.import_module("mrgone")
    import_from(tmp_path / "tests", "mrgone")
    refusal_of(tmp_path / "suite", "mrgone")
    del sys.modules["mrgone"]
    with suite_imports([str(tmp_path / "suite")]):
        assert importlib.import_module("mrgone").NAME == "ours"


def test_the_same_file_imported_later_is_shared_like_one_before(tmp_path):
    """What was kept must not push out the module that the user's tests hold by now."""
    write(tmp_path, "mrlater.py", "")
    with suite_imports([str(tmp_path)]):
        importlib.import_module("mrlater")
    theirs = import_from(tmp_path, "mrlater")
    with suite_imports([str(tmp_path)]):
        assert importlib.import_module("mrlater") is theirs
    assert sys.modules["mrlater"] is theirs


def test_a_vendored_name_imported_later_is_not_replaced(tmp_path):
    """A folder that the suite's code adds to the path takes nothing away from others either."""
    write(tmp_path / "suite", "mradds2.py", f"import sys\nsys.path.insert(0, {str(tmp_path / 'vendor')!r})\n")
    write(tmp_path / "vendor", "mrvendored2.py", "")
    write(tmp_path / "tests", "mrvendored2.py", "")
    with suite_imports([str(tmp_path / "suite")]):
        importlib.import_module("mradds2")
        importlib.import_module("mrvendored2")
    theirs = import_from(tmp_path / "tests", "mrvendored2")
    with suite_imports([str(tmp_path / "suite")]):
        importlib.import_module("mradds2")
    assert sys.modules["mrvendored2"] is theirs
