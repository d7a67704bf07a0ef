"""Checks of a suite: imported the way its model is."""

from __future__ import annotations

import sys

import pytest

from pytest_modelreg.domain.errors import ImportReferenceError
from pytest_modelreg.observe import suite_functions


@pytest.fixture
def suite(case_folder):
    """A suite folder with a module of checks that has a namesake-prone neighbour."""
    case_folder.write(
        "metrics.py",
        "import metric_parts\n\ndef f1_score(expected, actual, samples):\n    return metric_parts.VALUE\n",
    )
    case_folder.write("metric_parts.py", "VALUE = 0.5\n")
    return case_folder


def functions(suite, *references):
    """Import functions of the suite."""
    return suite_functions((str(suite.root),), references, case="toy[v]")


def test_functions_are_given_by_reference_and_can_be_called(suite):
    """While the block runs, what they import late is found in the suite's folders too."""
    suite.write("late.py", "def check(e, a, s):\n    import metric_parts\n    return metric_parts.VALUE\n")
    with functions(suite, "metrics:f1_score", "late:check") as found:
        assert found["metrics:f1_score"](None, None, None) == 0.5
        assert found["late:check"](None, None, None) == 0.5
    assert "metrics" not in sys.modules


def test_modules_are_those_of_the_cases(suite):
    """One module object for model and checks, and an edit is seen."""
    suite.write(
        "model.py",
        "import metric_parts\n\ndef build():\n    metric_parts.VALUE = 7\n    return lambda x: x\n",
    )
    suite.add_arrays([1.0])
    suite.observe()
    with functions(suite, "metrics:f1_score") as found:
        assert found["metrics:f1_score"](None, None, None) == 7
    suite.write("metric_parts.py", "VALUE = 0.25\n")
    with functions(suite, "metrics:f1_score") as found:
        assert found["metrics:f1_score"](None, None, None) == 0.25


def test_all_faults_are_told_at_once(suite):
    """Misspelt module, misspelt function, not callable."""
    with (
        pytest.raises(ImportReferenceError) as caught,
        functions(suite, "metric:f1", "metrics:f1_scor", "metric_parts:VALUE"),
    ):
        pass
    message = str(caught.value)
    assert message.count("toy[v]: checks") == 3
    assert "did you mean metrics" in message
    assert "did you mean f1_score" in message


def test_no_reference_costs_nothing(suite, monkeypatch):
    """Most suites have no checks of their own: their folders are not even listed."""
    monkeypatch.setattr("pytest_modelreg.observe.suite_checks.suite_imports", None)
    with functions(suite) as found:
        assert found == {}


def test_settings_of_an_import_reach_the_next_case(suite):
    """Imported first for a check, a module's default dtype must still hold for the model."""
    torch = pytest.importorskip("torch")
    suite.write(
        "metrics.py",
        "import torch\ntorch.set_default_dtype(torch.float64)\n\ndef f1_score(e, a, s):\n    return 0.0\n",
    )
    with functions(suite, "metrics:f1_score"):
        assert torch.get_default_dtype() == torch.float64
    assert torch.get_default_dtype() == torch.float32
    suite.write(
        "model.py", "import metrics, torch\n\ndef build():\n    return lambda x: torch.ones(len(x))\n"
    )
    suite.add_arrays([1.0])
    assert suite.observe().outputs["output"].dtype == "float64"


def test_warnings_of_an_import_are_not_raised(suite):
    """Under -W error a deprecation at import must not decide a verdict."""
    suite.write(
        "metrics.py", "import warnings\nwarnings.warn('old')\n\ndef f1_score(e, a, s):\n    return 0.0\n"
    )
    with functions(suite, "metrics:f1_score") as found:
        assert found["metrics:f1_score"](None, None, None) == 0.0
