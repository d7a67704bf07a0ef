"""The table of runtimes: built-in names, entry points, and what is wrong with one."""

from __future__ import annotations

from importlib.metadata import EntryPoint

import pytest

from pytest_modelreg.domain.errors import RuntimeUnavailable
from pytest_modelreg.domain.observation import RuntimeFinding
from pytest_modelreg.runtimes import (
    BUILTIN,
    RunRequest,
    find_runtime,
    list_builtin_options,
    list_runtime_names,
    table,
)


class Doubling:
    """A third party's runtime."""

    name = "doubling"

    def open(self, model, request):
        """Double what the model returns."""
        return lambda batch: 2 * model(batch)


FINDING = RuntimeFinding(subject="input x", what="dtype", expected="float32", actual="float16")
CLOSED: list[str] = []


class Telling:
    """A third party's runtime that knows today's port."""

    name = "telling"
    needs_model = False

    def open(self, model, request):
        """Open itself."""
        return self

    def facts(self):
        """Tell one."""
        return {"level": 3}

    def findings(self):
        """Tell one."""
        return [FINDING]

    def close(self):
        """Note it."""
        CLOSED.append(self.name)


NO_RUNTIME = object()


@pytest.fixture
def offer(monkeypatch):
    """Install entry points, without installing packages."""

    def install(*points: tuple[str, str]) -> None:
        offered = [EntryPoint(name, value, table.ENTRY_POINT_GROUP) for name, value in points]
        monkeypatch.setattr(table, "entry_points", lambda group: offered)

    return install


def test_eager_is_built_in():
    """It is found without looking at installed packages."""
    assert find_runtime("eager").name == "eager"


def test_a_third_party_runtime_is_found_by_entry_point(offer):
    """A class is instantiated; its open() is the port."""
    offer(("doubling", f"{__name__}:Doubling"))
    runner = find_runtime("doubling").open(lambda x: x + 1, RunRequest(case="c"))
    assert runner(1) == 4


def test_a_runtime_published_for_an_earlier_port_is_completed(offer):
    """It knew neither needs_model nor findings, facts or close."""
    offer(("doubling", f"{__name__}:Doubling"))
    runtime = find_runtime("doubling")
    runner = runtime.open(lambda x: x, RunRequest(case="c"))
    assert (runtime.name, runtime.needs_model) == ("doubling", True)
    assert (runner.facts(), runner.findings()) == ({"kind": "doubling"}, ())
    runner.close()


def test_what_a_published_runtime_says_is_kept(offer):
    """The defaults replace nothing."""
    offer(("telling", f"{__name__}:Telling"))
    runtime = find_runtime("telling")
    runner = runtime.open(None, RunRequest(case="c"))
    assert not runtime.needs_model
    assert runner.facts() == {"kind": "telling", "level": 3}
    assert runner.findings() == (FINDING,)
    runner.close()
    assert CLOSED == ["telling"]


def test_a_built_in_name_cannot_be_taken_over(offer):
    """Installing a package must not change what eager means."""
    offer(("eager", f"{__name__}:Doubling"))
    assert type(find_runtime("eager")).__module__ == "pytest_modelreg.runtimes.eager"


def test_an_unknown_name_lists_all_and_the_nearest(offer):
    """Installed ones included."""
    offer(("doubling", f"{__name__}:Doubling"))
    with pytest.raises(
        RuntimeUnavailable,
        match=r"one of eager, .*onnx-file, callable, doubling, got 'dubling' \(did you mean doubling\?\)",
    ):
        find_runtime("dubling")


def test_names_are_built_in_ones_first_each_once(offer):
    """What a suite file may say; installed ones by name."""
    offer(("tvm", "a:A"), ("doubling", "b:B"), ("eager", "c:C"), ("tvm", "d:D"))
    assert list_runtime_names() == (*BUILTIN, "doubling", "tvm")


@pytest.mark.parametrize("name", BUILTIN)
def test_a_built_in_runtime_refuses_what_it_does_not_list(name):
    """A suite file is held against the same list that opening a model is."""
    runtime = find_runtime(name)
    assert runtime.name == name
    assert runtime.needs_model == (name != "onnx-file")
    assert "no_such" not in list_builtin_options(name)
    with pytest.raises(RuntimeUnavailable, match="no_such"):
        runtime.open(lambda x: x, RunRequest(case="c", options={"no_such": 1}))


def test_two_packages_offering_one_name_are_refused(offer):
    """Which one would win must not depend on the order of folders."""
    offer(("doubling", f"{__name__}:Doubling"), ("doubling", "elsewhere:Doubling"))
    with pytest.raises(RuntimeUnavailable, match="uninstall all but one"):
        find_runtime("doubling")


@pytest.mark.parametrize(
    ("value", "said"),
    [("mr_not_there:Runtime", "ModuleNotFoundError"), (f"{__name__}:NO_RUNTIME", "with open")],
)
def test_a_broken_entry_point_names_itself(offer, value, said):
    """The third party's package is at fault, and named."""
    offer(("broken", value))
    with pytest.raises(RuntimeUnavailable, match=said) as caught:
        find_runtime("broken")
    assert value in str(caught.value)
