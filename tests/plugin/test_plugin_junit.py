"""Properties in ``--junitxml``: what CI systems show beside a test."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree

import pytest

CHECKS = """
import numpy as np

def test_embed(modelreg):
    modelreg.check(np.ones((2, 3), dtype=np.float32), name="embed")
    modelreg.check(np.zeros(2, dtype=np.float32), name="score")
"""


def properties(project, *arguments):
    """Properties of every test case by its name, without what xdist appends to it."""
    target = project.path / "junit.xml"
    project.pytester.runpytest_subprocess("--modelreg", f"--junitxml={target}", *arguments)
    return {
        case.get("name").partition("@")[0]: {
            found.get("name"): found.get("value") for found in case.iter("property")
        }
        for case in ElementTree.parse(target).iter("testcase")
    }


@pytest.mark.parametrize("workers", [("-n", "0"), ("-n", "2"), ("-n", "2", "--dist", "loadgroup")])
def test_case_has_verdict_cause_size_and_environment(recorded, workers):
    """H6: also where a worker ran the case."""
    recorded.edit("toymodel.py", "scale=1.0", "scale=1.2")
    (found,) = properties(recorded, "--modelreg-json=report.json", *workers).values()
    digest = json.loads((recorded.path / "report.json").read_text(encoding="utf-8"))["environment"]["digest"]
    assert list(found) == [f"modelreg.{name}" for name in ("verdict", "cause", "rel_l2", "environment")]
    assert found["modelreg.verdict"] == "drift"
    assert float(found["modelreg.rel_l2"]) == pytest.approx(0.2, rel=1e-5)
    assert found["modelreg.environment"] == digest


def test_match_has_them_too(recorded):
    """A trend needs the good days."""
    (found,) = properties(recorded, "-n", "2").values()
    assert found["modelreg.verdict"] == "match"
    assert float(found["modelreg.rel_l2"]) == 0.0


@pytest.mark.parametrize("workers", [("-n", "0"), ("-n", "2")])
def test_check_of_a_test_has_them_under_its_name(project, workers):
    """Several checks of one test do not hide each other."""
    (project.path / "modelreg.yaml").unlink()
    project.pytester.makepyfile(test_embed=CHECKS)
    project.pytest("--modelreg-regen=missing")
    found = properties(project, *workers)["test_embed"]
    assert found["modelreg.embed.verdict"] == found["modelreg.score.verdict"] == "match"
    assert found["modelreg.embed.environment"]


def test_case_that_could_not_run_has_no_numbers(recorded):
    """Empty text, and valid XML."""
    recorded.edit("toymodel.py", "def build", "def built")
    (found,) = properties(recorded, "-n", "2").values()
    assert found["modelreg.verdict"] == "error"
    assert found["modelreg.rel_l2"] == found["modelreg.environment"] == ""


def test_rerun_keeps_the_properties_of_each_run_apart(recorded):
    """A run that is repeated has one verdict a time."""
    recorded.edit("toymodel.py", "scale=1.0", "scale=1.2")
    properties(recorded, "--reruns=2")
    cases = list(ElementTree.parse(recorded.path / "junit.xml").iter("testcase"))
    names = [[found.get("name") for found in case.iter("property")] for case in cases]
    assert [found.count("modelreg.verdict") for found in names] == [1] * len(cases)
