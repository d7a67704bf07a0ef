"""The fixture ``modelreg``: values of a Python test held against their golden."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

EMBED = """
import numpy as np

SCALE = 1.0


def embed(n=4):
    return SCALE * np.arange(3 * n, dtype=np.float32).reshape(n, 3)
"""


class Modules:
    """A test module ``test_embed.py`` beside a module ``embedding.py``."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self.pytester = pytester
        self.path = pytester.path
        pytester.makepyfile(embedding=EMBED)
        pytester.syspathinsert()

    def write(self, body: str, name: str = "test_embed.py") -> None:
        """Write a test module."""
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"import pytest\nfrom embedding import embed\n\n{body}", encoding="utf-8")

    def scale(self, factor: float) -> None:
        """Change what the tests compute."""
        (self.path / "embedding.py").write_text(
            EMBED.replace("SCALE = 1.0", f"SCALE = np.float32({factor})"), encoding="utf-8"
        )

    def run(self, *arguments: str) -> pytest.RunResult:
        """Run in a process of its own: the tests import a module that changes between runs."""
        return self.pytester.runpytest_subprocess("--modelreg", "-p", "no:hypothesispytest", *arguments)

    def record(self) -> pytest.RunResult:
        """Record what is missing."""
        return self.run("--modelreg-regen=missing")

    def goldens(self) -> dict[str, bytes]:
        """Return every golden file with its bytes."""
        root = self.path / "golden"
        return {
            path.relative_to(root).as_posix(): path.read_bytes()
            for path in sorted(root.rglob("*"))
            if path.is_file()
        }

    def folders(self) -> list[str]:
        """Return the folders of all goldens."""
        return sorted(str(Path(name).parent) for name in self.goldens() if name.endswith("golden.json"))


@pytest.fixture
def tests(pytester: pytest.Pytester) -> Modules:
    """An empty test module's surroundings."""
    return Modules(pytester)


ONE = """
def test_embed(modelreg):
    modelreg.check(embed(), name="embed", sample_ids=["a", "b", "c", "d"], checks={"rel_l2": 1e-5})
"""


def test_missing_golden_fails_and_names_the_command(tests):
    """B1: nothing is green because nothing was compared."""
    tests.write(ONE)
    result = tests.run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["missing: *golden/py/test_embed/test_embed/embed*", "*test_embed.py::test_embed*regen missing"]
    )
    assert not (tests.path / "golden").exists()


def test_record_then_match_then_drift(tests):
    """B2, B3, B4: recorded apart, green while nothing changes, red and untouched when it does."""
    tests.write(ONE)
    tests.record().stdout.fnmatch_lines(["*1 recorded (regenerated, nothing compared)*"])
    assert tests.folders() == ["py/test_embed/test_embed/embed"]
    tests.run().assert_outcomes(passed=1)
    before = tests.goldens()
    tests.scale(1.2)
    result = tests.run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["drift: *rel_l2 0.2 > 1e-05*", "*if this change is intended: pytest --modelreg*"]
    )
    assert tests.goldens() == before


def test_printed_command_accepts_the_change(tests):
    """What the failure tells the user to type does what it says."""
    tests.write(ONE)
    tests.record()
    tests.scale(1.2)
    lines = tests.run().outlines
    (command,) = [line.split("intended: pytest ")[1] for line in lines if "intended: pytest" in line]
    import shlex

    assert tests.run(*shlex.split(command)[1:]).ret == 0
    tests.run().assert_outcomes(passed=1)


def test_several_checks_of_a_test_by_name(tests):
    """Each check has a golden and a record of its own."""
    tests.write(
        "def test_two(modelreg):\n    modelreg.check(embed(), name='a')\n"
        "    modelreg.check({'x': embed(2)}, name='b')\n"
    )
    tests.record()
    assert tests.folders() == ["py/test_embed/test_two/a", "py/test_embed/test_two/b"]
    tests.run("--modelreg-json=r.json")
    report = json.loads((tests.path / "r.json").read_text(encoding="utf-8"))
    assert [case["id"] for case in report["cases"]] == [
        "py[test_embed.py::test_two::a]",
        "py[test_embed.py::test_two::b]",
    ]
    assert {case["verdict"] for case in report["cases"]} == {"match"}
    assert report["run"]["partial"] is False


def test_parameters_classes_and_modules_have_goldens_of_their_own(tests):
    """B9: the same names elsewhere never share a golden."""
    body = (
        "@pytest.mark.parametrize('n', [1, 2])\n"
        "def test_embed(modelreg, n):\n    modelreg.check(embed(n))\n\n\n"
        "class TestA:\n    def test_embed(self, modelreg):\n        modelreg.check(embed(3))\n\n\n"
        "class TestB:\n    def test_embed(self, modelreg):\n        modelreg.check(embed(5))\n"
    )
    tests.write(body)
    tests.write(body, "sub/test_embed.py")
    assert tests.run("--modelreg-regen=missing", "--import-mode=importlib").ret == 0
    assert len(tests.folders()) == 8
    tests.run("--import-mode=importlib").assert_outcomes(passed=8)


@pytest.mark.parametrize("mode", [(), ("--modelreg-regen=missing",)])
def test_duplicate_name_is_an_error_that_says_so(tests, mode):
    """B8: two checks of one name would judge the one by the other's golden."""
    tests.write("def test_twice(modelreg):\n    modelreg.check(embed())\n    modelreg.check(embed(2))\n")
    if not mode:
        tests.write("def test_twice(modelreg):\n    modelreg.check(embed())\n")
        tests.record()
        tests.write("def test_twice(modelreg):\n    modelreg.check(embed())\n    modelreg.check(embed(2))\n")
    before = tests.goldens() if not mode else {}
    result = tests.run(*mode)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["error: check name 'output' was used twice in one test; *name=f\"step-{i}\""]
    )
    assert tests.goldens() == before if (tests.path / "golden").exists() else before == {}


def test_rerun_of_a_test_is_no_duplicate(tests):
    """rerunfailures runs a test twice; its last run counts."""
    tests.write(
        "RUNS = []\n\n\ndef test_flaky(modelreg):\n    RUNS.append(1)\n    modelreg.check(embed())\n"
        "    assert len(RUNS) == 2\n"
    )
    result = tests.run("--modelreg-regen=missing", "--reruns=1")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["*1 recorded*"])


@pytest.mark.parametrize("order", ["raise_first", "check_first"])
def test_failing_test_keeps_its_golden_while_regenerating(tests, order):
    """B10: behaviour seen in a test that fails is not accepted, wherever it failed."""
    tests.write(ONE)
    tests.record()
    before = tests.goldens()
    tests.scale(1.2)
    check, stop = "    modelreg.check(embed(), name='embed')\n", "    raise ValueError('no')\n"
    lines = stop + check if order == "raise_first" else check + stop
    tests.write(f"def test_embed(modelreg):\n{lines}")
    tests.run("--modelreg-regen=changed", "--modelreg-reason=x").assert_outcomes(failed=1)
    assert tests.goldens() == before


def test_test_that_checks_nothing_is_an_error(tests):
    """Asking for the fixture and not using it compares nothing."""
    tests.write("def test_idle(modelreg):\n    pass\n")
    result = tests.run()
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["error: *checks nothing*"])


def test_skipped_without_the_flag(tests):
    """G1: skipped with a reason, never passed."""
    tests.write(ONE)
    result = tests.pytester.runpytest_subprocess("-rs")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["*add --modelreg*"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("kind='classificaton'", "did you mean classification?"),
        ("checks={'rel_l': 1e-5}", "did you mean rel_l2?"),
        ("checks={'rel_l2': -1}", "expected at least 0"),
        ("kind='multilable'", "did you mean multilabel?"),
        ("sample_ids=['a']", "1 sample_ids for 4 rows of output 'output'"),
        ("kind='tensor', outputs={'output': {}}", "give them in outputs"),
        ("outputs={'logits': {}, 'x': {}}", "declared but not given*; the test gave output"),
    ],
)
def test_faulty_declaration_is_an_error_in_the_words_of_a_suite_file(tests, arguments, message):
    """A9: nothing that is misspelt is ever ignored."""
    tests.write(f"def test_bad(modelreg):\n    modelreg.check(embed(), {arguments})\n")
    result = tests.run("--modelreg-regen=missing")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([f"*{message}*"])
    assert not (tests.path / "golden").exists()


def test_labels_that_no_later_run_could_use_are_not_recorded(tests):
    """What is found out only when the golden is written is an error of the teardown."""
    tests.write(
        "def test_bad(modelreg):\n    modelreg.check(embed(), kind='classification', labels=['a', 'b'])\n"
    )
    result = tests.run("--modelreg-regen=missing")
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["error: *expected 3 names*"])
    assert not (tests.path / "golden").exists()


def test_classification_reads_as_words(tests):
    """Labels and sample ids of a test show in its failure as a suite's do."""
    body = (
        "def test_answer(modelreg):\n    modelreg.check(embed(), kind='classification',\n"
        "        labels=['cat', 'dog', 'owl'], sample_ids=list('abcd'))\n"
    )
    tests.write(body)
    tests.record()
    tests.scale(-1)
    tests.run().stdout.fnmatch_lines(["*top1_agreement*", "*owl 0.*cat 0.*top class flipped*"])


def test_marker_selects_tests_with_the_fixture(tests):
    """-m modelreg takes suites and tests alike."""
    tests.write(ONE + "\n\ndef test_other():\n    pass\n")
    tests.run("-m", "modelreg").assert_outcomes(failed=1, deselected=1)


def test_suite_and_tests_share_one_report(tests, project):
    """Cases of both kinds stand in one summary and one report."""
    project.pin()
    tests.write(ONE)
    tests.record()
    tests.run("--modelreg-json=r.json").assert_outcomes(passed=2)
    report = json.loads((tests.path / "r.json").read_text(encoding="utf-8"))
    ids: set[Any] = {case["id"] for case in report["cases"]}
    assert ids == {"toy[reference]", "py[test_embed.py::test_embed::embed]"}
    assert len({tuple(case) for case in report["cases"]}) == 1


def test_torch_tensors_on_any_path(tests):
    """Tensors that require grad, bfloat16 and nested outputs are recorded as they are."""
    tests.write(
        "import torch\n\n\ndef test_torch(modelreg):\n"
        "    x = torch.from_numpy(embed()).requires_grad_()\n"
        "    modelreg.check({'a': x, 'b': [x.to(torch.bfloat16), (x > 3)]})\n"
    )
    assert tests.record().ret == 0
    golden = json.loads(
        (tests.path / "golden/py/test_embed/test_torch/output/golden.json").read_text(encoding="utf-8")
    )
    assert {path: record["dtype"] for path, record in golden["outputs"].items()} == {
        "a": "float32",
        "b.0": "bfloat16",
        "b.1": "bool",
    }
    tests.run().assert_outcomes(passed=1)
