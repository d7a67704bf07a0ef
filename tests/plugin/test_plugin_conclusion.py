"""From a test's setup to the end of its teardown: what is judged, recorded and carried."""

from __future__ import annotations

import pytest

FUNCTION = """
def test_it(modelreg):
    modelreg.check(embed())
"""

UNITTEST = """
import unittest


class TestIt(unittest.TestCase):
    @pytest.fixture(autouse=True)
    def take(self, modelreg):
        self.modelreg = modelreg

    def test_it(self):
        self.modelreg.check(embed())
"""

DOCTEST = '''
def documented():
    """
    >>> getfixture("modelreg").check(embed())
    """
'''

IN_SETUP = """
@pytest.fixture
def pinned(modelreg):
    modelreg.check(embed())


def test_it(pinned):
    pass
"""

IN_TEARDOWN = """
@pytest.fixture
def pinned(modelreg):
    yield
    modelreg.check(embed())


def test_it(pinned):
    pass
"""

KINDS = [
    pytest.param(FUNCTION, id="function"),
    pytest.param(UNITTEST, id="unittest"),
    pytest.param(DOCTEST, id="doctest"),
    pytest.param(IN_SETUP, id="setup"),
    pytest.param(IN_TEARDOWN, id="teardown"),
]


@pytest.mark.parametrize("body", KINDS)
def test_every_kind_of_test_and_every_phase_is_recorded_and_judged(module, body):
    """Record, match, drift: whoever collects the test and wherever it checks."""
    module.write(body)
    arguments = ("--doctest-modules",)
    module.record(*arguments).stdout.fnmatch_lines(["1 recorded*"])
    assert set(module.verdicts(*arguments).values()) == {"match"}
    module.scale(1.2)
    assert set(module.verdicts(*arguments).values()) == {"drift"}
    result = module.run(*arguments)
    assert result.ret == 1
    result.stdout.fnmatch_lines(["drift: *rel_l2 0.2 > 1e-05*", "*if this change is intended: pytest*"])
    result.stdout.no_fnmatch_line("*swallowed*")
    assert module.accept(*arguments).ret == 0
    assert set(module.verdicts(*arguments).values()) == {"match"}


def test_workers_record_and_judge_every_kind_of_test(module):
    """The same with workers: what a teardown brought reaches the report too."""
    for index, body in enumerate(kind.values[0] for kind in KINDS):
        module.write(body, f"test_{index}.py")
    arguments = ("--doctest-modules", "-n", "2")
    module.record(*arguments).stdout.fnmatch_lines(["5 recorded*"])
    module.scale(1.2)
    assert list(module.verdicts(*arguments).values()) == ["drift"] * 5


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("def test_it(modelreg):\n    pass\n", id="function"),
        pytest.param(UNITTEST.replace("self.modelreg.check(embed())", "pass"), id="unittest"),
        pytest.param(DOCTEST.replace(".check(embed())", " and None"), id="doctest"),
    ],
)
def test_checking_nothing_is_an_error_for_every_kind_of_test(module, body):
    """A test that asks for the fixture and never uses it compares nothing."""
    module.write(body)
    assert list(module.verdicts("--doctest-modules").values()) == ["error"]
    result = module.run("--doctest-modules")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["error: *checks nothing*"])


FAILING = {
    "assertion": "def test_it(modelreg):\n    modelreg.check(embed())\n    assert False\n",
    "finalizer": (
        "@pytest.fixture\ndef late():\n    yield\n    assert False\n\n\n"
        "def test_it(late, modelreg):\n    modelreg.check(embed())\n"
    ),
    "outer_finalizer": (
        "@pytest.fixture(scope='module')\ndef late():\n    yield\n    assert False\n\n\n"
        "def test_it(late, modelreg):\n    modelreg.check(embed())\n"
    ),
    "strict_xpass": "@pytest.mark.xfail(strict=True)\ndef test_it(modelreg):\n    modelreg.check(embed())\n",
    "unittest_subtest": UNITTEST.replace(
        "self.modelreg.check(embed())",
        "self.modelreg.check(embed())\n        with self.subTest():\n            assert False",
    ),
    "skipped": "def test_it(modelreg):\n    modelreg.check(embed())\n    pytest.skip('not here')\n",
    "expected": "@pytest.mark.xfail\ndef test_it(modelreg):\n    modelreg.check(embed())\n    assert False\n",
}
if hasattr(pytest, "Subtests"):
    FAILING["subtest"] = (
        "def test_it(modelreg, subtests):\n    modelreg.check(embed())\n"
        "    with subtests.test():\n        assert False\n"
    )


@pytest.mark.parametrize("how", FAILING)
def test_golden_is_kept_when_any_part_of_the_test_does_not_pass(module, how):
    """B10: behaviour seen in a test that does not pass is not accepted, whatever fails and when."""
    name = "TestIt::test_it" if how.startswith("unittest") else "test_it"
    module.write(UNITTEST if "::" in name else FUNCTION)
    module.record()
    before = module.goldens()
    module.scale(1.2)
    module.write(FAILING[how])
    module.accept()
    assert module.goldens() == before
    assert module.verdicts("--modelreg-regen=changed", "--modelreg-reason=x") == {
        f"test_m.py::{name}::output": "drift"
    }


def test_golden_of_a_rerun_that_passed_is_recorded(module):
    """rerunfailures: only the run that passed is recorded, teardown included."""
    module.write(
        "RUNS = []\n\n\n@pytest.fixture\ndef late():\n    yield\n    assert len(RUNS) == 2\n\n\n"
        "def test_it(late, modelreg):\n    RUNS.append(1)\n    modelreg.check(embed() * len(RUNS))\n"
    )
    module.record("--reruns=1").stdout.fnmatch_lines(["1 recorded*"])
    module.write("def test_it(modelreg):\n    modelreg.check(embed() * 2)\n")
    assert set(module.verdicts().values()) == {"match"}


def test_recording_that_fails_is_an_error_of_the_teardown(module):
    """The golden cannot be written: the test is red, and the record says why."""
    (module.path / "golden/py/test_m").mkdir(parents=True)
    module.write(FUNCTION + "    (HERE / 'golden/py/test_m/test_it').write_text('in the way')\n")
    result = module.run("--modelreg-regen=missing")
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*ERROR at teardown of test_it*", "1 error"])


def test_check_of_a_setup_keeps_its_own_record(module):
    """A drift in a fixture is that check's record, not one of a test that could not run."""
    module.write(IN_SETUP)
    module.record()
    module.scale(1.2)
    assert module.verdicts() == {"test_m.py::test_it::output": "drift"}
    module.run().assert_outcomes(errors=1)


SWALLOWED = {
    "call": (
        "def test_it(modelreg):\n    try:\n        modelreg.check(embed())\n"
        "    except Exception:\n        pass\n"
    ),
    "raises": "def test_it(modelreg):\n    with pytest.raises(Exception):\n        modelreg.check(embed())\n",
    "skip": (
        "def test_it(modelreg):\n    try:\n        modelreg.check(embed())\n"
        "    except Exception:\n        pytest.skip('later')\n"
    ),
    "setup": IN_SETUP.replace(
        "    modelreg.check(embed())",
        "    try:\n        modelreg.check(embed())\n    except Exception:\n        pass",
    ),
    "teardown": IN_TEARDOWN.replace(
        "    modelreg.check(embed())",
        "    try:\n        modelreg.check(embed())\n    except Exception:\n        pass",
    ),
}


@pytest.mark.parametrize(("how", "workers"), [*((how, ()) for how in SWALLOWED), ("call", ("-n", "2"))])
def test_swallowed_drift_fails_the_run(module, how, workers):
    """A green test must not hide that behaviour differs, in whichever phase it was caught."""
    module.write(FUNCTION)
    module.record()
    module.scale(1.2)
    module.write(SWALLOWED[how])
    result = module.run(*workers)
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        ["error: drift of py[[]test_m.py::test_it::output[]] was swallowed by its test*"]
    )


def test_expected_failure_swallows_nothing(module):
    """xfail says in so many words that the drift is known."""
    module.write(FUNCTION)
    module.record()
    module.scale(1.2)
    module.write("@pytest.mark.xfail" + FUNCTION)
    result = module.run()
    assert result.ret == 0
    result.stdout.no_fnmatch_line("*swallowed*")


FLAKY = (
    "RUNS = []\n\n\ndef test_it(modelreg):\n    RUNS.append(1)\n"
    "    modelreg.check(embed() * (1 if len(RUNS) == 2 else 2))\n"
)


@pytest.mark.parametrize("strict", [False, True])
def test_drift_before_a_rerun_is_told(module, strict):
    """What matches only at the second try is not the same each time; strict runs fail."""
    module.write(FUNCTION)
    module.record()
    module.write(FLAKY)
    result = module.run("--reruns=1", *(["--modelreg-strict"] if strict else []))
    assert result.ret == int(strict)
    kind = "error" if strict else "warning"
    result.stdout.fnmatch_lines(
        [
            "note: py[[]test_m.py::test_it::output[]]: it was drift before a rerun matched*",
            f"{kind}: py[[]test_m.py::test_it::output[]]: it was drift before a rerun matched*",
        ]
    )


def test_rerun_that_matches_leaves_nothing_of_the_drift(module):
    """The run folder holds what is not a match in the end."""
    module.write(FUNCTION)
    module.record()
    module.write(FLAKY)
    module.run("--reruns=1", "--modelreg-run-dir=out")
    assert not list((module.path / "out").rglob("*.npy"))


def test_drift_beside_another_fault_of_a_teardown_is_told(module):
    """pytest shows both as a group of exceptions; what drifted is below it in words."""
    other = "@pytest.fixture\ndef other():\n    yield\n    assert False\n\n\n"
    module.write(IN_TEARDOWN)
    module.record()
    module.scale(1.2)
    module.write(other + IN_TEARDOWN.replace("test_it(pinned)", "test_it(other, pinned)"))
    result = module.run()
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["drift: *rel_l2*", "*if this change is intended: pytest --modelreg*"])


TWICE = "def test_it(modelreg):\n    for i in range(3):\n        modelreg.check(embed() + i, name='step')\n"


def test_comparing_run_says_a_repeated_name_before_a_missing_golden(module):
    """Recording it, as a missing golden asks for, could never help."""
    module.write(TWICE)
    assert module.verdicts() == {"test_m.py::test_it::step": "error"}
    result = module.run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["error: check name 'step' was used twice in one test;*"])
    result.stdout.no_fnmatch_line("missing: *")


def test_names_that_differ_in_case_alone_are_told(module):
    """'used twice' would send its reader looking for the same word."""
    module.write("def test_it(modelreg):\n    for n in 'Aa':\n        modelreg.check(embed(), name=n)\n")
    module.run().stdout.fnmatch_lines(
        ["error: check names 'A' and 'a' of one test differ only in upper and*"]
    )


@pytest.mark.parametrize("workers", [(), ("-n", "1")])
def test_all_missing_goldens_of_a_test_are_told_at_once(module, workers):
    """The test goes on behind the first, fails where it ends, and has a record for each."""
    module.write("def test_it(modelreg):\n    for n in 'ab':\n        modelreg.check(embed(), name=n)\n")
    assert list(module.verdicts(*workers).values()) == ["missing", "missing"]
    result = module.run(*workers)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "missing: *golden/py/test_m/test_it/a*",
            "*missing too: py[[]test_m.py::test_it::b[]]",
            "*to record it*",
        ]
    )


def test_missing_golden_beside_a_fault_of_the_test_is_told(module):
    """The fault is the failure; that nothing was compared stands below it."""
    module.write("def test_it(modelreg):\n    modelreg.check(embed())\n    assert False\n")
    result = module.run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*assert False*", "missing: no golden at*"])


@pytest.mark.parametrize("workers", [(), ("-n", "1")])
@pytest.mark.parametrize("how", ["assertion", "finalizer", "skipped", "expected"])
def test_check_that_is_not_recorded_says_so(module, how, workers):
    """Whoever regenerates sees which goldens stay as they are, and why."""
    module.write(FAILING[how])
    result = module.run("--modelreg-regen=missing", *workers)
    result.stdout.fnmatch_lines(["not recorded: the test did not pass: py[[]test_m.py::test_it::output[]]"])
    assert not (module.path / "golden").exists()


@pytest.mark.parametrize("mode", [(), ("--modelreg-regen=missing",)])
def test_test_that_checks_and_then_skips_prints_no_command(module, mode):
    """No command would ever record it; what helps is said instead."""
    module.write(FAILING["skipped"])
    result = module.run("--modelreg-markdown=r.md", *mode)
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*skip before it*"])
    result.stdout.no_fnmatch_line("*to record it*")
    assert "regen" not in (module.path / "r.md").read_text(encoding="utf-8")


def test_expected_failure_is_apart_in_the_summary(module):
    """A pull request is not told to look at what is known."""
    module.write(FUNCTION)
    module.record()
    module.scale(1.2)
    module.write("@pytest.mark.xfail" + FUNCTION)
    module.run("--modelreg-markdown=r.md")
    text = (module.path / "r.md").read_text(encoding="utf-8")
    assert "## modelreg: nothing was compared; 1 expected to fail" in text
    assert "Expected to fail, as the tests say:" in text
    assert "If a change is intended" not in text
